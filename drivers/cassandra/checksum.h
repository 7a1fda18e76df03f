// Checksums of protocol v5's segments: native_protocol_v5.spec, section 2.2. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace cavalry::drivers::cassandra {

// Of a header's 3 or 5 bytes, in wire order.
std::uint32_t Crc24(std::string_view header);
// Of a payload: zlib's, begun with four bytes of the protocol's own.
std::uint32_t Crc32(std::string_view payload);

}  // namespace cavalry::drivers::cassandra
