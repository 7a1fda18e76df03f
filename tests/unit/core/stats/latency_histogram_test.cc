#include "core/stats/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry::stats {
namespace {

constexpr Nanos kHour = kHighestTrackable;

// The sample of a rank counted with exact whole numbers: what a percentile must come close to.
Nanos ExactPercentile(std::vector<Nanos> samples, std::uint64_t per_100k) {
  std::sort(samples.begin(), samples.end());
  const std::uint64_t rank = (samples.size() * per_100k + 99'999) / 100'000;
  return samples[std::max<std::uint64_t>(rank, 1) - 1];
}

template <typename Count>
void ExpectSame(const BasicLatencyHistogram<Count>& a, const LatencyHistogram& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.min(), b.min());
  EXPECT_EQ(a.max(), b.max());
  EXPECT_EQ(a.sum(), b.sum());
  EXPECT_DOUBLE_EQ(a.sum_squares(), b.sum_squares());
  EXPECT_EQ(a.beyond(), b.beyond());
  for (std::size_t i = 0; i < kHistogramCounts; ++i) ASSERT_EQ(a.count_at(i), b.count_at(i)) << i;
}

TEST(BucketTest, LayoutIsThatOfHdrHistogram) {
  std::ifstream file(CAVALRY_SOURCE_DIR "/tests/unit/core/vectors/hdr_buckets.txt");
  std::uint64_t value, lowest, highest;
  std::size_t index;
  int lines = 0;
  for (; file >> value >> index >> lowest >> highest; ++lines) {
    ASSERT_EQ(HistogramIndex(value), index) << value;
    ASSERT_EQ(HistogramLowest(index), lowest) << value;
    ASSERT_EQ(HistogramHighest(index), highest) << value;
  }
  EXPECT_GT(lines, 600);
}

TEST(BucketTest, BucketsMeetWithoutGapOrOverlap) {
  EXPECT_EQ(HistogramLowest(0), 0u);
  for (std::size_t i = 0; i < kHistogramCounts; ++i) {
    const std::uint64_t lowest = HistogramLowest(i);
    const std::uint64_t highest = HistogramHighest(i);
    ASSERT_LE(lowest, highest);
    ASSERT_EQ(HistogramIndex(lowest), i);
    ASSERT_EQ(HistogramIndex(highest), i);
    // Three digits: a bucket is never wider than a thousandth of its values.
    ASSERT_LE((highest - lowest) * 1'000, lowest) << i;
    if (i + 1 < kHistogramCounts) {
      ASSERT_EQ(HistogramLowest(i + 1), highest + 1) << i;
    }
  }
}

TEST(BucketTest, KnownWidths) {
  const auto width = [](std::uint64_t value) {
    const std::size_t index = HistogramIndex(value);
    return HistogramHighest(index) - HistogramLowest(index) + 1;
  };
  EXPECT_EQ(width(1), 1u);
  EXPECT_EQ(width(2'047), 1u);
  EXPECT_EQ(width(2'048), 2u);
  EXPECT_EQ(width(8'192), 8u);
  EXPECT_EQ(width(10'000), 8u);
  EXPECT_EQ(HistogramLowest(HistogramIndex(10'007)), 10'000u);
  EXPECT_EQ(HistogramBucketOf(kHour), HistogramIndex(static_cast<std::uint64_t>(kHour)));
  EXPECT_EQ(HistogramBucketOf(kHour + 1), kTopBucket);
  EXPECT_LT(HistogramBucketOf(kHour), kTopBucket);
}

TEST(HistogramTest, EmptyHasNoFigures) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.stddev(), 0);
  EXPECT_EQ(histogram.Percentile(0), 0);
  EXPECT_EQ(histogram.Percentile(99), 0);
  EXPECT_GT(histogram.first_used(), histogram.last_used());
}

TEST(HistogramTest, KeepsExactFiguresBesideTheBuckets) {
  IntervalHistogram histogram;
  for (const Nanos latency : {100'003, 200'005, 300'007}) histogram.Record(latency);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.min(), 100'003);
  EXPECT_EQ(histogram.max(), 300'007);
  EXPECT_EQ(histogram.sum(), 600'015u);
  EXPECT_DOUBLE_EQ(histogram.mean(), 200'005);
  EXPECT_NEAR(histogram.stddev(), 100'002 * std::sqrt(2.0 / 3), 1e-3);
  EXPECT_EQ(histogram.first_used(), HistogramIndex(100'003));
  EXPECT_EQ(histogram.last_used(), HistogramIndex(300'007));
}

TEST(HistogramTest, StddevOfEqualSamplesIsZero) {
  LatencyHistogram histogram;
  for (int i = 0; i < 1'000; ++i) histogram.Record(123'456'789);
  EXPECT_EQ(histogram.stddev(), 0);
}

TEST(HistogramTest, NothingBelowOneIsLost) {
  LatencyHistogram histogram;
  histogram.Record(0);
  histogram.Record(-5);
  histogram.Record(std::numeric_limits<Nanos>::min());
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.count_at(1), 3u);
  EXPECT_EQ(histogram.min(), 1);
  EXPECT_EQ(histogram.sum(), 3u);
}

TEST(HistogramTest, NothingBeyondTheRangeIsLost) {
  IntervalHistogram histogram;
  histogram.Record(kHour);
  EXPECT_EQ(histogram.beyond(), 0u);
  histogram.Record(kHour + 1);
  histogram.Record(2 * kHour);
  histogram.Record(std::numeric_limits<Nanos>::max() / 4);
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.beyond(), 3u);
  EXPECT_EQ(histogram.max(), std::numeric_limits<Nanos>::max() / 4);
  EXPECT_EQ(histogram.Percentile(100), histogram.max());
  EXPECT_EQ(
      histogram.Percentile(1),
      static_cast<Nanos>(HistogramHighest(HistogramIndex(static_cast<std::uint64_t>(kHour)))));
  EXPECT_GT(histogram.Percentile(50), kHour);
}

TEST(HistogramTest, OneSampleBeyondTheRangeIsEveryPercentile) {
  LatencyHistogram histogram;
  histogram.Record(3 * kHour);
  for (const double percent : {0.0, 50.0, 99.0, 100.0}) {
    EXPECT_EQ(histogram.Percentile(percent), 3 * kHour);
  }
}

TEST(HistogramTest, ClearForgetsAll) {
  IntervalHistogram histogram;
  for (const Nanos latency : {1L, 2'000L, kHour, 2 * kHour}) histogram.Record(latency);
  histogram.Clear();
  ExpectSame(histogram, LatencyHistogram());
  histogram.Clear();
  histogram.Record(7'000);
  LatencyHistogram fresh;
  fresh.Record(7'000);
  ExpectSame(histogram, fresh);
}

TEST(PercentileTest, IsWithinAThousandthOfExact) {
  std::mt19937_64 random(11);
  for (const int size : {1, 2, 3, 5, 10, 99, 100, 101, 1'000, 20'000}) {
    std::lognormal_distribution<double> latencies(11, 1.5);
    LatencyHistogram histogram;
    std::vector<Nanos> samples;
    for (int i = 0; i < size; ++i) {
      samples.push_back(static_cast<Nanos>(latencies(random)) + 1);
      histogram.Record(samples.back());
    }
    for (const std::uint64_t per_100k : {1'000u, 10'000u, 25'000u, 50'000u, 75'000u, 90'000u,
                                         95'000u, 99'000u, 99'900u, 99'990u}) {
      const Nanos exact = ExactPercentile(samples, per_100k);
      const Nanos found = histogram.Percentile(static_cast<double>(per_100k) / 1'000);
      ASSERT_GE(found, exact) << size << " samples, " << per_100k;
      ASSERT_LE(found - exact, exact / 1'000) << size << " samples, " << per_100k;
    }
    EXPECT_EQ(histogram.Percentile(0), *std::min_element(samples.begin(), samples.end()));
    EXPECT_EQ(histogram.Percentile(100), *std::max_element(samples.begin(), samples.end()));
  }
}

// A percentile outside of what was measured: sysbench #486.
TEST(PercentileTest, StaysWithinMinAndMaxOfFewSamples) {
  for (const int size : {1, 2, 3, 7}) {
    LatencyHistogram histogram;
    for (int i = 0; i < size; ++i) histogram.Record(1'234'567 + i * 1'000'003);
    Nanos last = histogram.min();
    for (const double percent : {0.0, 1.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0}) {
      const Nanos value = histogram.Percentile(percent);
      ASSERT_GE(value, last) << size << " samples, " << percent;
      ASSERT_LE(value, histogram.max());
      last = value;
      if (size == 1) {
        EXPECT_EQ(value, 1'234'567);
      }
    }
  }
}

// 0.5 passed where 50 is meant would give about 1 ms: HdrHistogram_c #5.
TEST(PercentileTest, TakesPercentNotFractions) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.Record(i * kMillisecond);
  const auto in_ms = [&](double percent) {
    return static_cast<double>(histogram.Percentile(percent)) / kMillisecond;
  };
  EXPECT_NEAR(in_ms(50), 50, 0.05);
  EXPECT_NEAR(in_ms(90), 90, 0.09);
  EXPECT_NEAR(in_ms(99), 99, 0.1);
  EXPECT_NEAR(in_ms(0.5), 1, 0.01);
}

TEST(PercentileTest, RankIsNotShiftedByRounding) {
  EXPECT_EQ(PercentileRank(99.9, 1'000), 999u);
  EXPECT_EQ(PercentileRank(99.99, 10'000), 9'999u);
  EXPECT_EQ(PercentileRank(99, 100), 99u);
  EXPECT_EQ(PercentileRank(55, 100), 55u);
  EXPECT_EQ(PercentileRank(50, 3), 2u);
  EXPECT_EQ(PercentileRank(50, 2), 1u);
  EXPECT_EQ(PercentileRank(0, 10), 1u);
  EXPECT_EQ(PercentileRank(100, 10), 10u);
  for (std::uint64_t n = 1; n <= 10'000; ++n) {
    for (const std::uint64_t percent : {1u, 7u, 29u, 50u, 75u, 90u, 95u, 99u}) {
      ASSERT_EQ(PercentileRank(static_cast<double>(percent), n), (n * percent + 99) / 100);
    }
  }
}

TEST(MergeTest, IsTheSameInAnyOrderAsRecordingAll) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(0, 13);
  LatencyHistogram all, ab, ba;
  IntervalHistogram a, b;
  for (int i = 0; i < 5'000; ++i) {
    const auto latency = static_cast<Nanos>(std::pow(10, exponent(random)));
    all.Record(latency);
    (i % 3 == 0 ? a : b).Record(latency);
  }
  ab.Add(a);
  ab.Add(b);
  ba.Add(b);
  ba.Add(a);
  EXPECT_EQ(ab.sum_squares(), ba.sum_squares());
  ExpectSame(ab, ba);
  ExpectSame(ab, all);
  ba.Add(LatencyHistogram());
  ExpectSame(ab, ba);
}

// One agent saw only fast answers, the other one of 30 s: HdrHistogram #47.
TEST(MergeTest, TakesUnlikeRanges) {
  LatencyHistogram fast, slow;
  for (int i = 0; i < 1'000; ++i) fast.Record(50 * kMicrosecond + i);
  slow.Record(30 * kSecond);
  fast.Add(slow);
  EXPECT_EQ(fast.count(), 1'001u);
  EXPECT_EQ(fast.max(), 30 * kSecond);
  EXPECT_EQ(fast.Percentile(100), 30 * kSecond);
  EXPECT_LT(fast.Percentile(99), 100 * kMicrosecond);
}

TEST(HistogramDeathTest, RefusesExactFiguresOutsideOfTheBuckets) {
  LatencyHistogram histogram;
  histogram.AddAtIndex(HistogramIndex(5'000), 3);
  histogram.SetExact(5'001, 5'003, 15'006, 75'060'014);
  EXPECT_EQ(histogram.max(), 5'003);
  EXPECT_DEATH(histogram.SetExact(4'000, 5'003, 15'006, 1), "check failed");
  EXPECT_DEATH(histogram.SetExact(5'001, 6'000, 15'006, 1), "check failed");
  EXPECT_DEATH(histogram.Percentile(101), "check failed");
}

}  // namespace
}  // namespace cavalry::stats
