// Journals of runs that never took place: agents x steps x intervals of real statistics, encoded as
// agents encode them. Every figure follows from the options and the seed. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "coordinator/report/aggregator.h"
#include "core/base/clock.h"
#include "core/stats/interval_recorder.h"

namespace cavalry::report {

struct RunOptions {
  std::vector<std::string> targets = {"sql", "hs"};
  std::vector<std::uint32_t> sessions = {1, 16};
  std::uint32_t rounds = 2;
  std::vector<std::string> agents = {"gen1", "gen2"};
  bool writes = false;          // the script is an update instead of a read
  bool two_operations = false;  // the script is find, put
  std::vector<std::string> thresholds = {"failed < 1%"};
  bool strict = false;
  v1::Metric metric = v1::METRIC_UNSPECIFIED;
};

// What happens in a step; per agent and second where it is a count.
struct StepShape {
  std::uint32_t seconds = 2;
  std::uint32_t warmup_seconds = 1;
  std::uint64_t ok = 100;
  std::optional<std::uint32_t> silent;  // in this second of measure nothing ends
  std::uint64_t miss = 0;
  std::uint64_t rejected = 0;
  std::uint64_t wrong_answers = 0;
  Nanos latency = 100 * kMicrosecond;  // most samples are near it
  std::optional<Nanos> one_more;       // the last agent's last second has a sample of this latency
  std::uint64_t in_flight = 1;         // per agent with sessions, between seconds
  bool limited = false;
  std::uint64_t never_connected = 0;  // of the first agent
  std::uint32_t pipeline = 1;         // of targets that are not mysql
  std::optional<std::string> lose;    // this agent is lost before its last second
  bool end = true;                    // StepEnded is written
  v1::StepEnd end_as = v1::STEP_END_COMPLETE;
  std::optional<v1::AuditResult> audit;  // of each agent that is not lost
};

class RunBuilder {
 public:
  explicit RunBuilder(RunOptions options = {});

  // Appends RunStarted and the agents' joining.
  void Start();
  // Appends the next step of the plan.
  void AddStep(const StepShape& shape = {});
  // All steps that are left, the hs target at half the latency and twice the rate.
  void AddAllSteps(const StepShape& shape = {});
  void End(v1::RunEnd end = v1::RUN_END_COMPLETE, const Status& status = Status());
  void Add(v1::JournalEntry entry);

  std::size_t steps_left() const { return plan_.size() - next_; }
  const std::vector<std::string>& operations() const { return operations_; }
  std::vector<v1::JournalEntry>& entries() { return entries_; }
  // Of agent `index` in the step about to be added.
  std::uint32_t SessionsOf(std::size_t index) const;

 private:
  struct AgentState;
  void AddInterval(const v1::Step& step, const StepShape& shape, v1::StepPart part,
                   std::uint32_t second, bool last, AgentState* agent);
  void AddReport(const v1::Step& step, const StepShape& shape, AgentState* agent);

  RunOptions options_;
  std::vector<std::string> operations_;
  std::vector<v1::Step> plan_;
  std::size_t next_ = 0;
  std::int64_t wall_ns_ = 1'796'074'063 * kSecond;  // 2026-11-30T21:27:43Z
  std::vector<v1::JournalEntry> entries_;
};

// Applies all; every entry must be accepted.
Aggregator ApplyAll(const std::vector<v1::JournalEntry>& entries);

}  // namespace cavalry::report
