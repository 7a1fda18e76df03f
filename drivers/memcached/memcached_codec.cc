#include "drivers/memcached/memcached_codec.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/memcached/item_value.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr std::size_t kMaxQuotedBytes = 60;

std::string Quote(std::string_view bytes) {
  std::string quoted(bytes.substr(0, kMaxQuotedBytes));
  for (char& c : quoted) c = c >= ' ' && c <= '~' ? c : '.';
  if (bytes.size() > kMaxQuotedBytes) quoted += "...";
  return quoted;
}

}  // namespace

ConnectionState MemcachedCodec::Start(ByteBuffer& /*out*/) {
  return state_ = ConnectionState::kReady;
}

bool MemcachedCodec::Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) {
  CAVALRY_CHECK(state_ == ConnectionState::kReady);
  const PlanRequest& request = requests_[operation.plan->index];
  // One is kept for the fence.
  if (pending_.size() + 1 >= kMaxInFlight) [[unlikely]] {
    return Refuse(kCodeQueueFull, "too much is in flight on one memcached connection");
  }
  const std::size_t before = out.size();
  if (!AppendRequest(request, operation, out)) [[unlikely]] {
    out.Truncate(before);
    return false;
  }
  if (out.overflowed()) [[unlikely]] {
    return Refuse(kCodeQueueFull, "too many bytes wait to be sent");
  }
  Pending pending;
  pending.request = &request;
  pending.operation = &operation;
  pending.ticket = ticket;
  pending.left = request.times;
  if (request.blind) {
    pending.phase = Pending::Phase::kBlind;
    fence_needed_ = true;
  } else {
    fence_needed_ = false;  // its answer tells as much
  }
  pending_.Push(pending);
  return true;
}

void MemcachedCodec::EndBatch(ByteBuffer& out) {
  if (!fence_needed_) return;
  fence_needed_ = false;
  AppendFence(out);
  Pending fence;
  fence.phase = Pending::Phase::kFence;
  pending_.Push(fence);
}

ConnectionState MemcachedCodec::Feed(std::string_view bytes, ByteBuffer& out,
                                     CompletionSink& sink) {
  const bool kept = !partial_.empty();
  if (kept) {
    partial_.Append(bytes);
    if (partial_.overflowed()) {
      Break("an answer that is too long", partial_.view());
      return state_;
    }
    bytes = partial_.view();
  }
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const std::size_t one = Take(bytes.substr(taken), out, sink);
    if (state_ == ConnectionState::kFailed) return state_;
    if (one == 0) break;
    taken += one;
  }
  if (kept) {
    partial_.Consume(taken);
  } else {
    partial_.Append(bytes.substr(taken));
  }
  return state_;
}

bool MemcachedCodec::Refuse(std::string_view code, std::string_view text) {
  text_ = text;
  error_ = OpResult{};
  error_.outcome = Outcome::kNotSent;
  error_.code = code;
  error_.text = text_;
  return false;
}

bool MemcachedCodec::RefuseValue(const PlanRequest& request, std::string_view why) {
  return Refuse(kCodeValue, fmt::format("{}: {}", request.plan->name, why));
}

bool MemcachedCodec::AppendKey(const PlanRequest& request, const Operation& operation,
                               std::size_t index, ByteBuffer& out) {
  std::span<const Value> values;
  Value parts[16];
  if (request.plan->kind == OperationKind::kInsert) {
    // Among the values of the row.
    const OperationPlan& plan = *request.plan;
    const std::vector<std::uint32_t>& key_columns = plan.table->key_columns;
    CAVALRY_CHECK(key_columns.size() <= std::size(parts));
    for (std::size_t i = 0; i < key_columns.size(); ++i) {
      const auto at = std::find(plan.columns.begin(), plan.columns.end(), key_columns[i]);
      parts[i] =
          operation
              .values[index * request.width + static_cast<std::size_t>(at - plan.columns.begin())];
    }
    values = {parts, key_columns.size()};
  } else {
    values = operation.key.values().subspan(index * request.key_columns, request.key_columns);
  }
  std::string_view why;
  return request.key->Append(values, out, &why) || RefuseValue(request, why);
}

bool MemcachedCodec::AppendWord(const PlanRequest& request, const Word& word,
                                const Operation& operation, ByteBuffer& out) {
  if (!word.parameter) {
    out.Append(word.literal);
    return true;
  }
  const Value& value = operation.values[*word.parameter];
  if (value.kind == Value::Kind::kNull) return RefuseValue(request, "NULL is no word of a command");
  AppendText(value, out);
  return true;
}

std::size_t MemcachedCodec::DataSize(const PlanRequest& request, const Operation& operation,
                                     std::size_t index) const {
  std::size_t size = 0;
  for (const std::optional<std::uint32_t>& source : request.sources) {
    const Value value = source ? operation.values[index * request.width + *source] : Value::Null();
    size += request.form == ValueForm::kPacked ? PackedSize(value) : TextSize(value);
  }
  return size;
}

void MemcachedCodec::AppendData(const PlanRequest& request, const Operation& operation,
                                std::size_t index, ByteBuffer& out) {
  for (const std::optional<std::uint32_t>& source : request.sources) {
    const Value value = source ? operation.values[index * request.width + *source] : Value::Null();
    if (request.form == ValueForm::kPacked) {
      AppendPacked(value, out);
    } else {
      AppendText(value, out);
    }
  }
}

bool MemcachedCodec::SkipBlind(CompletionSink& sink) {
  while (!pending_.empty() && pending_.front().phase == Pending::Phase::kBlind) {
    const Pending done = pending_.front();
    pending_.Pop();
    OpResult sent;
    sent.outcome = Outcome::kSent;
    sent.rows = done.request->times;
    sink.OnDone(done.ticket, sent);
  }
  return !pending_.empty();
}

void MemcachedCodec::Begin() {
  if (std::exchange(in_answer_, true)) return;
  result_ = OpResult{};
  result_.outcome = Outcome::kMiss;
}

void MemcachedCodec::TakeItem(std::string_view key, std::uint32_t flags, std::string_view data) {
  Begin();
  const Pending& front = pending_.front();
  const PlanRequest& request = *front.request;
  result_.bytes += data.size();
  if (request.key && flags != request.flags) {
    text_ = fmt::format("{}: item {} has flags {}: it is no row that cavalry wrote{}", label_,
                        Quote(key), flags,
                        flags == kPackedFlags || flags == kBytesFlags ? " with this 'value'" : "");
    result_.outcome = Outcome::kRejected;
    result_.code = kCodeFormat;
    result_.text = text_;
    return;
  }
  if (front.operation->rows != nullptr) {
    if (request.form == ValueForm::kPacked && request.key && !ShowPacked(request, data)) {
      text_ = fmt::format("{}: item {} is no packed row", label_, Quote(key));
      result_.outcome = Outcome::kRejected;
      result_.code = kCodeFormat;
      result_.text = text_;
      return;
    }
    ShowRow(request, key, data);
  }
  ++result_.rows;
  if (result_.outcome == Outcome::kMiss) result_.outcome = Outcome::kOk;
}

bool MemcachedCodec::ShowPacked(const PlanRequest& request, std::string_view data) {
  const std::size_t columns = request.plan->table->columns.size() - request.key_columns;
  if (packed_.size() < columns) packed_.resize(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    if (!ReadPacked(&data, &packed_[i])) return false;
  }
  return data.empty();
}

void MemcachedCodec::ShowRow(const PlanRequest& request, std::string_view key,
                             std::string_view data) {
  RowVisitor& rows = *pending_.front().operation->rows;
  if (!request.key) {
    const Field fields[] = {{.text = key}, {.text = data}};
    rows.OnRow(fields);
    return;
  }
  if (fields_.size() < request.shown.size()) fields_.resize(request.shown.size());
  std::string_view middle = request.key->Middle(key);
  for (std::size_t i = 0; i < request.shown.size(); ++i) {
    const PlanRequest::Shown& shown = request.shown[i];
    Field& field = fields_[i];
    if (!shown.of_key) {
      field = request.form == ValueForm::kPacked ? packed_[shown.position] : Field{.text = data};
      continue;
    }
    std::string_view rest = middle;
    for (std::uint32_t part = 0; part < shown.position; ++part) {
      rest.remove_prefix(std::min(rest.find(kKeySeparator) + 1, rest.size()));
    }
    const bool last = shown.position + 1 == request.key_columns;
    field = Field{.text = last ? rest : rest.substr(0, rest.find(kKeySeparator))};
  }
  rows.OnRow({fields_.data(), request.shown.size()});
}

void MemcachedCodec::TakeOutcome(Outcome outcome, std::string_view code, std::string_view text,
                                 bool unknown, Severity severity, CompletionSink& sink) {
  Begin();
  if (outcome == Outcome::kOk) {
    ++result_.rows;
    if (result_.outcome == Outcome::kMiss) result_.outcome = Outcome::kOk;
  } else if (outcome == Outcome::kRejected &&
             (result_.outcome != Outcome::kRejected || severity > result_.severity)) {
    result_.outcome = Outcome::kRejected;
    result_.severity = severity;
    code_ = code;
    text_ = text;
    result_.code = code_;
    result_.text = text_;
  }
  result_.outcome_unknown |= unknown;
  if (--pending_.front().left == 0) End(sink);
}

void MemcachedCodec::EndRows(CompletionSink& sink) {
  Begin();
  End(sink);
}

void MemcachedCodec::End(CompletionSink& sink) {
  const Pending done = pending_.front();
  pending_.Pop();
  in_answer_ = false;
  OpResult result = result_;
  // Some of a batch's rows are there.
  if (result.outcome == Outcome::kRejected && IsWrite(done.request->plan->kind) &&
      result.rows != 0) {
    result.outcome_unknown = true;
  }
  sink.OnDone(done.ticket, result);
}

std::size_t MemcachedCodec::Break(std::string_view what, std::string_view bytes) {
  text_ = fmt::format("{}: {}: \"{}\"", label_, what, Quote(bytes));
  error_ = OpResult{};
  error_.outcome = Outcome::kBroken;
  error_.severity = Severity::kReconnect;
  error_.outcome_unknown = true;
  error_.code = kCodeProtocol;
  error_.text = text_;
  state_ = ConnectionState::kFailed;
  return 0;
}

std::size_t MemcachedCodec::FailConnection(std::string_view code, std::string text,
                                           Severity severity) {
  code_ = code;
  text_ = std::move(text);
  error_ = OpResult{};
  error_.outcome = Outcome::kRejected;
  error_.severity = severity;
  error_.code = code_;
  error_.text = text_;
  state_ = ConnectionState::kFailed;
  return 0;
}

}  // namespace cavalry::drivers::memcached
