// Whether a run's results keep its thresholds, per target and load point with rounds merged. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/report/report.h"
#include "coordinator/report/thresholds.h"

namespace cavalry::report {

// The figure a threshold is about, in the unit of its bound: us, fraction, per second. Nothing
// without samples.
std::optional<double> ThresholdValue(const Threshold& threshold, const Result& result,
                                     const v1::Workload& workload,
                                     const std::vector<std::string>& operation_names);

// By expression in the order given, within one the worst first: failed ones, then those nearest to
// their bound. One without samples fails, and so does one that no target answers to. An expression
// that cannot be parsed is a failed threshold: the spec's check would have refused it.
std::vector<ThresholdResult> EvaluateThresholds(const std::vector<std::string>& expressions,
                                                const std::vector<Result>& summary,
                                                const v1::Workload& workload,
                                                const std::vector<std::string>& operation_names);

}  // namespace cavalry::report
