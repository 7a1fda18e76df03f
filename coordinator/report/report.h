// A report in plain types, made of an aggregator, then rendered: report_text, report_json. The field
// names of report.json are design.md section 7's. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/report/aggregator.h"
#include "core/stats/confidence.h"
#include "core/stats/summary.h"

namespace cavalry::report {

enum class RunStatus { kComplete, kPartial, kInterrupted, kFailed };

// A result: one step, or one (target, load point) with its rounds merged.
struct Result {
  v1::Step step;
  std::uint32_t rounds = 1;              // merged into it
  const v1::Workload* workload = nullptr;
  stats::StatsTotals totals;             // operations by name inside
  double duration_s = 0;                 // summed over rounds when merged
  std::optional<double> ops_per_s;       // ok per second; nothing without measured time
  std::optional<double> iterations_per_s;
  std::optional<double> rows_per_s;
  double cpu_user_s = 0;
  double cpu_system_s = 0;
  double wall_worker_s = 0;              // worker threads' wall time, for the busy share
  std::uint64_t sessions_never_connected = 0;
  std::vector<SecondView> seconds;       // empty when merged
  std::optional<v1::AuditResult> audit;
  bool generator_limited = false;
  bool lost_agent = false;
  bool judged = true;                    // takes part in comparisons
  std::vector<double> round_figures;     // ops_per_s of each round, in order
};

struct Comparison {
  std::string a, b;
  v1::Step step;                         // load point: sessions, set
  std::string metric;
  std::optional<stats::Ratio> ratio;     // nothing when it cannot be judged
  std::uint32_t rounds = 0;
  std::string verdict;                   // "hs does 1.82 x the lookups of sql", or why not judged
};

struct ThresholdResult {
  std::string expression;
  std::string target;
  v1::Step step;
  std::optional<double> value;           // in the expression's unit; nothing without samples
  bool passed = false;
};

struct Report {
  RunStatus status = RunStatus::kFailed;
  const Aggregator* run = nullptr;       // must outlive the report
  std::vector<Result> results;           // in order of execution
  std::vector<Result> summary;           // in order of (load point, target)
  std::vector<Comparison> comparison;
  std::vector<ThresholdResult> thresholds;  // the worst of each expression first printed, all kept
  std::vector<std::string> warnings;
  bool generator_warning = false;        // --strict: exit 4
  int exit_status = 0;                   // design.md section 7; 130, then 2, 1, 4, 3
};

Report MakeReport(const Aggregator& run);

// The report as text, width 100, for people and report.txt. `directory`: the results directory, "" if none.
std::string RenderText(const Report& report, const std::string& directory);

// report.json's text: stable order, null where there is no sample, never NaN or Infinity.
std::string RenderJson(const Report& report);

}  // namespace cavalry::report
