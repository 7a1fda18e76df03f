// Merges the workers' intervals into the agent's, in order, as messages; and makes the step report.
// Runs on the assignment runner's thread, never on a load thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/run/load_run.h"
#include "cavalry/v1/control.pb.h"
#include "core/stats/interval_recorder.h"

namespace cavalry::agent {

class ResultStreamer {
 public:
  // `workers`: those that have sessions, numbered from 0. `send` takes each finished interval.
  ResultStreamer(const run::LoadPlan& plan, std::uint32_t workers,
                 std::function<void(v1::Interval)> send);

  // Takes what the event recorded (the recorder may be recycled afterwards), and sends every
  // interval that all workers have closed.
  void OnInterval(const run::IntervalEvent& event);

  // Sends what is left. The report's totals are the sum of the measure intervals sent; the workers'
  // own counts must agree.
  v1::StepReport Finish(const run::FinishedEvent& finished);

 private:
  using Key = std::pair<run::Part, std::uint32_t>;
  void SendFirst();

  const run::LoadPlan& plan_;
  std::vector<std::string> names_;
  std::function<void(v1::Interval)> send_;
  std::map<Key, stats::StatsTotals> open_;
  std::vector<std::pair<bool, Key>> closed_by_worker_;  // last interval closed; false: none yet
  stats::StatsTotals totals_;
  std::uint64_t seq_ = 0;
};

}  // namespace cavalry::agent
