// The token of a partition key, as Murmur3Partitioner makes it. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "drivers/core/byte_buffer.h"

namespace cavalry::drivers::cassandra {

// The first 64 bits of MurmurHash3 x64-128 with seed 0 and Cassandra's own twist: a byte of the
// tail (what is left of the key after blocks of 16) is extended with its sign before it is shifted.
// The smallest number, which stands for "before every token", becomes the largest; the empty key's
// token is the smallest all the same.
std::int64_t Murmur3Token(std::string_view key);

// Appends one part of a partition key of several: its length in two bytes, its bytes, a zero byte.
// The key of a single part is the part's bytes as they are. False: the part is too long to be sent.
bool AppendKeyPart(std::string_view part, ByteBuffer& key);

}  // namespace cavalry::drivers::cassandra
