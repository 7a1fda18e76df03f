// Growing, jittered waits before something is tried again: between once and twice a step that
// doubles, so that those who failed together don't come back together. One thread.
#pragma once

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/random.h"

namespace cavalry::run {

// Of lost and refused connections.
inline constexpr Nanos kShortestBackOff = 10 * kMillisecond;
inline constexpr Nanos kLongestBackOff = kSecond;
// Of transactions that met another one.
inline constexpr Nanos kShortestRetryWait = kMillisecond;
inline constexpr Nanos kLongestRetryWait = 200 * kMillisecond;

class BackOff {
 public:
  BackOff(Nanos shortest, Nanos longest) : shortest_(shortest), longest_(longest) {}

  // The next wait.
  Nanos Next(RandomStream* jitter) {
    const double delay = static_cast<double>(step_) * (1 + jitter->Unit());
    const double most = static_cast<double>(longest_) * (1 - jitter->Unit() / 2);
    step_ = std::min(step_ * 2, longest_);
    return static_cast<Nanos>(std::min(delay, most));
  }
  // The next wait is a shortest one again.
  void Reset() { step_ = shortest_; }

 private:
  const Nanos shortest_;
  const Nanos longest_;
  Nanos step_ = shortest_;
};

}  // namespace cavalry::run
