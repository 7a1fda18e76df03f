// First in, first out, in one ring that doubles up to a bound, so that ten thousand idle
// connections cost little. Allocates only while it grows. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace cavalry::drivers {

template <typename T, std::size_t kMax>
class RingQueue {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == kMax; }
  // REQUIRES: not full().
  void Push(const T& entry) {
    if (size_ == capacity_) Grow();
    ring_[(first_ + size_++) & (capacity_ - 1)] = entry;
  }
  // REQUIRES: not empty.
  T& front() { return ring_[first_]; }
  const T& front() const { return ring_[first_]; }
  void Pop() {
    first_ = (first_ + 1) & (capacity_ - 1);
    --size_;
  }

 private:
  static constexpr std::size_t kFirstCapacity = 4;
  static_assert((kMax & (kMax - 1)) == 0, "a power of two");

  void Grow() {
    const std::size_t capacity = std::max(kFirstCapacity, capacity_ * 2);
    auto ring = std::make_unique<T[]>(capacity);
    for (std::size_t i = 0; i < size_; ++i) ring[i] = ring_[(first_ + i) & (capacity_ - 1)];
    ring_ = std::move(ring);
    capacity_ = capacity;
    first_ = 0;
  }

  std::unique_ptr<T[]> ring_;
  std::size_t capacity_ = 0;  // zero or a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace cavalry::drivers
