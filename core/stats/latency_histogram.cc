#include "core/stats/latency_histogram.h"

#include <cmath>

#include "core/base/check.h"

namespace cavalry::stats {
std::uint64_t PercentileRank(double percent, std::uint64_t count) {
  // 99.9 % of 1,000 samples is the 999th; in binary the product comes out a hair above 999, which
  // must not round up to the 1,000th. Its error is at most 3 roundings.
  constexpr double kRounding = 4 * 0x1.0p-53;
  const double exact = percent / 100 * static_cast<double>(count) * (1 - kRounding);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact)), 1, count);
}

template <typename Count>
template <typename Other>
void BasicLatencyHistogram<Count>::Add(const BasicLatencyHistogram<Other>& other) {
  if (other.count_ == 0) return;
  const std::size_t last = other.last_used();
  for (std::size_t i = other.first_used(); i <= last; ++i) {
    counts_[i] += static_cast<Count>(other.counts_[i]);
  }
  count_ += other.count_;
  sum_ += other.sum_;
  sum_squares_ += other.sum_squares_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

template <typename Count>
void BasicLatencyHistogram<Count>::Clear() {
  if (count_ == 0) return;
  const auto begin = counts_.begin();
  std::fill(begin + static_cast<std::ptrdiff_t>(first_used()),
            begin + static_cast<std::ptrdiff_t>(last_used()) + 1, Count{0});
  count_ = 0;
  sum_ = 0;
  sum_squares_ = 0;
  min_ = kNoMin;
  max_ = 0;
}

template <typename Count>
double BasicLatencyHistogram<Count>::mean() const {
  if (count_ == 0) return 0;
  return static_cast<double>(sum_) / static_cast<double>(count_);
}

template <typename Count>
double BasicLatencyHistogram<Count>::stddev() const {
  if (count_ == 0) return 0;
  const double average = mean();
  const double variance = sum_squares_ / static_cast<double>(count_) - average * average;
  // Rounding can leave a constant series a little below zero.
  return std::sqrt(std::max(variance, 0.0));
}

template <typename Count>
Nanos BasicLatencyHistogram<Count>::Percentile(double percent) const {
  CAVALRY_CHECK(percent >= 0 && percent <= 100);
  if (count_ == 0) return 0;
  if (percent <= 0) return min_;
  if (percent >= 100) return max_;
  const std::uint64_t rank = PercentileRank(percent, count_);
  std::uint64_t seen = 0;
  const std::size_t last = last_used();
  for (std::size_t i = first_used(); i < last; ++i) {
    seen += counts_[i];
    // Clamped, so that no bucket's edge is reported outside of what was measured.
    if (seen >= rank) return std::clamp(static_cast<Nanos>(HistogramHighest(i)), min_, max_);
  }
  // The last bucket in use, of which the highest sample is known.
  return max_;
}

template <typename Count>
void BasicLatencyHistogram<Count>::AddAtIndex(std::size_t index, std::uint64_t count) {
  CAVALRY_CHECK(index >= 1 && index < kHistogramCounts);
  CAVALRY_CHECK(count > 0);
  counts_[index] += static_cast<Count>(count);
  count_ += count;
  const auto lowest = static_cast<Nanos>(HistogramLowest(index));
  min_ = std::min(min_, lowest);
  max_ = std::max(max_, lowest);
}

template <typename Count>
void BasicLatencyHistogram<Count>::SetExact(Nanos min, Nanos max, std::uint64_t sum,
                                            double sum_squares) {
  CAVALRY_CHECK(count_ > 0 && min >= 1 && min <= max);
  CAVALRY_CHECK(HistogramBucketOf(min) == HistogramBucketOf(min_));
  CAVALRY_CHECK(HistogramBucketOf(max) == HistogramBucketOf(max_));
  min_ = min;
  max_ = max;
  sum_ = sum;
  sum_squares_ = sum_squares;
}

template class BasicLatencyHistogram<std::uint32_t>;
template class BasicLatencyHistogram<std::uint64_t>;
template void BasicLatencyHistogram<std::uint32_t>::Add(
    const BasicLatencyHistogram<std::uint32_t>& other);
template void BasicLatencyHistogram<std::uint64_t>::Add(
    const BasicLatencyHistogram<std::uint32_t>& other);
template void BasicLatencyHistogram<std::uint64_t>::Add(
    const BasicLatencyHistogram<std::uint64_t>& other);

}  // namespace cavalry::stats
