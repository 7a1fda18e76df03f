// A latency histogram that holds only the buckets in use: a few KiB instead of 264, for what is
// kept by the second or by the agent. Same buckets and percentiles as stats::LatencyHistogram. One
// thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/stats/latency_histogram.h"

namespace cavalry::report {

class SparseHistogram {
 public:
  // Adds all samples of another. Commutes.
  void Add(const stats::LatencyHistogram& other);
  void Add(const SparseHistogram& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  Nanos min() const { return count_ ? min_ : 0; }  // exact; 0 without samples
  Nanos max() const { return max_; }               // exact; 0 without samples

  // As LatencyHistogram::Percentile. REQUIRES: 0 <= percent <= 100.
  Nanos Percentile(double percent) const;

  // Bucket by bucket, and the exact figures; not the sum of squares, whose last digits depend on
  // the order of adding.
  bool SameSamples(const SparseHistogram& other) const;

 private:
  using Bucket = std::pair<std::uint32_t, std::uint64_t>;  // index, count; sorted by index

  void AddBuckets(const std::vector<Bucket>& other);
  void AddExact(std::uint64_t count, std::uint64_t sum, std::uint64_t beyond, Nanos min, Nanos max);

  std::vector<Bucket> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t beyond_ = 0;
  Nanos min_ = 0;
  Nanos max_ = 0;
};

}  // namespace cavalry::report
