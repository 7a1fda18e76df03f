// Latencies in nanoseconds in exactly HdrHistogram's buckets: lowest 1 ns, highest 1 h, 3
// significant digits (33,792 counts). One writer; readers only when the writer has handed it over.
// Exact minimum, maximum, sum and sum of squares are kept beside the buckets. Source: HdrHistogram,
// AbstractHistogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/clock.h"

namespace cavalry::stats {

inline constexpr Nanos kHighestTrackable = 3'600 * kSecond;
inline constexpr std::size_t kHistogramCounts = 33'792;

// Index of the bucket of a value in [0, kHighestTrackable].
std::size_t HistogramIndex(std::uint64_t value);
// Smallest and largest value of a bucket.
std::uint64_t HistogramLowest(std::size_t index);
std::uint64_t HistogramHighest(std::size_t index);

// Count is uint32_t for one interval of one worker, uint64_t for anything merged.
template <typename Count>
class BasicLatencyHistogram {
 public:
  BasicLatencyHistogram() : counts_(kHistogramCounts) {}

  // Records one latency. Values below 1 count as 1. Values above kHighestTrackable go to the top
  // bucket and are counted in beyond(), never lost; min, max and sum keep the true value.
  void Record(Nanos latency);

  // Adds all samples of another. Commutes.
  template <typename Other>
  void Add(const BasicLatencyHistogram<Other>& other);

  // Forgets all; touches only the range of buckets that was used.
  void Clear();

  std::uint64_t count() const { return count_; }
  Nanos min() const { return count_ ? min_ : 0; }  // exact; 0 without samples
  Nanos max() const { return max_; }               // exact; 0 without samples
  std::uint64_t sum() const { return sum_; }
  double sum_squares() const { return sum_squares_; }
  std::uint64_t beyond() const { return beyond_; }
  double mean() const;    // 0 without samples
  double stddev() const;  // population; 0 without samples

  // The value that `percent` of the samples do not exceed (99 for p99; 0 gives min, 100 max): the
  // highest value of the bucket, clamped to the exact [min, max]. 0 without samples.
  // REQUIRES: 0 <= percent <= 100.
  Nanos Percentile(double percent) const;

  Count count_at(std::size_t index) const { return counts_[index]; }
  // Range of buckets in use, [first, last]; empty (first > last) without samples.
  std::size_t first_used() const { return first_used_; }
  std::size_t last_used() const { return last_used_; }

  // For the decoder: adds `count` samples to one bucket; SetExact then states the rest. The decoder
  // checks them against each other first.
  void AddAtIndex(std::size_t index, std::uint64_t count);
  void SetExact(Nanos min, Nanos max, std::uint64_t sum, double sum_squares, std::uint64_t beyond);

 private:
  template <typename Other>
  friend class BasicLatencyHistogram;

  std::vector<Count> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  double sum_squares_ = 0;
  std::uint64_t beyond_ = 0;
  Nanos min_ = 0;
  Nanos max_ = 0;
  std::size_t first_used_ = kHistogramCounts;
  std::size_t last_used_ = 0;
};

extern template class BasicLatencyHistogram<std::uint32_t>;
extern template class BasicLatencyHistogram<std::uint64_t>;

using LatencyHistogram = BasicLatencyHistogram<std::uint64_t>;
using IntervalHistogram = BasicLatencyHistogram<std::uint32_t>;

}  // namespace cavalry::stats
