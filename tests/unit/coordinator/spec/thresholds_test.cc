#include "coordinator/report/thresholds.h"

#include <gtest/gtest.h>

namespace cavalry::report {
namespace {

using Comparator = Threshold::Comparator;
using Metric = Threshold::Metric;

Threshold Parse(std::string_view text) {
  const StatusOr<Threshold> threshold = ParseThreshold(text);
  EXPECT_TRUE(threshold.ok()) << StatusText(threshold.status());
  return threshold.ok() ? *threshold : Threshold();
}

std::string Error(std::string_view text) {
  const StatusOr<Threshold> threshold = ParseThreshold(text);
  return threshold.ok() ? "ok" : StatusText(threshold.status());
}

TEST(Thresholds, Latencies) {
  const Threshold threshold = Parse("p99(find) < 5ms");
  EXPECT_EQ(threshold.expression, "p99(find) < 5ms");
  EXPECT_EQ(threshold.metric, Metric::kPercentile);
  EXPECT_EQ(threshold.percentile, 99);
  EXPECT_EQ(threshold.subject, "find");
  EXPECT_EQ(threshold.target, "");
  EXPECT_EQ(threshold.comparator, Comparator::kLess);
  EXPECT_EQ(threshold.bound, 5'000);
  EXPECT_EQ(Parse("p99_9<=1s").percentile, 99.9);
  EXPECT_EQ(Parse("p99.99 < 1s").percentile, 99.99);
  EXPECT_EQ(Parse("mean < 250us").bound, 250);
  EXPECT_EQ(Parse("max < 100ns").bound, 0.1);
}

TEST(Thresholds, SharesRatesAndCounts) {
  EXPECT_DOUBLE_EQ(Parse("failed < 0.1%").bound, 0.001);
  EXPECT_EQ(Parse("miss(find) <= 0.25").bound, 0.25);
  EXPECT_EQ(Parse("reached >= 99%").metric, Metric::kReached);
  EXPECT_EQ(Parse("throughput(find, hs) > 20k/s").bound, 20'000);
  EXPECT_EQ(Parse("throughput > 1500").bound, 1'500);
  EXPECT_EQ(Parse("throughput > 0.5/s").bound, 0.5);
  EXPECT_EQ(Parse("lost == 0").bound, 0);
  EXPECT_EQ(Parse("lost != 3").comparator, Comparator::kNotEqual);
}

TEST(Thresholds, BlanksDoNotMatter) {
  const Threshold threshold = Parse("  throughput ( find ,  hs )>=1/s ");
  EXPECT_EQ(threshold.subject, "find");
  EXPECT_EQ(threshold.target, "hs");
  EXPECT_EQ(threshold.comparator, Comparator::kGreaterEqual);
}

TEST(Thresholds, Errors) {
  EXPECT_EQ(
      Error(""),
      "threshold '': no comparison (<, <=, >, >=, ==, !=); write it like 'p99(find) < 5ms' or "
      "'failed < 0.1%'");
  EXPECT_EQ(Error("faild < 1%"),
            "threshold 'faild < 1%': 'faild' is unknown; did you mean 'failed'?");
  EXPECT_EQ(Error("speed > 5"),
            "threshold 'speed > 5': 'speed' is unknown; known: throughput, reached, failed, miss, "
            "lost, mean, max, p50, p99, p99.9");
  EXPECT_EQ(Error("p100 < 5ms"),
            "threshold 'p100 < 5ms': 'p100' is no percentile above 0 and below 100, such as p99 or "
            "p99.9");
  EXPECT_EQ(
      Error("p0 < 5ms"),
      "threshold 'p0 < 5ms': 'p0' is no percentile above 0 and below 100, such as p99 or p99.9");
  EXPECT_EQ(Error("p99 < 5"), "threshold 'p99 < 5': duration \"5\" lacks a unit; write 5s or 5ms");
  EXPECT_EQ(Error("p99 = 5ms"),
            "threshold 'p99 = 5ms': '=' is no comparison; known: <, <=, >, >=, ==, !=");
  EXPECT_EQ(Error("p99(find < 5ms"),
            "threshold 'p99(find < 5ms': a ')' is missing; write it like 'p99(find) < 5ms' or "
            "'failed < 0.1%'");
  EXPECT_EQ(
      Error("p99() < 5ms"),
      "threshold 'p99() < 5ms': no operation or script between the parentheses; write it like "
      "'p99(find) < 5ms' or 'failed < 0.1%'");
  EXPECT_EQ(Error("p99(a,) < 5ms"),
            "threshold 'p99(a,) < 5ms': no target after the comma; write it like 'p99(find) < 5ms' "
            "or 'failed < 0.1%'");
  EXPECT_EQ(Error("p99 <"),
            "threshold 'p99 <': no bound after '<'; write it like 'p99(find) < 5ms' or 'failed < "
            "0.1%'");
  EXPECT_EQ(Error("failed < 5"),
            "threshold 'failed < 5': share \"5\" is not between 0 and 100%; is a % missing?");
  EXPECT_EQ(Error("throughput > fast"),
            "threshold 'throughput > fast': 'fast' is no rate such as 20k/s or 1500/s");
  EXPECT_EQ(Error("throughput > -5"),
            "threshold 'throughput > -5': '-5' is no rate such as 20k/s or 1500/s");
}

TEST(Thresholds, Hold) {
  EXPECT_TRUE(Holds(Parse("p99 < 5ms"), 4'999));
  EXPECT_FALSE(Holds(Parse("p99 < 5ms"), 5'000));
  EXPECT_TRUE(Holds(Parse("p99 <= 5ms"), 5'000));
  EXPECT_TRUE(Holds(Parse("throughput > 5"), 6));
  EXPECT_FALSE(Holds(Parse("throughput > 5"), 5));
  EXPECT_TRUE(Holds(Parse("throughput >= 5"), 5));
  EXPECT_TRUE(Holds(Parse("lost == 0"), 0));
  EXPECT_FALSE(Holds(Parse("lost == 0"), 1));
  EXPECT_TRUE(Holds(Parse("lost != 0"), 1));
}

}  // namespace
}  // namespace cavalry::report
