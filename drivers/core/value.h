// One column value on its way to a server, and one on its way back. Plain views; whoever makes them
// owns the bytes until the operation is done.
#pragma once

#include <cstdint>
#include <string_view>

namespace cavalry::drivers {

// A value to send. `text` holds decimals, dates and texts (already in the column's character set,
// utf8mb4) and binary bytes.
struct Value {
  enum class Kind : std::uint8_t { kNull, kInteger, kUnsigned, kText, kBinary };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;  // kInteger; kUnsigned: its bits
  std::string_view text;     // kText, kBinary

  static Value Null() { return {}; }
  static Value Integer(std::int64_t value) { return {Kind::kInteger, value, {}}; }
  static Value Unsigned(std::uint64_t value) {
    return {Kind::kUnsigned, static_cast<std::int64_t>(value), {}};
  }
  static Value Text(std::string_view value) { return {Kind::kText, 0, value}; }
  static Value Binary(std::string_view value) { return {Kind::kBinary, 0, value}; }
};

// A value received, as SQL prints it (integers decimal, decimals with their full scale).
struct Field {
  bool is_null = false;
  std::string_view text;
};

}  // namespace cavalry::drivers
