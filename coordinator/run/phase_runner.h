// Runs one phase other than the load (preflight, reset, prepare, fill, marks, audit, cleanup) as
// tasks on agents: an agent does its tasks one after another, agents work at the same time. Knows
// deadlines and what is left when an agent is lost. Pure; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "coordinator/run/actions.h"
#include "core/base/clock.h"

namespace cavalry::run {

struct PhaseTask {
  std::string agent;
  v1::RunPhase request;
  std::string load_point;  // that the request is about; "" the spec itself
  // Filled in as it goes:
  enum class State : std::uint8_t { kWaiting, kRunning, kDone, kLost } state = State::kWaiting;
  v1::PhaseDone done;
  std::uint64_t progress_done = 0;
  std::uint64_t progress_total = 0;
  std::string progress_what;
  Nanos deadline = 0;
};

// "reset", "fill", ….
std::string PhaseName(v1::Phase phase);

class PhaseRunner {
 public:
  struct Options {
    v1::Phase phase = v1::PHASE_UNSPECIFIED;
    std::uint64_t step_id = 0;
    Nanos timeout = 0;              // of one task
    bool progress_extends = false;  // each Progress begins the timeout anew
  };

  // Sends the first task of every agent.
  void Begin(Options options, std::vector<PhaseTask> tasks, Nanos now, Actions* actions);

  // False for a message that belongs to no running task: it is stale.
  bool OnDone(const std::string& agent, std::uint64_t step_id, const v1::PhaseDone& done, Nanos now,
              Actions* actions);
  bool OnProgress(const std::string& agent, std::uint64_t step_id, const v1::Progress& progress,
                  Nanos now);
  // Whether the agent had unfinished tasks; they are kLost from now on.
  bool OnLost(const std::string& agent);

  // Sends Stop to every agent with a running task, and gives them until `deadline`.
  void Stop(v1::StopMode mode, Nanos deadline, Actions* actions);

  bool done() const;  // no task is waiting or running
  v1::Phase phase() const { return options_.phase; }
  std::uint64_t step_id() const { return options_.step_id; }
  const std::vector<PhaseTask>& tasks() const { return tasks_; }
  // The first task that failed, or null.
  const PhaseTask* failed() const;
  // A running task whose deadline has passed, or null.
  const PhaseTask* late(Nanos now) const;
  std::optional<Nanos> next_deadline() const;

 private:
  PhaseTask* Running(const std::string& agent);
  void SendNext(const std::string& agent, Nanos now, Actions* actions);

  Options options_;
  std::vector<PhaseTask> tasks_;
};

}  // namespace cavalry::run
