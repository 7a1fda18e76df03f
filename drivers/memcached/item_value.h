// What items hold. Packed: for each column but the key's, in the table's order, the length of its
// text plus one as a base-128 number (least significant part first, as in Protocol Buffers; 0:
// NULL) and the text, as SQL prints it. Bytes: the only column beside the key, as it is. The item's
// flags tell which, so that an item of somebody else is not taken for a row. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "drivers/core/byte_buffer.h"
#include "drivers/core/value.h"

namespace cavalry::drivers::memcached {

inline constexpr std::uint32_t kPackedFlags = 0x63'61'76'31;  // "cav1"
inline constexpr std::uint32_t kBytesFlags = 0;
// With key, header and flags an item has to stay below item_size_max, 1 MiB by default.
inline constexpr std::size_t kMaxValueBytes = std::size_t{128} * 1024 * 1024;

// Bytes that a value takes as text.
std::size_t TextSize(const Value& value);
void AppendText(const Value& value, ByteBuffer& out);

// Bytes that a packed column takes.
std::size_t PackedSize(const Value& value);
void AppendPacked(const Value& value, ByteBuffer& out);

// Reads one packed column off the front of `bytes`. False: malformed.
bool ReadPacked(std::string_view* bytes, Field* field);

}  // namespace cavalry::drivers::memcached
