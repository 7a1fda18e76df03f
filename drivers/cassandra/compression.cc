#include "drivers/cassandra/compression.h"

#include <lz4.h>
#include <snappy.h>

namespace cavalry::drivers::cassandra {

std::size_t AppendLz4(std::string_view plain, ByteBuffer& out) {
  const int bound = LZ4_compressBound(static_cast<int>(plain.size()));
  char* const space = out.Reserve(static_cast<std::size_t>(bound));
  if (space == nullptr) return 0;
  const int size = LZ4_compress_default(plain.data(), space, static_cast<int>(plain.size()), bound);
  if (size <= 0) return 0;
  out.Commit(static_cast<std::size_t>(size));
  return static_cast<std::size_t>(size);
}

bool UnpackLz4(std::string_view packed, std::size_t plain_size, ByteBuffer& out) {
  if (plain_size == 0) return true;
  char* const space = out.Reserve(plain_size);
  if (space == nullptr) return false;
  const int size = LZ4_decompress_safe(packed.data(), space, static_cast<int>(packed.size()),
                                       static_cast<int>(plain_size));
  if (size < 0 || static_cast<std::size_t>(size) != plain_size) return false;
  out.Commit(plain_size);
  return true;
}

std::size_t AppendSnappy(std::string_view plain, ByteBuffer& out) {
  char* const space = out.Reserve(snappy::MaxCompressedLength(plain.size()));
  if (space == nullptr) return 0;
  std::size_t size = 0;
  snappy::RawCompress(plain.data(), plain.size(), space, &size);
  out.Commit(size);
  return size;
}

bool UnpackSnappy(std::string_view packed, std::size_t most, ByteBuffer& out) {
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &size) || size > most) {
    return false;
  }
  if (size == 0) return true;
  char* const space = out.Reserve(size);
  if (space == nullptr || !snappy::RawUncompress(packed.data(), packed.size(), space)) return false;
  out.Commit(size);
  return true;
}

}  // namespace cavalry::drivers::cassandra
