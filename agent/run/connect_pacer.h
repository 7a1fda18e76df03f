// Lets a worker's connections begin one after another, at its share of the agent's connect rate.
// Worker thread only.
#pragma once

#include <cstdint>
#include <deque>

#include "agent/run/load_plan.h"
#include "agent/run/timer_wheel.h"
#include "core/base/clock.h"

namespace cavalry::run {

class Connection;

// Between two connects that one of so many workers begins.
Nanos ConnectDistance(const LoadPlan& plan, std::uint32_t workers);

class ConnectPacer final : private Timer {
 public:
  // `distance` between two begins; workers begin at different instants of it.
  ConnectPacer(TimerWheel* wheel, Nanos distance, Nanos now, std::uint32_t worker,
               std::uint32_t workers);

  // Opens the connection when its turn comes, at the earliest at the next Advance of the wheel.
  void Queue(Connection* connection, Nanos now);
  void Remove(Connection* connection);

 private:
  // What a late worker may catch up at once.
  static constexpr Nanos kBurst = 10 * kMillisecond;

  void OnTimer(Nanos now) override;

  TimerWheel* const wheel_;
  const Nanos distance_;
  Nanos next_;
  std::deque<Connection*> waiting_;
};

}  // namespace cavalry::run
