#include "drivers/cassandra/decimal.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cavalry::drivers::cassandra {
namespace {

// 65 digits take 216 bits.
constexpr std::size_t kMaxBytes = 28;
constexpr std::uint32_t kByteValues = 256;
constexpr std::uint32_t kBase = 10;

using Magnitude = std::array<std::uint8_t, kMaxBytes>;  // most significant byte first

void Negate(Magnitude* number) {
  std::uint32_t carry = 1;
  for (std::size_t i = number->size(); i > 0; --i) {
    std::uint8_t& byte = (*number)[i - 1];
    const std::uint32_t sum = static_cast<std::uint8_t>(~byte) + carry;
    byte = static_cast<std::uint8_t>(sum);
    carry = sum / kByteValues;
  }
}

}  // namespace

void AppendWhole(bool negative, std::string_view digits, ByteBuffer& out) {
  Magnitude number{};
  for (const char digit : digits) {
    std::uint32_t carry = static_cast<std::uint32_t>(digit - '0');
    for (std::size_t i = number.size(); i > 0; --i) {
      const std::uint32_t product = number[i - 1] * kBase + carry;
      number[i - 1] = static_cast<std::uint8_t>(product);
      carry = product / kByteValues;
    }
  }
  if (negative) Negate(&number);
  // Leading bytes that only repeat the sign are left out.
  const bool sign = (number.front() & 0x80) != 0;
  const std::uint8_t filler = sign ? 0xff : 0;
  std::size_t first = 0;
  while (first + 1 < number.size() && number[first] == filler &&
         ((number[first + 1] & 0x80) != 0) == sign) {
    ++first;
  }
  out.Append({reinterpret_cast<const char*>(number.data()) + first, number.size() - first});
}

bool PrintWhole(std::string_view bytes, std::size_t scale, std::string* text) {
  if (bytes.empty() || bytes.size() > kMaxBytes || scale > kMaxDecimalDigits) return false;
  const bool negative = (bytes.front() & 0x80) != 0;
  Magnitude number;
  number.fill(negative ? 0xff : 0);
  std::copy(bytes.begin(), bytes.end(), number.end() - static_cast<std::ptrdiff_t>(bytes.size()));
  if (negative) Negate(&number);
  std::array<char, kMaxDecimalDigits + 4> digits;
  std::size_t count = 0;
  do {
    std::uint32_t rest = 0;
    bool zero = true;
    for (std::uint8_t& byte : number) {
      const std::uint32_t value = rest * kByteValues + byte;
      byte = static_cast<std::uint8_t>(value / kBase);
      rest = value % kBase;
      zero = zero && byte == 0;
    }
    digits[count++] = static_cast<char>('0' + rest);
    if (zero && count > scale) break;
  } while (count < digits.size());
  if (count > kMaxDecimalDigits + 1) return false;
  if (negative) text->push_back('-');
  for (std::size_t i = count; i > 0; --i) {
    text->push_back(digits[i - 1]);
    if (i - 1 == scale && scale > 0) text->push_back('.');
  }
  return true;
}

}  // namespace cavalry::drivers::cassandra
