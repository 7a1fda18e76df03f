// Seeded random numbers as pure functions: the same (seed, stream, number) gives the same draws on
// every agent and machine. No state is shared; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace cavalry {

// SplitMix64's finalizer (Steele, Lea, Flood 2014): a bijection of 64 bits that mixes well.
inline std::uint64_t Mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// A stable 64-bit hash of a text (FNV-1a, mixed): names of streams, schema hashes.
std::uint64_t HashText(std::string_view text);

// A short stream of random numbers, fixed by (seed, stream, number). 16 bytes, cheap to make.
class RandomStream {
  __extension__ using Wide = unsigned __int128;

 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream, std::uint64_t number)
      : state_(Mix64(seed + 0x9e3779b97f4a7c15ULL) ^ Mix64(stream * 0x9e3779b97f4a7c15ULL + 1) ^
               Mix64(number + 0x632be59bd9b4e019ULL)) {}

  std::uint64_t Next() { return Mix64(state_ += 0x9e3779b97f4a7c15ULL); }

  // Uniform in [0, bound), without modulo bias worth measuring (multiply-shift). REQUIRES: bound >
  // 0.
  std::uint64_t Below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(Next()) * bound) >> 64);
  }

  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

// A bijection of [0, size) fixed by the seed (Feistel network with cycle walking): spreads hot
// keys. REQUIRES: value < size.
std::uint64_t Permute(std::uint64_t value, std::uint64_t size, std::uint64_t seed);

}  // namespace cavalry
