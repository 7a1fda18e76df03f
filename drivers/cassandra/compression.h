// The two compressions of the native protocol. Any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "drivers/core/byte_buffer.h"

namespace cavalry::drivers::cassandra {

// A raw LZ4 block, appended; how many bytes. 0: it could not be made.
std::size_t AppendLz4(std::string_view plain, ByteBuffer& out);
// Appends `plain_size` bytes. False: the block is damaged, or another size.
bool UnpackLz4(std::string_view packed, std::size_t plain_size, ByteBuffer& out);

std::size_t AppendSnappy(std::string_view plain, ByteBuffer& out);
// False: damaged, or longer than `most` bytes.
bool UnpackSnappy(std::string_view packed, std::size_t most, ByteBuffer& out);

}  // namespace cavalry::drivers::cassandra
