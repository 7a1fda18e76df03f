#include "core/stats/summary.h"

namespace cavalry::stats {

std::optional<LatencySummary> Summarize(const LatencyHistogram* histogram) {
  if (histogram == nullptr || histogram->count() == 0) return std::nullopt;
  constexpr double kPerMicrosecond = kMicrosecond;
  const auto percentile = [histogram](double percent) {
    return static_cast<double>(histogram->Percentile(percent)) / kPerMicrosecond;
  };
  LatencySummary summary{};
  summary.count = histogram->count();
  summary.min = static_cast<double>(histogram->min()) / kPerMicrosecond;
  summary.mean = histogram->mean() / kPerMicrosecond;
  summary.stddev = histogram->stddev() / kPerMicrosecond;
  summary.p50 = percentile(50);
  summary.p75 = percentile(75);
  summary.p90 = percentile(90);
  summary.p95 = percentile(95);
  summary.p99 = percentile(99);
  summary.p99_9 = percentile(99.9);
  summary.p99_99 = percentile(99.99);
  summary.max = static_cast<double>(histogram->max()) / kPerMicrosecond;
  return summary;
}

}  // namespace cavalry::stats
