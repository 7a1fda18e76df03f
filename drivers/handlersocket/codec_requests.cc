// The codec's requests: an operation's values are checked and written between the bytes that its
// plan has beforehand.
#include <charconv>
#include <cstring>

#include "core/base/check.h"
#include "drivers/handlersocket/handlersocket_codec.h"
#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::size_t kMaxIntegerBytes = 20;  // -9223372036854775808, 18446744073709551615

// REQUIRES: an integer, and kMaxIntegerBytes of space.
char* WriteInteger(const Value& value, char* to) {
  if (value.kind == Value::Kind::kInteger && value.integer < 0) [[unlikely]] {
    return std::to_chars(to, to + kMaxIntegerBytes, value.integer).ptr;
  }
  return std::to_chars(to, to + kMaxIntegerBytes, static_cast<std::uint64_t>(value.integer)).ptr;
}

}  // namespace

bool HandlerSocketCodec::Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) {
  CAVALRY_CHECK(state_ == ConnectionState::kReady);
  const std::uint32_t number = requests_.Find(*operation.plan);
  const PlanRequest& request = requests_.request(number);
  if (pending_.full() || bytes_in_flight_ >= kMaxBytesInFlight) [[unlikely]]
    return RefuseFull();
  const std::size_t before = out.size();
  bool appended;
  if (request.is_short) {
    appended = AppendShortKey(request, operation.key.first(), out) &&
               (request.values.empty() || AppendValues(request, operation.values, out));
  } else {
    appended = AppendLines(request, operation, out);
  }
  if (!appended) [[unlikely]] {
    out.Truncate(before);
    return false;
  }
  const std::size_t bytes = out.size() - before;
  bytes_in_flight_ += bytes;
  pending_.Push({.rows = operation.rows, .request = number, .ticket = ticket, .bytes = bytes});
  return true;
}

bool HandlerSocketCodec::AppendShortKey(const PlanRequest& request, const Value& key,
                                        ByteBuffer& out) {
  const ColumnRule& rule = request.keys.front();
  const ValueFault fault =
      key.kind == Value::Kind::kNull ? ValueFault::kNull : CheckInteger(rule, key);
  if (fault != ValueFault::kNone) [[unlikely]] {
    // A number written as a text is for the general form to look at, and so is NULL in an index.
    return AppendKey(request, {&key, 1}, out);
  }
  char* const begin = out.Reserve(kHeadBytes + kMaxIntegerBytes + kTailBytes);
  if (begin == nullptr) [[unlikely]]
    return RefuseFull();
  // Head and tail are copied with their padding: a fixed size costs one or two instructions.
  std::memcpy(begin, request.short_head.bytes.data(), kHeadBytes);
  char* const end = WriteInteger(key, begin + request.short_head.size);
  std::memcpy(end, request.short_tail.bytes.data(), kTailBytes);
  out.Commit(static_cast<std::size_t>(end - begin) + request.short_tail.size);
  return true;
}

bool HandlerSocketCodec::AppendLines(const PlanRequest& request, const Operation& operation,
                                     ByteBuffer& out) {
  const std::size_t parts = request.keys.size();
  const std::size_t width = request.values.size();
  const std::span<const Value> keys = operation.key.values();
  const std::span<const Value> values = request.values_are_keys ? keys : operation.values;
  CAVALRY_CHECK(parts == 0 || keys.size() == parts * request.lines);
  CAVALRY_CHECK(width == 0 || values.size() == width * request.lines);
  for (std::size_t line = 0; line < request.lines; ++line) {
    if (parts == 0) {
      out.Append(request.head);
    } else if (!AppendKey(request, keys.subspan(line * parts, parts), out)) {
      return false;
    }
    if (width != 0 && !AppendValues(request, values.subspan(line * width, width), out)) {
      return false;
    }
  }
  return !out.overflowed() || RefuseFull();
}

bool HandlerSocketCodec::AppendKey(const PlanRequest& request, std::span<const Value> parts,
                                   ByteBuffer& out) {
  out.Append(request.head);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out.Append(kTokenEnd);
    if (!AppendValue(request.keys[i], parts[i], out)) return false;
  }
  out.Append(request.tail);
  return !out.overflowed() || RefuseFull();
}

bool HandlerSocketCodec::AppendValues(const PlanRequest& request, std::span<const Value> values,
                                      ByteBuffer& out) {
  CAVALRY_CHECK(values.size() == request.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.Append(kTokenEnd);
    if (!AppendValue(request.values[i], values[i], out)) [[unlikely]]
      return false;
  }
  out.Append(kLineEnd);
  return !out.overflowed() || RefuseFull();
}

bool HandlerSocketCodec::AppendValue(const ColumnRule& rule, const Value& value, ByteBuffer& out) {
  bool needs_escape = false;
  const ValueFault fault = CheckValue(rule, value, needs_escape);
  if (fault != ValueFault::kNone) [[unlikely]]
    return RefuseValue(fault, rule, value);
  if (value.kind == Value::Kind::kText || value.kind == Value::Kind::kBinary) {
    return AppendToken(value.text, needs_escape, out) || RefuseFull();
  }
  char* const begin = out.Reserve(kMaxIntegerBytes);
  if (begin == nullptr) [[unlikely]]
    return RefuseFull();
  char* end = begin;
  if (value.kind == Value::Kind::kNull) {
    *end++ = kNullToken;
  } else {
    end = WriteInteger(value, begin);
  }
  out.Commit(static_cast<std::size_t>(end - begin));
  return true;
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

}  // namespace cavalry::drivers::handlersocket
