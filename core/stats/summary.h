// The figures of a report that follow from a merged histogram. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/stats/latency_histogram.h"

namespace cavalry::stats {

// In microseconds. Only made of a histogram with samples, so that no figure is ever invented.
struct LatencySummary {
  std::uint64_t count;
  double min, mean, stddev, p50, p75, p90, p95, p99, p99_9, p99_99, max;
};

// Nothing for a null or empty histogram.
std::optional<LatencySummary> Summarize(const LatencyHistogram* histogram);

}  // namespace cavalry::stats
