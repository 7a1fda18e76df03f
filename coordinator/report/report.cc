#include "coordinator/report/report.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "coordinator/report/audit_sum.h"
#include "coordinator/report/comparison.h"
#include "coordinator/report/findings.h"
#include "coordinator/report/load_point.h"
#include "coordinator/report/threshold_evaluation.h"
#include "core/base/units.h"
#include "core/wire/status_codec.h"

namespace cavalry::report {
namespace {

constexpr double kPerSecond = kSecond;

// All that follows from counts and times already in the result.
void Derive(Result* result) {
  const stats::StatsTotals& totals = *result->totals;
  const stats::OperationCounters ops = totals.TotalOperations();
  if (result->duration_s > 0) {
    result->ops_per_s = static_cast<double>(ops[Outcome::kOk]) / result->duration_s;
    result->iterations_per_s = static_cast<double>(totals.iterations.ok) / result->duration_s;
    result->rows_per_s = static_cast<double>(ops.rows) / result->duration_s;
  }
  // A dropped arrival cost next to nothing; everything else was at least encoded.
  const std::uint64_t worked = ops.attempted - std::min(ops.attempted, ops[Outcome::kDropped]);
  if (worked > 0) {
    result->cpu_user_us_per_op = result->cpu_user_s * 1e6 / static_cast<double>(worked);
    result->cpu_system_us_per_op = result->cpu_system_s * 1e6 / static_cast<double>(worked);
  }
  if (worked > 0 && result->loop_turns > 0) {
    result->ops_per_turn = static_cast<double>(worked) / static_cast<double>(result->loop_turns);
  }
  if (result->wall_worker_s > 0) {
    result->waited = result->waited_worker_s / result->wall_worker_s;
    result->busy = (result->cpu_user_s + result->cpu_system_s) / result->wall_worker_s;
  }
}

Result MakeResult(const StepView& step) {
  Result result;
  result.step = step.step;
  result.totals = &step.totals;
  result.connect = step.connect.get();
  result.errors.Add(step.connect_errors);
  for (const auto& operation : step.totals.operations) result.errors.Add(operation.errors);
  result.duration_s = static_cast<double>(step.duration) / kPerSecond;
  if (step.issuing > 0 && step.duration > step.issuing) {
    result.drain_s = static_cast<double>(step.duration - step.issuing) / kPerSecond;
  }
  result.cpu_user_s = static_cast<double>(step.cpu_user) / kPerSecond;
  result.cpu_system_s = static_cast<double>(step.cpu_system) / kPerSecond;
  result.wall_worker_s = static_cast<double>(step.wall_workers) / kPerSecond;
  result.waited_worker_s = static_cast<double>(step.waited_workers) / kPerSecond;
  result.loop_turns = step.loop_turns;
  result.sessions_never_connected = step.sessions_never_connected;
  result.pipeline = step.pipeline;
  result.seconds = &step.seconds;
  result.audit = step.audit;
  result.server_counters = step.server_counters;
  result.generator_limited = step.generator_limited;
  result.lost_agent = step.lost_agent;
  result.complete = step.complete();
  if (!step.loop.empty()) result.loops.push_back(step.loop);
  if (!step.ended) {
    for (const AgentStepView& part : step.agents) result.in_flight += part.tally.OperationsOpen();
    // Nobody has reported a duration yet: the seconds that arrived are what there is.
    const auto seconds = static_cast<double>(step.seconds.size());
    if (result.duration_s <= 0) result.duration_s = seconds;
  }
  Derive(&result);
  if (result.ops_per_s) result.round_figures.push_back(*result.ops_per_s);
  return result;
}

// Rounds of one (target, load point) as one result: histograms are added, never percentiles
// averaged.
Result MergeRounds(const std::vector<const Result*>& rounds, std::size_t operation_count) {
  Result merged;
  merged.step = rounds.front()->step;
  merged.rounds = static_cast<std::uint32_t>(rounds.size());
  merged.merged_totals = std::make_unique<stats::StatsTotals>(operation_count, true);
  for (const Result* round : rounds) {
    merged.errors.Add(round->errors);
    merged.merged_totals->Add(*round->totals);
    if (round->connect != nullptr) {
      if (!merged.merged_connect) {
        merged.merged_connect = std::make_unique<stats::LatencyHistogram>();
      }
      merged.merged_connect->Add(*round->connect);
    }
    merged.duration_s += round->duration_s;
    merged.drain_s += round->drain_s;
    merged.cpu_user_s += round->cpu_user_s;
    merged.cpu_system_s += round->cpu_system_s;
    merged.wall_worker_s += round->wall_worker_s;
    merged.waited_worker_s += round->waited_worker_s;
    merged.loop_turns += round->loop_turns;
    merged.sessions_never_connected += round->sessions_never_connected;
    merged.pipeline = std::max(merged.pipeline, round->pipeline);
    if (round->audit) AddAudit(*round->audit, &merged.audit);
    merged.generator_limited = merged.generator_limited || round->generator_limited;
    merged.lost_agent = merged.lost_agent || round->lost_agent;
    merged.complete = merged.complete && round->complete;
    merged.in_flight += round->in_flight;
    merged.round_figures.insert(merged.round_figures.end(), round->round_figures.begin(),
                                round->round_figures.end());
    for (const std::string& loop : round->loops) {
      if (std::find(merged.loops.begin(), merged.loops.end(), loop) == merged.loops.end()) {
        merged.loops.push_back(loop);
      }
    }
  }
  merged.totals = merged.merged_totals.get();
  merged.connect = merged.merged_connect.get();
  return merged;
}

std::vector<Result> Summarize(const std::vector<Result>& results, const v1::Workload& workload,
                              std::size_t operation_count) {
  using Order = std::pair<std::vector<std::size_t>, std::string>;
  std::map<Order, std::vector<const Result*>> groups;
  for (const Result& result : results) {
    const std::string key = LoadPointKey(result.step) + result.step.target();
    groups[{SpecOrder(result.step, workload), key}].push_back(&result);
  }
  std::vector<Result> summary;
  for (auto& [order, rounds] : groups) {
    std::stable_sort(rounds.begin(), rounds.end(), [](const Result* x, const Result* y) {
      return x->step.round() < y->step.round();
    });
    Result merged = MergeRounds(rounds, operation_count);
    Derive(&merged);
    summary.push_back(std::move(merged));
  }
  return summary;
}

RunStatus StatusOf(const Aggregator& run, const std::vector<Result>& results) {
  if (!run.ended()) return RunStatus::kPartial;
  switch (run.ended()->end()) {
    case v1::RUN_END_INTERRUPTED:
      return RunStatus::kInterrupted;
    case v1::RUN_END_COMPLETE:
    case v1::RUN_END_PARTIAL:
      break;
    default:
      return RunStatus::kFailed;
  }
  const bool whole = std::all_of(results.begin(), results.end(), [](const Result& result) {
    return result.complete && result.sessions_never_connected == 0;
  });
  const bool all_steps = results.size() == static_cast<std::size_t>(run.run().steps_size());
  const bool partial = run.ended()->end() == v1::RUN_END_PARTIAL || !whole || !all_steps;
  return partial ? RunStatus::kPartial : RunStatus::kComplete;
}

// Why a run that could be done is partial or not judged; "" if it is neither.
std::string WhyPartial(const Report& report) {
  const Aggregator& run = *report.run;
  for (const AgentView& agent : run.agents()) {
    // One that left before the run began and was replaced takes nothing away.
    if (agent.lost && report.status == RunStatus::kPartial)
      return fmt::format("agent {} was lost: {}", agent.name, agent.lost_reason);
  }
  for (const StepView& step : run.steps()) {
    for (const AgentStepView& part : step.agents) {
      if (part.faulty) {
        return fmt::format("agent {} sent what cannot be right in step {}", part.agent,
                           step.step.id());
      }
    }
  }
  for (const Result& point : report.summary) {
    if (point.sessions_never_connected > 0) {
      return fmt::format("{} sessions never connected ({})",
                         FormatCount(point.sessions_never_connected), StepLabel(point.step));
    }
  }
  for (const Result& result : report.results) {
    if (result.totals->TotalOperations()[Outcome::kOk] == 0) {
      return fmt::format("nothing succeeded ({}, round {})", StepLabel(result.step),
                         result.step.round());
    }
  }
  if (report.results.empty()) return "nothing was measured";
  if (!run.ended()) return "the coordinator did not end the run";
  if (report.status == RunStatus::kPartial) return "not every step is complete";
  if (run.run().strict() && report.generator_warning) {
    return "warnings about the generator, and --strict";
  }
  return "";
}

void SetExit(Report* report) {
  const auto set = [report](int status, std::string reason) {
    report->exit_status = status;
    report->exit_reason = std::move(reason);
  };
  const Aggregator& run = *report->run;
  if (report->status == RunStatus::kInterrupted) {
    return set(130, fmt::format("stopped on request; {} of {} steps were begun",
                                report->results.size(), run.run().steps_size()));
  }
  if (report->status == RunStatus::kFailed) {
    const Status status = wire::FromMessage(run.ended()->status());
    const int exit_status = status.code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
    return set(exit_status, status.ok() ? std::string("the run failed") : StatusText(status));
  }
  if (std::string why = WhyPartial(*report); !why.empty()) return set(4, std::move(why));
  const auto failed = std::find_if(report->thresholds.begin(), report->thresholds.end(),
                                   [](const ThresholdResult& result) { return !result.passed; });
  if (failed != report->thresholds.end()) {
    return set(3, fmt::format("threshold {}: {}", failed->expression, failed->shown));
  }
  set(0, "");
}

double RunSeconds(const Aggregator& run) {
  if (run.ended()) return static_cast<double>(run.ended()->duration_ns()) / kPerSecond;
  const std::int64_t wall = run.last_entry_wall_ns() - run.started_at_wall_ns();
  return static_cast<double>(std::max<std::int64_t>(wall, 0)) / kPerSecond;
}

}  // namespace

std::string_view RunStatusName(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete:
      return "complete";
    case RunStatus::kPartial:
      return "partial";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kFailed:
      break;
  }
  return "failed";
}

Report MakeReport(const Aggregator& run) {
  Report report;
  report.run = &run;
  if (!run.started()) return report;
  const v1::Workload& workload = run.run().workload();
  for (const StepView& step : run.steps()) report.results.push_back(MakeResult(step));
  report.summary = Summarize(report.results, workload, run.operation_names().size());
  report.comparison = Compare(workload, report.results, report.summary);
  report.thresholds =
      EvaluateThresholds({run.run().thresholds().begin(), run.run().thresholds().end()},
                         report.summary, workload, run.operation_names());
  report.status = StatusOf(run, report.results);
  report.duration_s = RunSeconds(run);
  for (const Finding& finding : FindWarnings(report)) {
    report.warnings.push_back(finding.text);
    report.generator_warning = report.generator_warning || finding.generator;
  }
  SetExit(&report);
  return report;
}

}  // namespace cavalry::report
