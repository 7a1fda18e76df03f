#include "core/stats/summary.h"

#include <gtest/gtest.h>

namespace cavalry::stats {
namespace {

TEST(SummaryTest, InventsNothing) {
  const LatencyHistogram empty;
  EXPECT_FALSE(Summarize(&empty).has_value());
  EXPECT_FALSE(Summarize(nullptr).has_value());
}

TEST(SummaryTest, IsInMicroseconds) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 10'000; ++i) histogram.Record(i * kMicrosecond);
  const std::optional<LatencySummary> summary = Summarize(&histogram);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->count, 10'000u);
  EXPECT_EQ(summary->min, 1);
  EXPECT_EQ(summary->max, 10'000);
  EXPECT_DOUBLE_EQ(summary->mean, 5'000.5);
  EXPECT_NEAR(summary->stddev, 2'886.75, 0.01);
  EXPECT_NEAR(summary->p50, 5'000, 5);
  EXPECT_NEAR(summary->p75, 7'500, 7.5);
  EXPECT_NEAR(summary->p90, 9'000, 9);
  EXPECT_NEAR(summary->p95, 9'500, 9.5);
  EXPECT_NEAR(summary->p99, 9'900, 9.9);
  EXPECT_NEAR(summary->p99_9, 9'990, 10);
  EXPECT_NEAR(summary->p99_99, 9'999, 10);
}

TEST(SummaryTest, FiguresOfOneSampleAreEqual) {
  LatencyHistogram histogram;
  histogram.Record(1'234'567);
  const std::optional<LatencySummary> summary = Summarize(&histogram);
  ASSERT_TRUE(summary.has_value());
  for (const double figure : {summary->min, summary->mean, summary->p50, summary->p75, summary->p90,
                              summary->p95, summary->p99, summary->p99_9, summary->p99_99}) {
    EXPECT_EQ(figure, summary->max);
  }
  EXPECT_EQ(summary->stddev, 0);
}

}  // namespace
}  // namespace cavalry::stats
