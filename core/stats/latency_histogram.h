// Latencies in nanoseconds in exactly HdrHistogram's buckets: lowest 1 ns, highest 1 h, 3
// significant digits (33,792 counts). One writer; readers only when the writer has handed it over.
// Exact minimum, maximum, sum and sum of squares are kept beside the buckets. Source: HdrHistogram,
// AbstractHistogram.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/clock.h"

namespace cavalry::stats {

inline constexpr Nanos kHighestTrackable = 3'600 * kSecond;
inline constexpr std::size_t kHistogramCounts = 33'792;
// Where samples beyond kHighestTrackable are counted; no other sample is there.
inline constexpr std::size_t kTopBucket = kHistogramCounts - 1;

// Index of the bucket of a value in [0, kHighestTrackable]. 2,048 sub-buckets hold three digits;
// each further power of two has 1,024 of them.
inline std::size_t HistogramIndex(std::uint64_t value) {
  const int shift = 53 - std::countl_zero(value | 2'047);
  return (static_cast<std::size_t>(shift) << 10) + static_cast<std::size_t>(value >> shift);
}
// Smallest and largest value of a bucket, which is 2^shift wide. REQUIRES: index <
// kHistogramCounts.
inline int HistogramShift(std::size_t index) {
  return index < 1'024 ? 0 : static_cast<int>(index >> 10) - 1;
}
inline std::uint64_t HistogramLowest(std::size_t index) {
  return index < 1'024 ? index : ((index & 1'023) + 1'024) << HistogramShift(index);
}
inline std::uint64_t HistogramHighest(std::size_t index) {
  return HistogramLowest(index) + (std::uint64_t{1} << HistogramShift(index)) - 1;
}

// The bucket that a latency of at least 1 is counted in: its own, or the top one.
inline std::size_t HistogramBucketOf(Nanos latency) {
  if (latency > kHighestTrackable) [[unlikely]] {
    return kTopBucket;
  }
  return HistogramIndex(static_cast<std::uint64_t>(latency));
}

// Which of `count` samples, in ascending order and numbered from 1, is the percentile: all
// percentiles of latencies use this rank. REQUIRES: 0 <= percent <= 100, count > 0.
std::uint64_t PercentileRank(double percent, std::uint64_t count);

// Count is uint32_t for one interval of one worker, uint64_t for anything merged.
template <typename Count>
class BasicLatencyHistogram {
 public:
  BasicLatencyHistogram() : counts_(kHistogramCounts) {}

  // Records one latency. Values below 1 count as 1. Values above kHighestTrackable go to the top
  // bucket and are counted in beyond(), never lost; min, max and sum keep the true value.
  void Record(Nanos latency) {
    latency = std::max<Nanos>(latency, 1);
    const auto value = static_cast<double>(latency);
    ++counts_[HistogramBucketOf(latency)];
    ++count_;
    sum_ += static_cast<std::uint64_t>(latency);
    sum_squares_ += value * value;
    min_ = std::min(min_, latency);
    max_ = std::max(max_, latency);
  }

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
  std::uint64_t beyond() const { return counts_[kTopBucket]; }
  double mean() const;    // 0 without samples
  double stddev() const;  // population; 0 without samples

  // The value that `percent` of the samples do not exceed (99 for p99; 0 gives min, 100 max): the
  // highest value of the bucket, clamped to the exact [min, max]. 0 without samples.
  // REQUIRES: 0 <= percent <= 100.
  Nanos Percentile(double percent) const;

  Count count_at(std::size_t index) const { return counts_[index]; }
  // Range of buckets in use, [first, last]; empty (first > last) without samples. They follow from
  // min and max, so that Record need not keep them.
  std::size_t first_used() const { return count_ ? HistogramBucketOf(min_) : kHistogramCounts; }
  std::size_t last_used() const { return count_ ? HistogramBucketOf(max_) : 0; }

  // For the decoder: adds `count` samples to one bucket, as if each were its lowest value; SetExact
  // then states the rest (its min and max must be in the first and last used bucket). The decoder
  // checks them against each other first. REQUIRES: 1 <= index < kHistogramCounts, count > 0.
  void AddAtIndex(std::size_t index, std::uint64_t count);
  void SetExact(Nanos min, Nanos max, std::uint64_t sum, double sum_squares);

 private:
  template <typename Other>
  friend class BasicLatencyHistogram;

  static constexpr Nanos kNoMin = std::numeric_limits<Nanos>::max();

  std::vector<Count> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  double sum_squares_ = 0;
  Nanos min_ = kNoMin;
  Nanos max_ = 0;
};

extern template class BasicLatencyHistogram<std::uint32_t>;
extern template class BasicLatencyHistogram<std::uint64_t>;

using LatencyHistogram = BasicLatencyHistogram<std::uint64_t>;
using IntervalHistogram = BasicLatencyHistogram<std::uint32_t>;

}  // namespace cavalry::stats
