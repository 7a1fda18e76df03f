// A step's load for one agent in plain types: what LoadRun runs. Immutable during the step; owned
// by the assignment runner, which outlives the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/load/iteration.h"
#include "agent/load/number_source.h"
#include "core/base/clock.h"
#include "core/base/settings.h"
#include "drivers/core/driver.h"

namespace cavalry::run {

enum class LoopKind : std::uint8_t { kAuto, kIoUring, kEpoll };

struct LoadPlan {
  const drivers::Driver* driver = nullptr;
  Settings settings;  // secrets resolved
  std::vector<std::unique_ptr<drivers::TableSchema>> tables;
  std::vector<drivers::OperationPlan> operations;  // of the spec, in order
  std::vector<load::OperationRecipe> recipes;      // one per operation
  load::ScriptPlan script;
  std::uint32_t sessions = 0;       // of this agent
  std::uint32_t first_session = 0;  // number of its first among all
  std::uint32_t total_sessions = 1;
  load::NumberPlan numbers;
  std::uint64_t next_version = 1;
  Nanos warmup = 0;
  std::optional<Nanos> duration;  // of measure
  Nanos operation_timeout = 10 * kSecond;
  Nanos connect_timeout = 5 * kSecond;
  Nanos drain_timeout = 5 * kSecond;
  // A run without a duration ends when no session has been connected for so long.
  Nanos give_up_unconnected = 30 * kSecond;
  std::uint32_t pipeline = 1;
  std::uint32_t retries = 0;  // attempts more after a retryable rejection
  bool connect_per_iteration = false;
  // Connections of this agent that its sessions share; none: each has its own.
  std::optional<std::uint32_t> pool_size;
  std::uint32_t pool_overflow = 0;
  Nanos think_time = 0;                           // of a session after each iteration
  std::optional<std::uint32_t> blocking_threads;  // of blocking clients; none: one per session
  std::uint32_t trace = 0;                        // operations whose bytes are logged
  double connect_rate = 2000;                     // begun per second, this agent
  std::uint32_t workers = 1;
  LoopKind loop = LoopKind::kAuto;
  bool realtime = false;  // ask for real-time priority of load threads
  bool keep_ledger = false;

  // Iterations take their connections and give them back.
  bool takes_connections() const { return connect_per_iteration || pool_size.has_value(); }
  // Workers that have something to do.
  std::uint32_t busy_workers() const {
    std::uint32_t most = std::min(workers, sessions);
    if (pool_size) most = std::min(most, *pool_size);
    if (blocking_threads) most = std::min(most, *blocking_threads);
    return most;
  }
  // Some operations may end as sent, which has no service time.
  bool some_sent = false;
  // A closed loop whose iteration is one operation once and nothing else: response time is its
  // service time.
  bool response_is_service() const {
    return script.steps.size() == 1 && retries == 0 && !takes_connections() && !some_sent;
  }
};

}  // namespace cavalry::run
