// Numbers and strings of the native protocol (section 3): big-endian, lengths in front. Reading is
// bounded: beyond the end nothing is read, and ok() is false from then on. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drivers/core/byte_buffer.h"

namespace cavalry::drivers::cassandra {

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

  std::uint8_t Byte() { return static_cast<std::uint8_t>(Number(1)); }
  std::uint16_t Short() { return static_cast<std::uint16_t>(Number(2)); }
  std::int32_t Int() { return static_cast<std::int32_t>(Number(4)); }
  // [string], [short bytes]
  std::string_view String() { return Take(Short()); }
  // [bytes] and [value]: `is_null` for a negative length.
  std::string_view Bytes(bool* is_null) {
    const std::int32_t size = Int();
    *is_null = size < 0;
    return size < 0 ? std::string_view() : Take(static_cast<std::size_t>(size));
  }
  std::string_view Take(std::size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::uint64_t Number(std::size_t bytes) {
    std::uint64_t number = 0;
    for (const char c : Take(bytes)) number = number << 8 | static_cast<std::uint8_t>(c);
    return number;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// Writes the number's last `bytes` bytes, the most significant first.
inline void PutNumber(char* to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = bytes; i > 0; --i, number >>= 8)
    to[i - 1] = static_cast<char>(number & 0xff);
}

inline void AppendNumber(std::uint64_t number, std::size_t bytes, ByteBuffer& out) {
  if (char* const space = out.Reserve(bytes)) {
    PutNumber(space, number, bytes);
    out.Commit(bytes);
  }
}
// REQUIRES: less than 64 KiB.
inline void AppendString(std::string_view text, ByteBuffer& out) {
  AppendNumber(text.size(), 2, out);
  out.Append(text);
}
inline void AppendLongString(std::string_view text, ByteBuffer& out) {
  AppendNumber(text.size(), 4, out);
  out.Append(text);
}

}  // namespace cavalry::drivers::cassandra
