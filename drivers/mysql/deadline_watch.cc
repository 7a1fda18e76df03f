#include "drivers/mysql/deadline_watch.h"

#include <algorithm>
#include <chrono>

namespace cavalry::drivers::mysql {
namespace {

constexpr int kLooksPerTimeout = 20;
constexpr Nanos kLongestPeriod = 100 * kMillisecond;

}  // namespace

DeadlineWatch::DeadlineWatch(Nanos timeout)
    : period_(std::clamp<Nanos>(timeout / kLooksPerTimeout, kMillisecond, kLongestPeriod)),
      thread_([this] { Look(); }) {}

DeadlineWatch::~DeadlineWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_one();
  thread_.join();
}

void DeadlineWatch::Add(Watched* watched) {
  const std::lock_guard lock(mutex_);
  watched_.push_back(watched);
}

void DeadlineWatch::Remove(Watched* watched) {
  const std::lock_guard lock(mutex_);
  std::erase(watched_, watched);
}

void DeadlineWatch::Look() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, period_, [this] { return stop_; })) {
    const Nanos now = MonotonicNow();
    for (Watched* watched : watched_) watched->EndIfLate(now);
  }
}

}  // namespace cavalry::drivers::mysql
