// The one accumulator of a run: live screen, text and JSON all read it. It is fed nothing but
// journal entries, in order, so that a report rebuilt from a journal equals the live one. Asserts
// the identities of design.md section 6 after merging; what a faulty agent sends is refused with
// its name. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "coordinator/report/agent_tally.h"
#include "coordinator/report/sparse_histogram.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/stats/interval_recorder.h"

namespace cavalry::report {

struct AgentView {
  std::string name;
  std::string host;
  std::uint32_t cores = 0;
  std::uint32_t workers = 0;
  bool lost = false;
  std::string lost_reason;
  std::uint64_t lost_in_step = 0;  // 0: between steps, or not lost
  Nanos clock_offset = 0;
  std::uint64_t max_rss_bytes = 0;
  Nanos cpu_user = 0;  // over all measure phases
  Nanos cpu_system = 0;
  Nanos wall_workers = 0;      // worker threads' wall time over all measure phases
  std::uint32_t sessions = 0;  // of the last step
  Nanos start_offset = 0;      // the one of the largest size over steps
  stats::LatencyHistogram loop_lag;
  bool generator_limited = false;
};

// One second of a step, merged over agents.
struct SecondView {
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight = 0;
  std::uint32_t reports = 0;  // intervals merged into it
  SparseHistogram response;
};

// One agent's part of a step.
struct AgentStepView {
  std::string agent;
  std::uint32_t sessions = 0;
  AgentTally tally;                      // sum of its measure intervals
  std::optional<v1::StepReport> report;  // without its totals, which equal the tally
  Nanos start_offset = 0;
  std::uint64_t last_seq = 0;
  std::uint32_t measure_seconds = 0;       // last measure interval's index + 1
  std::uint64_t in_flight = 0;             // of the last measure interval
  std::uint64_t iterations_in_flight = 0;  // likewise
  std::uint64_t writes_ok = 0;             // acknowledged writes, warm-up included
  bool lost = false;
  bool faulty = false;   // sent what cannot be right
  bool settled = false;  // attempted = the sum of the nine classes
  bool audited = false;
};

struct StepView {
  v1::Step step;
  bool ended = false;
  v1::StepEnd end = v1::STEP_END_UNSPECIFIED;
  std::string end_text;
  std::vector<AgentStepView> agents;
  std::vector<SecondView> seconds;
  std::vector<SecondView> warmup_seconds;            // live screen only
  stats::StatsTotals totals;                         // measure, merged over agents
  std::unique_ptr<stats::LatencyHistogram> connect;  // warm-up included; null without samples
  stats::ErrorTable connect_errors;                  // warm-up included
  Nanos duration = 0;                                // last end - start of measure over all agents
  Nanos issuing = 0;
  Nanos cpu_user = 0;
  Nanos cpu_system = 0;
  Nanos wall_workers = 0;    // worker threads' wall time
  Nanos waited_workers = 0;  // of that: ready to run, waiting for a core
  std::uint64_t loop_turns = 0;
  std::uint64_t sessions_never_connected = 0;
  std::uint32_t pipeline = 0;  // operations that a session could have in flight; 0: not known
  bool generator_limited = false;
  bool lost_agent = false;
  bool faulty_agent = false;
  std::string loop;
  std::optional<v1::AuditResult> audit;        // merged over agents
  std::vector<v1::NameValue> server_counters;  // what they rose by; empty: not read
  std::vector<std::string> warnings;

  // Ended as planned, with everything from everybody.
  bool complete() const {
    return ended && end == v1::STEP_END_COMPLETE && !lost_agent && !faulty_agent;
  }
};

class Aggregator {
 public:
  // An error says which agent sent what that cannot be right; the entry is then left out and the
  // agent's step is marked partial. RunStarted must come first. After an agent's first fault in a
  // step, what else it sends for that step is left out in silence: it cannot balance any more.
  Status Apply(const v1::JournalEntry& entry);

  // For a journal that ends in the middle of a run: ends the step that is open as interrupted.
  void CloseOpenStep(std::string_view why);

  // For a journal whose last record is incomplete: adds a warning that says so.
  void NoteTornJournal(std::uint64_t entries);

  bool started() const { return started_.has_value(); }
  const v1::RunStarted& run() const { return *started_; }
  std::int64_t started_at_wall_ns() const { return started_at_wall_ns_; }
  std::int64_t last_entry_wall_ns() const { return last_entry_wall_ns_; }
  const std::vector<std::string>& operation_names() const { return operation_names_; }
  const std::vector<AgentView>& agents() const { return agents_; }
  const std::vector<StepView>& steps() const { return steps_; }
  const StepView* current_step() const;  // the last one begun and not ended; null if none
  const std::vector<v1::Warning>& warnings() const { return warnings_; }
  const std::vector<v1::ServerInfo>& servers() const { return servers_; }
  const std::optional<v1::RunEnded>& ended() const { return ended_; }

 private:
  Status ApplyRunStarted(const v1::RunStarted& event);
  Status ApplyAgentJoined(const v1::AgentJoined& event);
  Status ApplyStepStarted(const v1::StepStarted& event);
  Status ApplyInterval(const v1::IntervalReceived& event);
  Status ApplyStepReport(const v1::StepReportReceived& event);
  Status ApplyAudit(const v1::AuditReceived& event);
  Status ApplyAgentLost(const v1::AgentLost& event);
  Status ApplyStepEnded(const v1::StepEnded& event);
  Status ApplyServerInfo(const v1::ServerInfo& event);
  Status ApplyServerCounters(const v1::ServerCounters& event);
  Status ApplyRunEnded(const v1::RunEnded& event);

  // The part of an agent in the open step, or what is wrong with the pair.
  StatusOr<AgentStepView*> FindPart(const std::string& agent, std::uint64_t step_id);
  Status CheckInterval(const v1::Interval& interval, AgentStepView* part,
                       const stats::StatsTotals& stats);
  void MergeInterval(const v1::Interval& interval, const stats::StatsTotals& stats,
                     AgentStepView* part);
  void MergeReport(const v1::StepReportReceived& event, AgentStepView* part);
  // What an agent left open becomes abandoned.
  void Settle(AgentStepView* part);
  void EndStep(StepView* step, v1::StepEnd end, std::string_view text);
  Status Refuse(AgentStepView* part, const Status& why);

  std::optional<v1::RunStarted> started_;
  std::int64_t started_at_wall_ns_ = 0;
  std::int64_t last_entry_wall_ns_ = 0;
  std::vector<std::string> operation_names_;
  std::vector<bool> operation_writes_;
  bool audits_ = false;
  std::vector<AgentView> agents_;
  std::map<std::string, std::size_t, std::less<>> agent_index_;
  std::map<std::string, std::size_t, std::less<>> part_index_;  // of the open step
  std::vector<StepView> steps_;
  std::vector<v1::Warning> warnings_;
  std::vector<v1::ServerInfo> servers_;
  std::optional<v1::RunEnded> ended_;
};

}  // namespace cavalry::report
