#include "drivers/memcached/item_value.h"

#include <charconv>

namespace cavalry::drivers::memcached {
namespace {

constexpr std::size_t kMaxDigits = 20;
constexpr int kBitsPerByte = 7;
constexpr std::uint8_t kMore = 0x80;

bool IsNumber(const Value& value) {
  return value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned;
}

char* WriteNumber(const Value& value, char* to) {
  if (value.kind == Value::Kind::kInteger) {
    return std::to_chars(to, to + kMaxDigits, value.integer).ptr;
  }
  return std::to_chars(to, to + kMaxDigits, static_cast<std::uint64_t>(value.integer)).ptr;
}

std::size_t LengthSize(std::size_t length) {
  std::size_t size = 1;
  while ((length >>= kBitsPerByte) != 0) ++size;
  return size;
}

void AppendLength(std::size_t length, ByteBuffer& out) {
  for (; length >= kMore; length >>= kBitsPerByte) {
    out.Append(static_cast<char>((length & (kMore - 1)) | kMore));
  }
  out.Append(static_cast<char>(length));
}

}  // namespace

std::size_t TextSize(const Value& value) {
  if (!IsNumber(value)) return value.text.size();
  char digits[kMaxDigits];
  return static_cast<std::size_t>(WriteNumber(value, digits) - digits);
}

void AppendText(const Value& value, ByteBuffer& out) {
  if (!IsNumber(value)) {
    out.Append(value.text);
    return;
  }
  char digits[kMaxDigits];
  out.Append({digits, static_cast<std::size_t>(WriteNumber(value, digits) - digits)});
}

std::size_t PackedSize(const Value& value) {
  if (value.kind == Value::Kind::kNull) return 1;
  const std::size_t size = TextSize(value);
  return LengthSize(size + 1) + size;
}

void AppendPacked(const Value& value, ByteBuffer& out) {
  if (value.kind == Value::Kind::kNull) {
    out.Append('\0');
    return;
  }
  AppendLength(TextSize(value) + 1, out);
  AppendText(value, out);
}

bool ReadPacked(std::string_view* bytes, Field* field) {
  std::size_t length = 0;
  int shift = 0;
  while (true) {
    // Four bytes hold more than an item can have.
    if (bytes->empty() || shift > 3 * kBitsPerByte) return false;
    const auto byte = static_cast<std::uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    length |= static_cast<std::size_t>(byte & (kMore - 1)) << shift;
    if ((byte & kMore) == 0) break;
    shift += kBitsPerByte;
  }
  field->is_null = length == 0;
  field->text = {};
  if (length == 0) return true;
  if (length - 1 > bytes->size()) return false;
  field->text = bytes->substr(0, length - 1);
  bytes->remove_prefix(length - 1);
  return true;
}

}  // namespace cavalry::drivers::memcached
