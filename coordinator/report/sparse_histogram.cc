#include "coordinator/report/sparse_histogram.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace cavalry::report {

void SparseHistogram::Add(const stats::LatencyHistogram& other) {
  if (other.count() == 0) return;
  std::vector<Bucket> used;
  for (std::size_t index = other.first_used(); index <= other.last_used(); ++index) {
    if (const std::uint64_t count = other.count_at(index); count != 0) {
      used.emplace_back(static_cast<std::uint32_t>(index), count);
    }
  }
  AddBuckets(used);
  AddExact(other.count(), other.sum(), other.beyond(), other.min(), other.max());
}

void SparseHistogram::Add(const SparseHistogram& other) {
  if (other.count_ == 0) return;
  AddBuckets(std::vector<Bucket>(other.buckets_));
  AddExact(other.count_, other.sum_, other.beyond_, other.min_, other.max_);
}

void SparseHistogram::AddBuckets(const std::vector<Bucket>& other) {
  std::vector<Bucket> merged;
  merged.reserve(buckets_.size() + other.size());
  auto mine = buckets_.begin();
  for (const Bucket& bucket : other) {
    while (mine != buckets_.end() && mine->first < bucket.first) merged.push_back(*mine++);
    if (mine != buckets_.end() && mine->first == bucket.first) {
      merged.emplace_back(bucket.first, mine++->second + bucket.second);
    } else {
      merged.push_back(bucket);
    }
  }
  merged.insert(merged.end(), mine, buckets_.end());
  buckets_ = std::move(merged);
}

void SparseHistogram::AddExact(std::uint64_t count, std::uint64_t sum, std::uint64_t beyond,
                               Nanos min, Nanos max) {
  min_ = count_ == 0 ? min : std::min(min_, min);
  max_ = std::max(max_, max);
  count_ += count;
  sum_ += sum;
  beyond_ += beyond;
}

Nanos SparseHistogram::Percentile(double percent) const {
  CAVALRY_CHECK(percent >= 0 && percent <= 100);
  if (count_ == 0) return 0;
  if (percent <= 0) return min_;
  if (percent >= 100) return max_;
  // The same rank as LatencyHistogram takes, rounding included, so that the two never differ.
  constexpr double kRounding = 4 * 0x1.0p-53;
  const double exact = percent / 100 * static_cast<double>(count_) * (1 - kRounding);
  const auto rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact)), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i + 1 < buckets_.size(); ++i) {
    seen += buckets_[i].second;
    if (seen < rank) continue;
    return std::clamp(static_cast<Nanos>(stats::HistogramHighest(buckets_[i].first)), min_, max_);
  }
  return max_;
}

bool SparseHistogram::SameSamples(const SparseHistogram& other) const {
  return buckets_ == other.buckets_ && count_ == other.count_ && sum_ == other.sum_ &&
         beyond_ == other.beyond_ && min_ == other.min_ && max_ == other.max_;
}

}  // namespace cavalry::report
