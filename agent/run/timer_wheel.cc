#include "agent/run/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace cavalry::run {

// A slot of level l covers 4^l ticks. A timer goes to the lowest level whose 64 slots reach it,
// hence into a slot of at most a fifteenth of its distance, and stays there: nothing cascades.
void TimerWheel::Set(Timer* timer, Nanos deadline, Nanos now) {
  timer->Unlink();
  // The wheel may not have been advanced for long: what is coarse is so from now on.
  tick_ = std::max(tick_, std::min(now, next_ - 1) >> kTickShift);
  const Nanos tick = std::max((deadline + kTickNanos - 1) >> kTickShift, tick_ + 1);
  const Nanos distance = tick - tick_;
  int level = 0;
  // 62, so that both ends rounded are 63 slots apart at most: the one the wheel stands on is taken.
  while (level < kLevels - 1 && distance > (Nanos{62} << (level * kLevelShift))) ++level;
  const int shift = level * kLevelShift;
  const Nanos furthest = (tick_ >> shift) + kSlots - 1;
  const Nanos position = std::min((tick + (Nanos{1} << shift) - 1) >> shift, furthest);
  const auto slot = static_cast<std::size_t>(position & (kSlots - 1));
  Level& to = levels_[static_cast<std::size_t>(level)];
  to.used |= std::uint64_t{1} << slot;
  to.slots[slot].PushBack(timer);
  next_ = std::min(next_, (position << shift) << kTickShift);
}

void TimerWheel::Advance(Nanos now) {
  if (now < next_) return;
  const Nanos target = now >> kTickShift;
  List<Timer> due;
  for (int index = 0; index < kLevels; ++index) {
    Level& level = levels_[static_cast<std::size_t>(index)];
    const int shift = index * kLevelShift;
    for (std::uint64_t rest = level.used; rest != 0; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      if ((PositionOf(slot, shift) << shift) > target) continue;
      level.used &= ~(std::uint64_t{1} << slot);
      List<Timer>& timers = level.slots[static_cast<std::size_t>(slot)];
      while (!timers.empty()) due.PushBack(timers.PopFront());
    }
  }
  tick_ = std::max(tick_, target);
  FindNext();
  // Whoever is called may set and cancel timers, also those that are due here.
  while (!due.empty()) due.PopFront()->OnTimer(now);
}

Nanos TimerWheel::PositionOf(int slot, int shift) const {
  const Nanos base = tick_ >> shift;
  return base + ((slot - base) & (kSlots - 1));
}

void TimerWheel::FindNext() {
  next_ = INT64_MAX;
  for (int index = 0; index < kLevels; ++index) {
    Level& level = levels_[static_cast<std::size_t>(index)];
    const int shift = index * kLevelShift;
    for (std::uint64_t rest = level.used; rest != 0; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      if (level.slots[static_cast<std::size_t>(slot)].empty()) {
        level.used &= ~(std::uint64_t{1} << slot);
      } else {
        next_ = std::min(next_, (PositionOf(slot, shift) << shift) << kTickShift);
      }
    }
  }
}

}  // namespace cavalry::run
