// Whole numbers of any size in two's complement, as varint and decimal have them: native protocol,
// section 6. Up to kMaxDecimalDigits digits. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "drivers/core/byte_buffer.h"

namespace cavalry::drivers::cassandra {

inline constexpr std::size_t kMaxDecimalDigits = 65;

// Appends the shortest two's complement of the digits. REQUIRES: digits alone, at most
// kMaxDecimalDigits.
void AppendWhole(bool negative, std::string_view digits, ByteBuffer& out);

// Appends the number's digits with its sign, and a point before the last `scale` of them. False: it
// has more digits than kMaxDecimalDigits.
bool PrintWhole(std::string_view bytes, std::size_t scale, std::string* text);

}  // namespace cavalry::drivers::cassandra
