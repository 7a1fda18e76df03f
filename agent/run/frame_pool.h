// Memory of a worker's coroutine frames: blocks of one size each from chunks, reused, freed with
// the pool. Only its worker's thread; must outlive the frames.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace cavalry::run {

class FramePool {
 public:
  // Bytes aligned for any type.
  void* Allocate(std::size_t bytes);
  void Free(void* block, std::size_t bytes);

 private:
  static constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kGrain = 64;
  static constexpr std::size_t kLargestPooled = 4096;
  struct FreeBlock {
    FreeBlock* next;
  };

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* rest_ = nullptr;
  std::size_t rest_bytes_ = 0;
  FreeBlock* free_[kLargestPooled / kGrain + 1] = {};
};

}  // namespace cavalry::run
