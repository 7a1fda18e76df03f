// A growing byte buffer that keeps its capacity: bytes are appended at the end and consumed at the
// front. Bounded: Append beyond kMaxBufferBytes is refused by overflowed(). One thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace cavalry::drivers {

inline constexpr std::size_t kMaxBufferBytes = 256 * 1024 * 1024;

class ByteBuffer {
 public:
  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool overflowed() const { return overflowed_; }

  void Append(std::string_view bytes) {
    if (bytes.empty()) return;  // its data may be null, which memcpy must not be given
    if (char* space = Reserve(bytes.size())) {
      std::memcpy(space, bytes.data(), bytes.size());
      end_ += bytes.size();
    }
  }
  void Append(char byte) {
    if (char* space = Reserve(1)) {
      *space = byte;
      ++end_;
    }
  }
  // At least `bytes` of space at the end, to be filled and then Commit()ted; null beyond the bound.
  char* Reserve(std::size_t bytes) {
    if (capacity_ - end_ < bytes && !Grow(bytes)) return nullptr;
    return data_.get() + end_;
  }
  void Commit(std::size_t bytes) { end_ += bytes; }
  void Consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Drops bytes appended after the size was `size`.
  void Truncate(std::size_t size) { end_ = begin_ + size; }
  void Clear() {
    begin_ = end_ = 0;
    overflowed_ = false;
  }
  void Swap(ByteBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(overflowed_, other.overflowed_);
  }

 private:
  bool Grow(std::size_t bytes);  // moves the content to the front, then doubles

  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool overflowed_ = false;
};

}  // namespace cavalry::drivers
