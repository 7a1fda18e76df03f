// A report in plain types, made of an aggregator, then rendered: report_text, report_json. The
// field names of report.json are design.md section 7's. Pure; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/report/aggregator.h"
#include "core/stats/confidence.h"
#include "core/stats/summary.h"

namespace cavalry::report {

enum class RunStatus { kComplete, kPartial, kInterrupted, kFailed };

// "complete", "partial", "interrupted", "failed".
std::string_view RunStatusName(RunStatus status);

// A result: one step, or one (target, load point) with its rounds merged.
struct Result {
  v1::Step step;                                     // merged: of its first round
  std::uint32_t rounds = 1;                          // merged into it
  const stats::StatsTotals* totals = nullptr;        // operations by name inside; never null
  const stats::LatencyHistogram* connect = nullptr;  // null without samples
  stats::ErrorTable errors;                          // of all operations and of connects
  double duration_s = 0;                             // summed over rounds when merged
  double drain_s = 0;                                // of it, after issuing stopped
  std::optional<double> ops_per_s;                   // ok per second; nothing without measured time
  std::optional<double> iterations_per_s;
  std::optional<double> rows_per_s;
  double cpu_user_s = 0;
  double cpu_system_s = 0;
  double wall_worker_s = 0;    // worker threads' wall time, for the busy share
  double waited_worker_s = 0;  // of that: ready to run, waiting for a core
  std::uint64_t loop_turns = 0;
  std::optional<double> ops_per_turn;        // operations per turn of a worker's loop
  std::optional<double> waited;              // share of wall_worker_s
  std::optional<double> cpu_user_us_per_op;  // nothing without operations
  std::optional<double> cpu_system_us_per_op;
  std::optional<double> busy;  // share of the workers' time on a core
  std::uint64_t sessions_never_connected = 0;
  std::uint32_t pipeline = 0;  // operations that a session could have in flight; 0: not known
  const std::vector<SecondView>* seconds = nullptr;  // null when merged
  std::optional<v1::AuditResult> audit;
  std::vector<v1::NameValue> server_counters;  // what they rose by over the step; none when merged
  bool generator_limited = false;
  bool lost_agent = false;
  bool complete = true;               // ended as planned, with everything from everybody
  std::uint64_t in_flight = 0;        // only while its step has not ended
  std::vector<double> round_figures;  // ops_per_s of each round, in order
  std::vector<std::string> loops;     // "io_uring", "epoll"

  // Takes part in comparisons.
  bool judged() const { return complete && !generator_limited && !lost_agent; }

  std::unique_ptr<stats::StatsTotals> merged_totals;        // what `totals` points to when merged
  std::unique_ptr<stats::LatencyHistogram> merged_connect;  // likewise
};

struct Comparison {
  std::string a, b;
  v1::Step step;  // load point: sessions, set
  std::string metric;
  std::optional<stats::Ratio> ratio;  // b / a; nothing when it cannot be judged
  std::uint32_t rounds = 0;           // that were compared
  std::string verdict;                // "hs does 1.82 x the find/s of sql", or why not judged
};

struct ThresholdResult {
  std::string expression;
  std::string target;
  v1::Step step;
  std::optional<double>
      value;  // in the bound's unit: us, fraction, per second; nothing without samples
  bool passed = false;
  std::string shown;  // the value for people: "4.13 ms", "0.03 %"; "no samples"
};

struct Report {
  RunStatus status = RunStatus::kFailed;
  const Aggregator* run = nullptr;  // must outlive the report
  std::vector<Result> results;      // in order of execution
  std::vector<Result> summary;      // in order of (load point, target)
  std::vector<Comparison> comparison;
  std::vector<ThresholdResult> thresholds;  // by expression, the worst first
  std::vector<std::string> warnings;
  bool generator_warning = false;  // --strict: exit 4
  int exit_status = 0;             // design.md section 7; 130, then 2, 1, 4, 3
  std::string exit_reason;         // one line; empty for 0
  double duration_s = 0;           // of the run, wall time
};

Report MakeReport(const Aggregator& run);

// The report as text, width 100, for people and report.txt. `directory`: the results directory, ""
// if none.
std::string RenderText(const Report& report, const std::string& directory);

// report.json's text: stable order, null where there is no sample, never NaN or Infinity.
std::string RenderJson(const Report& report);

}  // namespace cavalry::report
