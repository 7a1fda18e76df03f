#include "drivers/core/byte_buffer.h"

#include <algorithm>

namespace cavalry::drivers {

bool ByteBuffer::Grow(std::size_t bytes) {
  const std::size_t used = size();
  if (bytes > kMaxBufferBytes || used > kMaxBufferBytes - bytes) {
    overflowed_ = true;
    return false;
  }
  // Moving pays only when at least half of the buffer has been consumed; else appending in front of
  // a slow reader would copy the same bytes again and again.
  if (used + bytes <= capacity_ && begin_ >= capacity_ / 2) {
    std::memmove(data_.get(), data_.get() + begin_, used);
  } else {
    const std::size_t capacity = std::max<std::size_t>({capacity_ * 2, used + bytes, 256});
    auto data = std::make_unique_for_overwrite<char[]>(capacity);
    if (used != 0) std::memcpy(data.get(), data_.get() + begin_, used);
    data_ = std::move(data);
    capacity_ = capacity;
  }
  begin_ = 0;
  end_ = used;
  return true;
}

}  // namespace cavalry::drivers
