// Everything a run needs to know before it begins, and the time each of its transitions may take.
// Plain data, immutable during the run; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cavalry/v1/workload.pb.h"
#include "coordinator/run/schedule.h"
#include "core/base/clock.h"

namespace cavalry::run {

// What happens to the run when an agent is lost.
enum class LostPolicy : std::uint8_t {
  kContinue,  // the others go on; the step is partial
  kStop,      // the run ends; what was measured is reported
};

// How long each transition may take. Tests set their own.
struct Deadlines {
  Nanos wait_agents = 60 * kSecond;
  Nanos preflight = 60 * kSecond;
  // DDL on a large table takes its time; locks are waited for much shorter, by the agent.
  Nanos reset = 300 * kSecond;
  Nanos prepare = 120 * kSecond;
  Nanos mark = 60 * kSecond;
  // A statement before a step, such as one that reads a whole table.
  Nanos native = 3'600 * kSecond;
  Nanos counters = 30 * kSecond;
  // Between two attempts to reach a server that was restarted.
  Nanos ready_retry = 250 * kMillisecond;
  Nanos cleanup = 300 * kSecond;
  // Fill and audit have no bound as long as they report progress at least this often.
  Nanos progress = 60 * kSecond;
  // Arming: the time that paced connects need, two connect timeouts, and this.
  Nanos arm_slack = 15 * kSecond;
  // The start instant is at least this far ahead.
  Nanos start_lead = 100 * kMillisecond;
  // A timed step: warm-up, duration, drain timeout, and this.
  Nanos end_slack = 10 * kSecond;
  // A step without a duration: without an interval for this long (and the operation timeout) an
  // agent is lost.
  Nanos interval_gap = 30 * kSecond;
  // After a stop: the drain timeout and this.
  Nanos stop_slack = 5 * kSecond;
};

struct RunPlan {
  std::string run_id;
  v1::Workload workload;           // the whole spec, defaults filled in, secrets resolved
  std::vector<PlannedStep> steps;  // in order
  std::size_t agents = 1;          // that the run waits for
  bool connect = true;             // preflight also connects
  bool preflight_only = false;     // `check`: the run ends after preflight
  bool read_counters = false;      // of the tables' servers, before and after each step
  std::uint32_t trace = 0;         // operations of each step whose bytes the first agent tells
  std::vector<std::string> allow_destroy;
  LostPolicy on_lost = LostPolicy::kContinue;
  Deadlines deadlines;
};

// An agent as the run sees it.
struct Member {
  std::string name;
  std::string host;
  std::uint32_t cores = 0;
  std::uint32_t workers = 0;
  Nanos clock_offset = 0;  // its monotonic clock minus ours
  Nanos clock_rtt = 0;
  bool alive = true;
};

}  // namespace cavalry::run
