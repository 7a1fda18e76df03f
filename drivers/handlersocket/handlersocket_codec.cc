#include "drivers/handlersocket/handlersocket_codec.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/base/check.h"
#include "drivers/handlersocket/server_errors.h"
#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::size_t kFirstCapacity = 4;
constexpr std::size_t kMaxIntegerBytes = 20;  // -9223372036854775808, 18446744073709551615
// More digits in a code or a number of columns are not HandlerSocket's.
constexpr std::ptrdiff_t kMaxHeadDigits = 9;

// REQUIRES: an integer, and kMaxIntegerBytes of space.
char* WriteInteger(const Value& value, char* to) {
  if (value.kind == Value::Kind::kInteger && value.integer < 0) [[unlikely]] {
    return std::to_chars(to, to + kMaxIntegerBytes, value.integer).ptr;
  }
  return std::to_chars(to, to + kMaxIntegerBytes, static_cast<std::uint64_t>(value.integer)).ptr;
}

// Reads decimal digits, at least one; null when there is none or too many.
inline const char* ReadNumber(const char* at, const char* end, std::uint32_t& number) {
  const char* const stop = end - at > kMaxHeadDigits ? at + kMaxHeadDigits : end;
  const char* const begin = at;
  std::uint32_t value = 0;
  for (; at != stop && static_cast<unsigned char>(*at - '0') < 10; ++at) {
    value = value * 10 + static_cast<std::uint32_t>(*at - '0');
  }
  number = value;
  return at == begin ? nullptr : at;
}

}  // namespace

void PendingQueue::Grow() {
  const std::size_t capacity = std::max(kFirstCapacity, capacity_ * 2);
  auto ring = std::make_unique<Pending[]>(capacity);
  for (std::size_t i = 0; i < size_; ++i) ring[i] = ring_[(first_ + i) & (capacity_ - 1)];
  ring_ = std::move(ring);
  capacity_ = capacity;
  first_ = 0;
}

ConnectionState HandlerSocketCodec::Start(ByteBuffer& out) {
  CAVALRY_CHECK(state_ == ConnectionState::kHandshake && handshake_answers_ == 0);
  out.Append(requests_.handshake());
  if (requests_.handshake_answers() == 0) state_ = ConnectionState::kReady;
  return state_;
}

bool HandlerSocketCodec::Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) {
  CAVALRY_CHECK(state_ == ConnectionState::kReady);
  const PlanRequest& request = requests_.Find(*operation.plan);
  if (pending_.full() || bytes_in_flight_ >= kMaxBytesInFlight) [[unlikely]]
    return RefuseFull();
  const std::size_t before = out.size();
  bool appended;
  if (request.kind == OperationKind::kRead || request.kind == OperationKind::kDelete) {
    appended = AppendKeyed(request, operation.key.first(), out);
  } else if (request.kind == OperationKind::kUpdate) {
    appended =
        AppendKeyed(request, operation.key.first(), out) && AppendValues(request, operation.values, out);
  } else {
    out.Append(request.head.view());
    appended = AppendValues(request, operation.values, out);
  }
  if (!appended) [[unlikely]] {
    out.Truncate(before);
    return false;
  }
  const std::size_t bytes = out.size() - before;
  bytes_in_flight_ += bytes;
  pending_.Push(
      {.rows = operation.rows, .index_id = request.index_id, .ticket = ticket, .bytes = bytes});
  return true;
}

bool HandlerSocketCodec::AppendKeyed(const PlanRequest& request, const Value& key,
                                     ByteBuffer& out) {
  const ValueFault fault =
      key.kind == Value::Kind::kNull ? ValueFault::kNull : CheckInteger(request.key, key);
  if (fault != ValueFault::kNone) [[unlikely]]
    return RefuseValue(fault, request.key, key);
  char* const begin = out.Reserve(kHeadBytes + kMaxIntegerBytes + kTailBytes);
  if (begin == nullptr) [[unlikely]]
    return RefuseFull();
  // Head and tail are copied with their padding: a fixed size costs one or two instructions.
  std::memcpy(begin, request.head.bytes.data(), kHeadBytes);
  char* const end = WriteInteger(key, begin + request.head.size);
  std::memcpy(end, request.tail.bytes.data(), kTailBytes);
  out.Commit(static_cast<std::size_t>(end - begin) + request.tail.size);
  return true;
}

bool HandlerSocketCodec::AppendValues(const PlanRequest& request, std::span<const Value> values,
                                      ByteBuffer& out) {
  CAVALRY_CHECK(values.size() == request.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    bool needs_escape = false;
    const ValueFault fault = CheckValue(request.values[i], value, needs_escape);
    if (fault != ValueFault::kNone) [[unlikely]] {
      return RefuseValue(fault, request.values[i], value);
    }
    char* const begin = out.Reserve(1 + kMaxIntegerBytes);
    if (begin == nullptr) [[unlikely]]
      return RefuseFull();
    char* to = begin;
    *to++ = kTokenEnd;
    bool is_text = false;
    switch (value.kind) {
      case Value::Kind::kNull:
        *to++ = kNullToken;
        break;
      case Value::Kind::kInteger:
      case Value::Kind::kUnsigned:
        to = WriteInteger(value, to);
        break;
      case Value::Kind::kText:
      case Value::Kind::kBinary:
        is_text = true;
        break;
    }
    out.Commit(static_cast<std::size_t>(to - begin));
    if (is_text && !AppendToken(value.text, needs_escape, out)) [[unlikely]]
      return RefuseFull();
  }
  out.Append(kLineEnd);
  return !out.overflowed();
}

bool HandlerSocketCodec::RefuseValue(ValueFault fault, const ColumnRule& rule, const Value& value) {
  text_ = DescribeFault(fault, rule, value);
  error_ = {.outcome = Outcome::kNotSent, .code = kCodeValue, .text = text_};
  return false;
}

bool HandlerSocketCodec::RefuseFull() {
  error_ = {.outcome = Outcome::kNotSent,
            .code = kCodeQueueFull,
            .text = "too much is in flight on one HandlerSocket connection"};
  return false;
}

ConnectionState HandlerSocketCodec::Feed(std::string_view bytes, ByteBuffer& /*out*/,
                                         CompletionSink& sink) {
  while (!bytes.empty() && state_ != ConnectionState::kFailed) {
    const void* const found = std::memchr(bytes.data(), kLineEnd, bytes.size());
    const std::size_t taken =
        found == nullptr ? bytes.size()
                         : static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (partial_.size() + taken > kMaxLineBytes) [[unlikely]] {
      Break("an answer longer than the bound", partial_.empty() ? bytes : partial_.view());
      break;
    }
    if (found == nullptr) {
      partial_.Append(bytes);
      break;
    }
    if (partial_.empty()) [[likely]] {
      TakeLine(bytes.substr(0, taken), sink);
    } else {
      partial_.Append(bytes.substr(0, taken));
      TakeLine(partial_.view(), sink);
      partial_.Clear();
    }
    bytes.remove_prefix(taken + 1);
  }
  return state_;
}

bool HandlerSocketCodec::ParseAnswer(std::string_view line, Answer& answer) {
  const char* const end = line.data() + line.size();
  // Nearly all answers: "0" and fewer than ten columns.
  if (line.size() > 3 && line[0] == '0' && line[1] == kTokenEnd && line[2] >= '0' &&
      line[2] <= '9' && line[3] == kTokenEnd) [[likely]] {
    answer.columns = static_cast<std::uint32_t>(line[2] - '0');
    answer.has_tokens = true;
    answer.tokens = line.substr(4);
    return true;
  }
  const char* at = ReadNumber(line.data(), end, answer.code);
  if (at == nullptr || at == end || *at != kTokenEnd) return false;
  at = ReadNumber(at + 1, end, answer.columns);
  if (at == nullptr) return false;
  answer.has_tokens = at != end;
  if (!answer.has_tokens) return true;
  if (*at != kTokenEnd) return false;
  answer.tokens = {at + 1, static_cast<std::size_t>(end - at - 1)};
  return true;
}

bool HandlerSocketCodec::TakeLine(std::string_view line, CompletionSink& sink) {
  // A CR there can only belong to the line's end: in a value it would be escaped.
  if (!line.empty() && line.back() == '\r') [[unlikely]]
    line.remove_suffix(1);
  Answer answer;
  if (!ParseAnswer(line, answer)) [[unlikely]]
    return Break("an answer without code", line);
  if (state_ == ConnectionState::kHandshake) [[unlikely]]
    return TakeHandshakeAnswer(line, answer);
  if (pending_.size() == 0) [[unlikely]]
    return Break("an answer that nobody asked for", line);

  const Pending pending = pending_.front();
  const PlanRequest& request = requests_.opened(pending.index_id);
  OpResult result;
  result.bytes = line.size();
  if (answer.code != kCodeOk) [[unlikely]] {
    Reject(answer, request, result);
  } else if (request.kind == OperationKind::kRead) {
    if (!TakeRows(line, answer, request, pending.rows, result)) return false;
  } else {
    if (!TakeChange(line, answer, request.kind, result)) return false;
  }
  // Before the sink is told: it may encode the next request at once.
  pending_.Pop();
  bytes_in_flight_ -= pending.bytes;
  sink.OnDone(pending.ticket, result);
  return true;
}

bool HandlerSocketCodec::TakeRows(std::string_view line, const Answer& answer,
                                  const PlanRequest& request, RowVisitor* rows, OpResult& result) {
  if (answer.columns != request.columns) [[unlikely]] {
    return Break("an answer with another number of columns", line);
  }
  if (!answer.has_tokens) {
    result.outcome = Outcome::kMiss;
    return true;
  }
  if (rows != nullptr) return VisitRows(line, answer, *rows, result);
  std::size_t tokens = 0;
  if (!CountTokens(answer, tokens) || tokens % answer.columns != 0) [[unlikely]] {
    return Break("a malformed row", line);
  }
  result.rows = static_cast<std::uint32_t>(tokens / answer.columns);
  return true;
}

bool HandlerSocketCodec::VisitRows(std::string_view line, const Answer& answer, RowVisitor& rows,
                                   OpResult& result) {
  if (fields_.size() < answer.columns) fields_.resize(answer.columns);
  // All values of the line fit where none has to move: views of them are handed on.
  unescaped_.Clear();
  bool reserved = false;
  TokenReader reader(answer.tokens);
  Token token;
  std::size_t column = 0;
  TokenReader::Result next;
  while ((next = reader.Next(token)) == TokenReader::Result::kToken) {
    Field& field = fields_[column];
    field.is_null = token.is_null;
    field.text = token.text;
    if (token.is_null) {
      field.text = {};
    } else if (token.escaped) {
      if (!reserved) reserved = unescaped_.Reserve(answer.tokens.size()) != nullptr;
      char* const to = unescaped_.Reserve(token.text.size());
      const std::size_t size = Unescape(token.text, to);
      unescaped_.Commit(size);
      field.text = {to, size};
    }
    if (++column == answer.columns) {
      column = 0;
      ++result.rows;
      rows.OnRow({fields_.data(), answer.columns});
    }
  }
  if (next == TokenReader::Result::kMalformed || column != 0) [[unlikely]] {
    return Break("a malformed row", line);
  }
  return true;
}

bool HandlerSocketCodec::CountTokens(const Answer& answer, std::size_t& count) const {
  TokenReader reader(answer.tokens);
  Token token;
  TokenReader::Result next;
  while ((next = reader.Next(token)) == TokenReader::Result::kToken) ++count;
  return next == TokenReader::Result::kEnd;
}

bool HandlerSocketCodec::TakeChange(std::string_view line, const Answer& answer, OperationKind kind,
                                    OpResult& result) {
  // An insert is answered "0 1", or "0 1 <id>" when the table has an auto_increment column; an
  // update or delete "0 1 <changed rows>".
  if (answer.columns != 1) [[unlikely]] {
    return Break("an answer with another number of columns", line);
  }
  std::size_t digits = 0;
  while (digits < answer.tokens.size() && answer.tokens[digits] >= '0' &&
         answer.tokens[digits] <= '9') {
    ++digits;
  }
  const bool is_number = digits != 0 && digits == answer.tokens.size();
  if (kind == OperationKind::kInsert) {
    if (answer.has_tokens && !is_number) [[unlikely]]
      return Break("a malformed id", line);
    result.rows = 1;
    return true;
  }
  const char* const end = answer.tokens.data() + digits;
  if (!is_number || ReadNumber(answer.tokens.data(), end, result.rows) != end) [[unlikely]] {
    return Break("a malformed count of changed rows", line);
  }
  if (result.rows == 0) result.outcome = Outcome::kMiss;
  return true;
}

}  // namespace cavalry::drivers::handlersocket
