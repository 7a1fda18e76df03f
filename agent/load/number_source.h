// Hands iteration numbers to an agent's workers: each number exactly once. Thread-safe; workers
// take blocks so that they rarely meet. Counted runs stop when it is exhausted.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace cavalry::load {

// See control.proto, Numbers.
struct NumberPlan {
  std::uint64_t first = 0;
  std::uint64_t stride = 1;
  std::optional<std::uint64_t> count;
  std::uint64_t warmup_first = 0;  // used when warmup_stride is not 0
  std::uint64_t warmup_stride = 0;
};

inline constexpr std::uint64_t kMaxNumberBlock = 16;

class NumberSource {
 public:
  // Numbers first, first + stride, …, count of them; empty when count is 0.
  struct Block {
    std::uint64_t first = 0;
    std::uint64_t stride = 1;
    std::uint64_t count = 0;
  };

  NumberSource(const NumberPlan& plan, std::uint32_t workers);

  Block TakeWarmup();
  // Blocks get smaller towards the end of a counted run, so that no worker sits on the last
  // numbers.
  Block TakeMeasure();
  // Returns what was taken and not begun.
  void GiveBackMeasure(const Block& rest);
  // Whether a counted run has handed out all its numbers and none came back.
  bool exhausted();

 private:
  Block Take(std::atomic<std::uint64_t>* next, bool counted);

  NumberPlan plan_;
  std::uint32_t workers_;
  std::atomic<std::uint64_t> next_{0};         // ordinals of `first`'s stream
  std::atomic<std::uint64_t> next_warmup_{0};  // ordinals of warm-up's own stream
  std::mutex mutex_;
  std::vector<Block> returned_;  // guarded by mutex_
  std::atomic<bool> has_returned_{false};
};

}  // namespace cavalry::load
