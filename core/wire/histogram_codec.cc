#include "core/wire/histogram_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace cavalry::wire {
namespace {

__extension__ using Wide = unsigned __int128;

// More samples than this no run can make (1e9 per second for 100 days); below it they are exact in
// a double, and sums of a few histograms stay within 64 bits.
constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 53;

// ZigZag LEB128-64b9B: 7 bits a byte, lowest first, but the ninth byte holds 8 (HdrHistogram,
// ZigZagEncoding).
constexpr std::size_t kMaxBytes = 9;

void AppendNumber(std::int64_t number, std::string* out) {
  auto rest = (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
  for (std::size_t i = 1; i < kMaxBytes && rest >= 0x80; ++i) {
    out->push_back(static_cast<char>((rest & 0x7f) | 0x80));
    rest >>= 7;
  }
  out->push_back(static_cast<char>(rest));
}

// Takes one number off the front of `bytes`. False when cut short or longer than it need be.
bool TakeNumber(std::string_view* bytes, std::int64_t* number) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min(bytes->size(), kMaxBytes); ++i) {
    const auto byte = static_cast<unsigned char>((*bytes)[i]);
    const bool is_ninth = i + 1 == kMaxBytes;
    value |= static_cast<std::uint64_t>(is_ninth ? byte : byte & 0x7f) << (7 * i);
    if (!is_ninth && byte >= 0x80) continue;
    if (i > 0 && byte == 0) return false;
    bytes->remove_prefix(i + 1);
    *number = static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    return true;
  }
  return false;
}

struct Bucket {
  std::size_t index;
  std::uint64_t count;
};

// The buckets in use, in order.
StatusOr<std::vector<Bucket>> ReadBuckets(std::string_view bytes) {
  std::vector<Bucket> buckets;
  buckets.reserve(std::min(bytes.size(), stats::kHistogramCounts));
  std::size_t index = 0;
  while (!bytes.empty()) {
    std::int64_t number = 0;
    if (!TakeNumber(&bytes, &number)) return DataLoss("histogram: malformed count");
    // A negative number stands for that many empty buckets. 0 for a single one is the Java
    // library's way.
    const std::uint64_t passed = number < 0 ? 0 - static_cast<std::uint64_t>(number) : 1;
    if (passed > stats::kHistogramCounts - index) {
      return DataLoss("histogram: more than {} buckets", stats::kHistogramCounts);
    }
    if (number > 0) buckets.push_back({index, static_cast<std::uint64_t>(number)});
    index += passed;
  }
  return buckets;
}

// What the buckets say of the exact figures beside them.
struct Bounds {
  std::uint64_t count = 0;
  std::uint64_t beyond = 0;
  // Smallest and largest sums that samples in these buckets, none above max, can have.
  Wide sum_low = 0;
  Wide sum_high = 0;
  double squares_low = 0;
  double squares_high = 0;
};

StatusOr<Bounds> BoundsOf(const std::vector<Bucket>& buckets, std::uint64_t max) {
  const std::size_t last_in_range = stats::HistogramBucketOf(stats::kHighestTrackable);
  Bounds bounds;
  for (const auto& [index, count] : buckets) {
    if (count > kMaxSamples - bounds.count) return DataLoss("histogram: too many samples");
    std::uint64_t low = stats::HistogramLowest(index);
    std::uint64_t high = std::min(max, stats::HistogramHighest(index));
    if (index > last_in_range) {
      if (index != stats::kTopBucket) {
        return DataLoss("histogram: bucket {} is out of range", index);
      }
      // Samples beyond the range have no upper bound but max.
      bounds.beyond = count;
      low = static_cast<std::uint64_t>(stats::kHighestTrackable) + 1;
      high = max;
    }
    bounds.count += count;
    bounds.sum_low += Wide{low} * count;
    bounds.sum_high += Wide{high} * count;
    const auto samples = static_cast<double>(count);
    bounds.squares_low += static_cast<double>(low) * static_cast<double>(low) * samples;
    bounds.squares_high += static_cast<double>(high) * static_cast<double>(high) * samples;
  }
  return bounds;
}

Status CheckEmpty(const v1::Histogram& message) {
  const bool empty = message.count() == 0 && message.min_ns() == 0 && message.max_ns() == 0 &&
                     message.sum_ns() == 0 && message.sum_squares() == 0 && message.beyond() == 0;
  if (!empty) return DataLoss("histogram: figures without counts");
  return absl::OkStatus();
}

Status CheckFigures(const v1::Histogram& message, const std::vector<Bucket>& buckets) {
  if (buckets.empty()) return DataLoss("histogram: counts without samples");
  CAVALRY_ASSIGN_OR_RETURN(const Bounds bounds, BoundsOf(buckets, message.max_ns()));
  if (message.count() != bounds.count) {
    return DataLoss("histogram: count {} but {} samples in buckets", message.count(), bounds.count);
  }
  if (message.beyond() != bounds.beyond) {
    return DataLoss("histogram: beyond {} but {} samples in the top bucket", message.beyond(),
                    bounds.beyond);
  }
  constexpr auto kHighest = static_cast<std::uint64_t>(std::numeric_limits<Nanos>::max());
  const std::uint64_t min = message.min_ns();
  const std::uint64_t max = message.max_ns();
  if (min < 1 || min > max || max > kHighest ||
      stats::HistogramBucketOf(static_cast<Nanos>(min)) != buckets.front().index ||
      stats::HistogramBucketOf(static_cast<Nanos>(max)) != buckets.back().index) {
    return DataLoss("histogram: min {} ns or max {} ns is not in the outermost buckets", min, max);
  }
  const Wide sum = message.sum_ns();
  const Wide others = bounds.count - 1;
  const Wide low = std::max(bounds.sum_low, Wide{min} * others + max);
  const Wide high = std::min(bounds.sum_high, Wide{max} * others + min);
  if (sum < low || sum > high) {
    return DataLoss("histogram: sum {} ns does not fit the buckets", message.sum_ns());
  }
  // Rounding errors of a long sum of squares grow with its length; this is far above them.
  constexpr double kTolerance = 1e-6;
  const double squares = message.sum_squares();
  if (!std::isfinite(squares) || squares < bounds.squares_low * (1 - kTolerance) ||
      squares > bounds.squares_high * (1 + kTolerance)) {
    return DataLoss("histogram: the sum of squares does not fit the buckets");
  }
  return absl::OkStatus();
}

Status CheckRoom(const v1::Histogram& message, const stats::LatencyHistogram& histogram) {
  constexpr std::uint64_t kMaxSum = std::numeric_limits<std::uint64_t>::max();
  if (histogram.count() > kMaxSamples - message.count() ||
      message.sum_ns() > kMaxSum - histogram.sum()) {
    return DataLoss("histogram: too many samples in all");
  }
  return absl::OkStatus();
}

}  // namespace

template <typename Count>
std::string EncodeCounts(const stats::BasicLatencyHistogram<Count>& histogram) {
  std::string bytes;
  if (histogram.count() == 0) return bytes;
  const std::size_t last = histogram.last_used();
  // All below the first are zeros, which need no look.
  std::int64_t zeros = static_cast<std::int64_t>(histogram.first_used());
  for (std::size_t i = histogram.first_used(); i <= last; ++i) {
    const auto count = static_cast<std::int64_t>(histogram.count_at(i));
    if (count == 0) {
      ++zeros;
      continue;
    }
    if (zeros > 0) AppendNumber(-zeros, &bytes);
    zeros = 0;
    AppendNumber(count, &bytes);
  }
  return bytes;
}

template <typename Count>
void ToMessage(const stats::BasicLatencyHistogram<Count>& histogram, v1::Histogram* message) {
  message->Clear();
  if (histogram.count() == 0) return;
  message->set_counts(EncodeCounts(histogram));
  message->set_count(histogram.count());
  message->set_min_ns(static_cast<std::uint64_t>(histogram.min()));
  message->set_max_ns(static_cast<std::uint64_t>(histogram.max()));
  message->set_sum_ns(histogram.sum());
  message->set_sum_squares(histogram.sum_squares());
  message->set_beyond(histogram.beyond());
}

Status AddMessage(const v1::Histogram& message, stats::LatencyHistogram* histogram) {
  if (message.counts().empty()) return CheckEmpty(message);
  CAVALRY_ASSIGN_OR_RETURN(const std::vector<Bucket> buckets, ReadBuckets(message.counts()));
  CAVALRY_RETURN_IF_ERROR(CheckFigures(message, buckets));
  CAVALRY_RETURN_IF_ERROR(CheckRoom(message, *histogram));
  auto min = static_cast<Nanos>(message.min_ns());
  auto max = static_cast<Nanos>(message.max_ns());
  // AddAtIndex moves them by whole buckets, so what is there already is asked first.
  if (histogram->count() > 0) {
    min = std::min(min, histogram->min());
    max = std::max(max, histogram->max());
  }
  const std::uint64_t sum = histogram->sum() + message.sum_ns();
  const double sum_squares = histogram->sum_squares() + message.sum_squares();
  for (const auto& [index, count] : buckets) histogram->AddAtIndex(index, count);
  histogram->SetExact(min, max, sum, sum_squares);
  return absl::OkStatus();
}

template std::string EncodeCounts(const stats::BasicLatencyHistogram<std::uint32_t>& histogram);
template std::string EncodeCounts(const stats::BasicLatencyHistogram<std::uint64_t>& histogram);
template void ToMessage(const stats::BasicLatencyHistogram<std::uint32_t>& histogram,
                        v1::Histogram* message);
template void ToMessage(const stats::BasicLatencyHistogram<std::uint64_t>& histogram,
                        v1::Histogram* message);

}  // namespace cavalry::wire
