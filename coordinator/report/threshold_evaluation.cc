#include "coordinator/report/threshold_evaluation.h"

#include <algorithm>
#include <cmath>

#include "coordinator/report/load_point.h"
#include "core/base/units.h"

namespace cavalry::report {
namespace {

// What a threshold's subject selects of a result.
struct Selection {
  const stats::LatencyHistogram* latency = nullptr;
  stats::OperationCounters ops;
  bool counts_iterations = false;  // throughput and failed of a named script
};

std::optional<Selection> Select(const std::string& subject, const Result& result,
                                const v1::Workload& workload,
                                const std::vector<std::string>& operation_names) {
  const stats::StatsTotals& totals = *result.totals;
  const auto named = std::find(operation_names.begin(), operation_names.end(), subject);
  if (!subject.empty() && named != operation_names.end()) {
    const auto& operation =
        totals.operations[static_cast<std::size_t>(named - operation_names.begin())];
    return Selection{operation.histograms.Get(Outcome::kOk), operation.counters, false};
  }
  if (!subject.empty() && subject != ScriptName(workload)) return std::nullopt;
  return Selection{totals.Response(), totals.TotalOperations(), !subject.empty()};
}

std::optional<double> Share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<double> LatencyFigure(const Threshold& threshold,
                                    const stats::LatencyHistogram* latency) {
  if (latency == nullptr || latency->count() == 0) return std::nullopt;
  constexpr double kPerMicrosecond = kMicrosecond;
  switch (threshold.metric) {
    case Threshold::Metric::kMean:
      return latency->mean() / kPerMicrosecond;
    case Threshold::Metric::kMax:
      return static_cast<double>(latency->max()) / kPerMicrosecond;
    default:
      return static_cast<double>(latency->Percentile(threshold.percentile)) / kPerMicrosecond;
  }
}

std::optional<double> Throughput(const Selection& selection, const Result& result) {
  if (result.duration_s <= 0) return std::nullopt;
  const std::uint64_t ok =
      selection.counts_iterations ? result.totals->iterations.ok : selection.ops[Outcome::kOk];
  return static_cast<double>(ok) / result.duration_s;
}

std::optional<double> FailedShare(const Selection& selection, const Result& result) {
  if (!selection.counts_iterations) {
    return Share(selection.ops.failed(), selection.ops.attempted);
  }
  const stats::IterationCounters& iterations = result.totals->iterations;
  return Share(iterations.failed + iterations.dropped + iterations.abandoned, iterations.attempted);
}

std::string Shown(const Threshold& threshold, const std::optional<double>& value) {
  if (!value) return "no samples";
  switch (threshold.metric) {
    case Threshold::Metric::kThroughput:
      return fmt::format("{}/s", FormatFigure(*value));
    case Threshold::Metric::kReached:
    case Threshold::Metric::kFailed:
    case Threshold::Metric::kMiss:
      return fmt::format("{:.3g} %", *value * 100);
    case Threshold::Metric::kLost:
      return FormatCount(static_cast<std::uint64_t>(*value));
    default:
      break;
  }
  if (*value >= 1000) return fmt::format("{} ms", FormatFigure(*value / 1000));
  return fmt::format("{} us", FormatFigure(*value));
}

// How near to its bound a value is: the larger the worse.
double Badness(const Threshold& threshold, const ThresholdResult& result) {
  if (!result.value) return HUGE_VAL;
  switch (threshold.comparator) {
    case Threshold::Comparator::kGreater:
    case Threshold::Comparator::kGreaterEqual:
      return -*result.value;
    case Threshold::Comparator::kLess:
    case Threshold::Comparator::kLessEqual:
      return *result.value;
    default:
      return std::abs(*result.value - threshold.bound);
  }
}

}  // namespace

std::optional<double> ThresholdValue(const Threshold& threshold, const Result& result,
                                     const v1::Workload& workload,
                                     const std::vector<std::string>& operation_names) {
  const auto selection = Select(threshold.subject, result, workload, operation_names);
  if (!selection) return std::nullopt;
  switch (threshold.metric) {
    case Threshold::Metric::kThroughput:
      return Throughput(*selection, result);
    case Threshold::Metric::kReached:
      return std::nullopt;  // a closed loop asks no rate
    case Threshold::Metric::kFailed:
      return FailedShare(*selection, result);
    case Threshold::Metric::kMiss:
      return Share(selection->ops[Outcome::kMiss], selection->ops.attempted);
    case Threshold::Metric::kLost:
      if (!result.audit) return std::nullopt;
      return static_cast<double>(result.audit->lost());
    case Threshold::Metric::kMean:
    case Threshold::Metric::kMax:
    case Threshold::Metric::kPercentile:
      return LatencyFigure(threshold, selection->latency);
  }
  return std::nullopt;
}

std::vector<ThresholdResult> EvaluateThresholds(const std::vector<std::string>& expressions,
                                                const std::vector<Result>& summary,
                                                const v1::Workload& workload,
                                                const std::vector<std::string>& operation_names) {
  std::vector<ThresholdResult> all;
  for (const std::string& expression : expressions) {
    const auto threshold = ParseThreshold(expression);
    if (!threshold.ok()) {
      ThresholdResult& bad = all.emplace_back();
      bad.expression = expression;
      bad.shown = StatusText(threshold.status());
      continue;
    }
    std::vector<ThresholdResult> results;
    for (const Result& point : summary) {
      if (!threshold->target.empty() && threshold->target != point.step.target()) continue;
      ThresholdResult& result = results.emplace_back();
      result.expression = expression;
      result.target = point.step.target();
      result.step = point.step;
      result.value = ThresholdValue(*threshold, point, workload, operation_names);
      result.passed = result.value && Holds(*threshold, *result.value);
      result.shown = Shown(*threshold, result.value);
    }
    if (results.empty()) {
      ThresholdResult& none = results.emplace_back();
      none.expression = expression;
      none.target = threshold->target;
      none.shown = Shown(*threshold, std::nullopt);
    }
    std::stable_sort(results.begin(), results.end(), [&](const auto& x, const auto& y) {
      if (x.passed != y.passed) return !x.passed;
      return Badness(*threshold, x) > Badness(*threshold, y);
    });
    std::move(results.begin(), results.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace cavalry::report
