#include "drivers/cassandra/checksum.h"

#include <array>

#include <zlib.h>

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::uint32_t kCrc24Start = 0x875060;
constexpr std::uint32_t kCrc24Polynomial = 0x1974f0b;
constexpr std::uint32_t kCrc24Mask = 0xffffff;
constexpr std::array<unsigned char, 4> kCrc32Prefix = {0xfa, 0x2d, 0x55, 0xca};

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte << 16;
    for (int bit = 0; bit < 8; ++bit) {
      crc <<= 1;
      if ((crc & (kCrc24Mask + 1)) != 0) crc ^= kCrc24Polynomial;
    }
    table[byte] = crc & kCrc24Mask;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kCrc24Table = MakeTable();

}  // namespace

std::uint32_t Crc24(std::string_view header) {
  std::uint32_t crc = kCrc24Start;
  for (const char c : header) {
    const std::uint32_t byte = static_cast<std::uint8_t>(c);
    crc = ((crc << 8) & kCrc24Mask) ^ kCrc24Table[(crc >> 16) ^ byte];
  }
  return crc;
}

std::uint32_t Crc32(std::string_view payload) {
  static const uLong kStart = crc32(0, kCrc32Prefix.data(), kCrc32Prefix.size());
  return static_cast<std::uint32_t>(crc32(kStart, reinterpret_cast<const Bytef*>(payload.data()),
                                          static_cast<uInt>(payload.size())));
}

}  // namespace cavalry::drivers::cassandra
