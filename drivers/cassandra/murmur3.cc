#include "drivers/cassandra/murmur3.h"

#include <bit>
#include <cstring>
#include <limits>

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::uint64_t kFactor1 = 0x87c37b91114253d5;
constexpr std::uint64_t kFactor2 = 0x4cf5ad432745937f;
constexpr std::size_t kBlock = 16;

// Little-endian, as the hosts we run on are.
std::uint64_t Load(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

std::uint64_t MixFirst(std::uint64_t word) { return std::rotl(word * kFactor1, 31) * kFactor2; }
std::uint64_t MixSecond(std::uint64_t word) { return std::rotl(word * kFactor2, 33) * kFactor1; }

std::uint64_t Finish(std::uint64_t word) {
  word ^= word >> 33;
  word *= 0xff51afd7ed558ccd;
  word ^= word >> 33;
  word *= 0xc4ceb9fe1a85ec53;
  return word ^ word >> 33;
}

std::uint64_t SignExtended(char byte) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<signed char>(byte)});
}

}  // namespace

std::int64_t Murmur3Token(std::string_view key) {
  if (key.empty()) return std::numeric_limits<std::int64_t>::min();
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const std::size_t blocks = key.size() / kBlock;
  for (std::size_t i = 0; i < blocks; ++i) {
    first ^= MixFirst(Load(key.data() + i * kBlock));
    first = (std::rotl(first, 27) + second) * 5 + 0x52dce729;
    second ^= MixSecond(Load(key.data() + i * kBlock + 8));
    second = (std::rotl(second, 31) + first) * 5 + 0x38495ab5;
  }
  const std::string_view tail = key.substr(blocks * kBlock);
  std::uint64_t word1 = 0;
  std::uint64_t word2 = 0;
  for (std::size_t i = 0; i < tail.size(); ++i) {
    (i < 8 ? word1 : word2) ^= SignExtended(tail[i]) << (i % 8 * 8);
  }
  if (tail.size() > 8) second ^= MixSecond(word2);
  if (!tail.empty()) first ^= MixFirst(word1);
  first ^= key.size();
  second ^= key.size();
  first += second;
  second += first;
  const auto token = static_cast<std::int64_t>(Finish(first) + Finish(second));
  return token == std::numeric_limits<std::int64_t>::min()
             ? std::numeric_limits<std::int64_t>::max()
             : token;
}

bool AppendKeyPart(std::string_view part, ByteBuffer& key) {
  if (part.size() > 0xffff) return false;
  key.Append(static_cast<char>(part.size() >> 8));
  key.Append(static_cast<char>(part.size() & 0xff));
  key.Append(part);
  key.Append('\0');
  return true;
}

}  // namespace cavalry::drivers::cassandra
