#include "core/base/random.h"

#include <bit>

#include "core/base/check.h"

namespace cavalry {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

}  // namespace

std::uint64_t HashText(std::string_view text) {
  // FNV-1a, 64 bits (RFC 9923), mixed because its high bits are weak for short texts.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return Mix64(hash);
}

std::uint64_t Permute(std::uint64_t value, std::uint64_t size, std::uint64_t seed) {
  CAVALRY_CHECK(value < size);
  if (size == 1) return 0;
  // An unbalanced Feistel network permutes exactly 2^bits numbers for even and odd `bits`, so at
  // least half of them are below `size` and a walk takes less than two turns on average. A walk
  // ends, since the cycle that starts below `size` comes back to its start.
  const int bits = static_cast<int>(std::bit_width(size - 1));
  const int high_bits = bits / 2;
  const int low_bits = bits - high_bits;
  const std::uint64_t high_mask = (std::uint64_t{1} << high_bits) - 1;
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
  const std::uint64_t key = Mix64(seed + kGolden);
  do {
    std::uint64_t high = value >> low_bits;
    std::uint64_t low = value & low_mask;
    high ^= Mix64(low + key) & high_mask;
    low ^= Mix64(high + key + kGolden) & low_mask;
    high ^= Mix64(low + key + 2 * kGolden) & high_mask;
    low ^= Mix64(high + key + 3 * kGolden) & low_mask;
    value = (high << low_bits) | low;
  } while (value >= size);
  return value;
}

}  // namespace cavalry
