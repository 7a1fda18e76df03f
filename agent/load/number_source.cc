#include "agent/load/number_source.h"

#include <algorithm>

namespace cavalry::load {

NumberSource::NumberSource(const NumberPlan& plan, std::uint32_t workers)
    : plan_(plan), workers_(std::max<std::uint32_t>(workers, 1)) {}

NumberSource::Block NumberSource::TakeWarmup() {
  if (plan_.warmup_stride == 0) return Take(&next_, false);
  const std::uint64_t ordinal = next_warmup_.fetch_add(kMaxNumberBlock, std::memory_order_relaxed);
  return {plan_.warmup_first + ordinal * plan_.warmup_stride, plan_.warmup_stride, kMaxNumberBlock};
}

NumberSource::Block NumberSource::TakeMeasure() {
  if (has_returned_.load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex_);
    if (!returned_.empty()) {
      const Block block = returned_.back();
      returned_.pop_back();
      has_returned_.store(!returned_.empty(), std::memory_order_release);
      return block;
    }
  }
  return Take(&next_, plan_.count.has_value());
}

NumberSource::Block NumberSource::Take(std::atomic<std::uint64_t>* next, bool counted) {
  std::uint64_t size = kMaxNumberBlock;
  if (!counted) {
    const std::uint64_t ordinal = next->fetch_add(size, std::memory_order_relaxed);
    return {plan_.first + ordinal * plan_.stride, plan_.stride, size};
  }
  std::uint64_t ordinal = next->load(std::memory_order_relaxed);
  do {
    if (ordinal >= *plan_.count) return {};
    const std::uint64_t rest = *plan_.count - ordinal;
    size = std::clamp<std::uint64_t>(rest / (std::uint64_t{workers_} * 4), 1, kMaxNumberBlock);
  } while (!next->compare_exchange_weak(ordinal, ordinal + size, std::memory_order_relaxed));
  return {plan_.first + ordinal * plan_.stride, plan_.stride, size};
}

void NumberSource::GiveBackMeasure(const Block& rest) {
  if (rest.count == 0) return;
  std::lock_guard lock(mutex_);
  returned_.push_back(rest);
  has_returned_.store(true, std::memory_order_release);
}

bool NumberSource::exhausted() {
  if (!plan_.count.has_value()) return false;
  if (has_returned_.load(std::memory_order_acquire)) return false;
  return next_.load(std::memory_order_relaxed) >= *plan_.count;
}

}  // namespace cavalry::load
