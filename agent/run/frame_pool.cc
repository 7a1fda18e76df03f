#include "agent/run/frame_pool.h"

#include <new>

#include "core/base/check.h"

namespace cavalry::run {

void* FramePool::Allocate(std::size_t bytes) {
  CAVALRY_CHECK(bytes <= kLargestPooled);
  const std::size_t grains = (bytes + kGrain - 1) / kGrain;
  if (FreeBlock* block = free_[grains]) {
    free_[grains] = block->next;
    return block;
  }
  const std::size_t size = grains * kGrain;
  if (rest_bytes_ < size) {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunkBytes));
    rest_ = chunks_.back().get();
    rest_bytes_ = kChunkBytes;
  }
  void* const block = rest_;
  rest_ += size;
  rest_bytes_ -= size;
  return block;
}

void FramePool::Free(void* block, std::size_t bytes) {
  const std::size_t grains = (bytes + kGrain - 1) / kGrain;
  auto* freed = new (block) FreeBlock{free_[grains]};
  free_[grains] = freed;
}

}  // namespace cavalry::run
