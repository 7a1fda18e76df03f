#include "drivers/handlersocket/tokens.h"

#include <bit>
#include <cstring>

namespace cavalry::drivers::handlersocket {
namespace {

// The first byte in memory must be the lowest of a word.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kEveryByte = 0x0101010101010101ULL;
constexpr std::uint64_t kHighBits = 0x80 * kEveryByte;
constexpr std::uint64_t kLowBits = 0x7f * kEveryByte;
constexpr std::uint64_t kUpperHalves = 0xf0 * kEveryByte;

std::uint64_t Load(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Bit 7 of each byte below kFirstPlainByte, that is, whose upper half is zero. Exact for each byte:
// no carry leaves one.
std::uint64_t MarkLowBytes(std::uint64_t word) {
  const std::uint64_t upper = word & kUpperHalves;
  return ~(((upper & kLowBits) + kLowBits) | upper) & kHighBits;
}

}  // namespace

ByteKinds FindByteKinds(std::string_view bytes) {
  std::uint64_t low = 0;
  std::uint64_t all = 0;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = Load(bytes.data() + i);
    low |= MarkLowBytes(word);
    all |= word;
  }
  for (; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    low |= byte < kFirstPlainByte ? 1 : 0;
    all |= byte;
  }
  return {.needs_escape = low != 0, .non_ascii = (all & kHighBits) != 0};
}

bool AppendToken(std::string_view value, ByteBuffer& out) {
  return AppendToken(value, FindByteKinds(value).needs_escape, out);
}

bool AppendToken(std::string_view value, bool needs_escape, ByteBuffer& out) {
  if (value.empty()) return true;
  // Every byte may need an escape of its own.
  char* const begin = out.Reserve(needs_escape ? value.size() * 2 : value.size());
  if (begin == nullptr) return false;
  if (!needs_escape) {
    std::memcpy(begin, value.data(), value.size());
    out.Commit(value.size());
    return true;
  }
  char* to = begin;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < kFirstPlainByte) {
      *to++ = kEscape;
      *to++ = static_cast<char>(byte + kEscapeShift);
    } else {
      *to++ = c;
    }
  }
  out.Commit(static_cast<std::size_t>(to - begin));
  return true;
}

std::size_t Unescape(std::string_view token, char* out) {
  char* to = out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    char c = token[i];
    if (c == kEscape && i + 1 < token.size()) {
      c = static_cast<char>(static_cast<unsigned char>(token[++i]) - kEscapeShift);
    }
    *to++ = c;
  }
  return static_cast<std::size_t>(to - out);
}

inline bool TokenReader::LoadWord() {
  const auto left = static_cast<std::size_t>(end_ - word_);
  marked_ = word_;
  if (left >= kWordBytes) [[likely]] {
    marks_ = MarkLowBytes(Load(word_));
    word_ += kWordBytes;
    return true;
  }
  if (left == 0) return false;
  // Bytes beyond the end are taken for 0xff, which marks nothing.
  std::uint64_t word = ~std::uint64_t{0};
  if (static_cast<std::size_t>(end_ - begin_) >= kWordBytes) {
    // The last whole word, less what was seen of it already.
    word = (word << (left * 8)) | (Load(end_ - kWordBytes) >> ((kWordBytes - left) * 8));
  } else {
    std::memcpy(&word, word_, left);
  }
  marks_ = MarkLowBytes(word);
  word_ = end_;
  return true;
}

TokenReader::Result TokenReader::Next(Token& token) {
  if (!more_) return Result::kEnd;
  token.is_null = false;
  token.escaped = false;
  while (true) {
    while (marks_ == 0) {
      if (!LoadWord()) {
        token.text = {token_, static_cast<std::size_t>(end_ - token_)};
        more_ = false;
        return Result::kToken;
      }
    }
    const char* const at = marked_ + std::countr_zero(marks_) / 8;
    marks_ &= marks_ - 1;
    const bool last = at + 1 == end_;
    if (*at == kTokenEnd) {
      token.text = {token_, static_cast<std::size_t>(at - token_)};
      token_ = at + 1;
      return Result::kToken;
    }
    if (*at == kEscape) {
      // The second byte, at or above kEscapeShift, is never marked itself.
      if (last || static_cast<unsigned char>(at[1]) < kEscapeShift) return Result::kMalformed;
      token.escaped = true;
    } else if (*at == kNullToken && at == token_ && (last || at[1] == kTokenEnd)) {
      token.is_null = true;
    } else {
      return Result::kMalformed;
    }
  }
}

}  // namespace cavalry::drivers::handlersocket
