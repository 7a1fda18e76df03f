// What the workers of one LoadRun share: numbers, commands, the mailbox and the wake-ups. Made
// before the workers and destroyed after they were joined. None of it is touched per operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/load/number_source.h"
#include "agent/run/load_plan.h"
#include "agent/run/mailbox.h"
#include "core/base/unique_fd.h"
#include "drivers/core/driver.h"
#include "drivers/core/endpoint_address.h"

namespace cavalry::run {

// How far a stop goes; only rises.
enum class StopLevel : std::uint8_t { kNone, kDrain, kNow, kQuit };

struct SharedRun {
  SharedRun(const LoadPlan& plan_in, std::uint32_t worker_count)
      : plan(plan_in),
        workers(worker_count),
        numbers(plan_in.numbers, worker_count),
        mailbox(worker_count),
        dry_workers(worker_count) {}

  const LoadPlan& plan;
  const std::uint32_t workers;
  drivers::ClientFactory clients;
  std::vector<drivers::EndpointAddress> addresses;  // of a codec factory's endpoints
  load::NumberSource numbers;
  Mailbox mailbox;

  std::atomic<Nanos> start_at{0};  // 0: not yet known
  std::atomic<StopLevel> stop{StopLevel::kNone};
  // Workers that hold no number and found none to take. When all are and none came back, a counted
  // run has begun its last iteration.
  std::atomic<std::uint32_t> dry_workers;
  std::atomic<bool> numbers_done{false};
  std::atomic<std::uint32_t> ready_sessions{0};

  std::atomic<std::uint32_t> traced{0};

  std::vector<UniqueFd> wake_fds;  // eventfds, one a worker

  // A worker's part of a total; the first ones take what is over.
  std::uint32_t Share(std::uint32_t total, std::uint32_t worker) const {
    return total / workers + (worker < total % workers ? 1 : 0);
  }

  void Wake(std::uint32_t worker);
  void WakeAll();
  // Whether one more operation is to be traced.
  bool TakeTrace() { return traced.fetch_add(1) < plan.trace; }
  // Raises the stop level and tells everybody.
  void RaiseStop(StopLevel level);
};

}  // namespace cavalry::run
