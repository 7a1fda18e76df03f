#include "drivers/handlersocket/handlersocket_codec.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "core/base/check.h"
#include "drivers/handlersocket/server_errors.h"
#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::size_t kFirstCapacity = 4;
// More digits in a code or a number of columns are not HandlerSocket's.
constexpr std::ptrdiff_t kMaxHeadDigits = 9;

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

ConnectionState HandlerSocketCodec::Feed(std::string_view bytes, ByteBuffer& /*out*/,
                                         CompletionSink& sink) {
  while (!bytes.empty() && state_ != ConnectionState::kFailed) {
    const void* const found = std::memchr(bytes.data(), kLineEnd, bytes.size());
    const std::size_t taken =
        found == nullptr ? bytes.size()
                         : static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (partial_.size() + taken > kMaxLineBytes) [[unlikely]] {
      Break("an answer of more than 64 MiB (ask for fewer rows or columns)",
            partial_.empty() ? bytes : partial_.view());
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
  const PlanRequest& request = requests_.request(pending.request);
  OpResult result;
  result.bytes = line.size();
  if (answer.code != kCodeOk) [[unlikely]] {
    Reject(answer, request, result);
  } else if (request.answer == AnswerForm::kRows) {
    if (!TakeRows(line, answer, request, pending.rows, result)) return false;
  } else if (request.answer == AnswerForm::kCount) {
    if (!TakeCount(line, answer, result)) return false;
  } else {
    if (!TakeInserted(line, answer, result)) return false;
  }
  if (request.lines != 1 && !AddToBatch(request, result)) return true;
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

bool HandlerSocketCodec::TakeCount(std::string_view line, const Answer& answer, OpResult& result) {
  if (answer.columns != 1) [[unlikely]] {
    return Break("an answer with another number of columns", line);
  }
  const char* const end = answer.tokens.data() + answer.tokens.size();
  if (!answer.has_tokens || ReadNumber(answer.tokens.data(), end, result.rows) != end)
      [[unlikely]] {
    return Break("a malformed count of changed rows", line);
  }
  if (result.rows == 0) result.outcome = Outcome::kMiss;
  return true;
}

bool HandlerSocketCodec::TakeInserted(std::string_view line, const Answer& answer,
                                      OpResult& result) {
  // "0 1", or "0 1 <id>" when the table has an auto_increment column.
  if (answer.columns != 1) [[unlikely]] {
    return Break("an answer with another number of columns", line);
  }
  result.rows = 1;
  if (!answer.has_tokens) return true;
  const char* const end = answer.tokens.data() + answer.tokens.size();
  const auto [stop, failure] = std::from_chars(answer.tokens.data(), end, result.insert_id);
  if (stop != end || failure != std::errc()) [[unlikely]]
    return Break("a malformed id", line);
  return true;
}

bool HandlerSocketCodec::AddToBatch(const PlanRequest& request, OpResult& result) {
  if (batch_lines_ == 0) {
    batch_ = OpResult{};
    batch_.outcome = Outcome::kMiss;
  }
  batch_.rows += result.rows;
  batch_.bytes += result.bytes;
  batch_.outcome_unknown |= result.outcome_unknown;
  // As of a request of several rows in SQL, the first row's.
  if (batch_.insert_id == 0) batch_.insert_id = result.insert_id;
  if (result.outcome == Outcome::kRejected &&
      (batch_.outcome != Outcome::kRejected || result.severity > batch_.severity)) {
    batch_.outcome = Outcome::kRejected;
    batch_.severity = result.severity;
    batch_.retryable = result.retryable;
    batch_code_.assign(result.code);
    batch_text_.assign(result.text);
  } else if (result.outcome == Outcome::kOk && batch_.outcome == Outcome::kMiss) {
    batch_.outcome = Outcome::kOk;
  }
  if (++batch_lines_ != request.lines) return false;
  batch_lines_ = 0;
  result = batch_;
  if (result.outcome != Outcome::kRejected) return true;
  result.code = batch_code_;
  result.text = batch_text_;
  // Some of its rows are there, as far as the server told, and trying again would find them.
  if (IsWrite(request.kind) && result.rows != 0) {
    result.outcome_unknown = true;
    result.retryable = false;
  }
  return true;
}

}  // namespace cavalry::drivers::handlersocket
