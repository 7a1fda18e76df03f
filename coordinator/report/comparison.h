// Ratios between targets over paired rounds, and the sentence that states them. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "coordinator/report/report.h"

namespace cavalry::report {

// The figure of one round that a metric compares, in us or per second; nothing without samples.
std::optional<double> MetricFigure(const Result& result, v1::Metric metric);

// Each target of `compare` against the first, at each load point of `summary`. Rounds that the
// generator limited, that lost an agent or are not complete are left out, and the verdict says so.
std::vector<Comparison> Compare(const v1::Workload& workload, const std::vector<Result>& results,
                                const std::vector<Result>& summary);

}  // namespace cavalry::report
