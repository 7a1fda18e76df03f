// The coarse deadlines of one worker: time-outs of operations and connects, back-off, pacing. A
// timer rings never early, and late by at most a fifteenth of its distance or one tick (66 us),
// whichever is more. Setting and cancelling touch one list; nothing is allocated. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/run/list_link.h"
#include "core/base/clock.h"

namespace cavalry::run {

// Embedded in whoever waits; cancels itself when destroyed. Must not move.
class Timer : private ListLink {
 public:
  bool set() const { return !alone(); }
  void Cancel() { Unlink(); }

 protected:
  ~Timer() = default;
  virtual void OnTimer(Nanos now) = 0;

 private:
  friend class TimerWheel;
  friend class List<Timer>;
};

class TimerWheel {
 public:
  explicit TimerWheel(Nanos now) : tick_(now >> kTickShift) {}

  // Rings at or soon after `deadline`. Sets anew when already set.
  void Set(Timer* timer, Nanos deadline, Nanos now);
  // When Advance has to be called next; kNever without timers. May be early after cancellations.
  Nanos next() const { return next_; }
  // Rings all timers that are due.
  void Advance(Nanos now);

 private:
  static constexpr int kTickShift = 16;
  static constexpr Nanos kTickNanos = Nanos{1} << kTickShift;
  static constexpr int kLevels = 14;  // the last reaches 2^42 ticks of 2^16 ns: for ever
  static constexpr int kLevelShift = 2;
  static constexpr std::int64_t kSlots = 64;
  struct Level {
    std::uint64_t used = 0;  // a bit per slot that may hold timers
    std::array<List<Timer>, kSlots> slots;
  };

  // The position of a slot: the next one of that index, in the level's units.
  Nanos PositionOf(int slot, int shift) const;
  void FindNext();

  Nanos tick_;  // all up to and including this one are done
  Nanos next_ = INT64_MAX;
  std::array<Level, kLevels> levels_;
};

}  // namespace cavalry::run
