#include "core/stats/confidence.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace cavalry::stats {
namespace {

TEST(StudentTest, MatchesPublishedQuantiles) {
  EXPECT_NEAR(StudentT95(1), 12.706, 5e-4);
  EXPECT_NEAR(StudentT95(2), 4.303, 5e-4);
  EXPECT_NEAR(StudentT95(5), 2.571, 5e-4);
  EXPECT_NEAR(StudentT95(10), 2.228, 5e-4);
  EXPECT_NEAR(StudentT95(30), 2.042, 5e-4);
  EXPECT_NEAR(StudentT95(31), 2.039513, 3e-6);
  EXPECT_NEAR(StudentT95(60), 2.000298, 1e-6);
  EXPECT_NEAR(StudentT95(120), 1.979930, 1e-6);
  EXPECT_NEAR(StudentT95(1'000'000), 1.959964, 1e-5);
  for (int n = 1; n < 200; ++n) EXPECT_GT(StudentT95(n), StudentT95(n + 1)) << n;
}

TEST(PairedRatioTest, EqualRatiosHaveAnIntervalOfNoWidth) {
  const auto ratio = PairedRatio({100, 200, 400}, {150, 300, 600});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_NEAR(ratio->value, 1.5, 1e-12);
  EXPECT_NEAR(ratio->ci95->low, 1.5, 1e-9);
  EXPECT_NEAR(ratio->ci95->high, 1.5, 1e-9);
}

TEST(PairedRatioTest, KnownResult) {
  // Ratios 1.2, 1.3, 1.25, 1.35: the logs' mean is 0.241983, their standard deviation 0.050688, so
  // half the interval is 3.182446 * 0.050688 / 2 = 0.080656.
  const auto ratio = PairedRatio({100, 100, 100, 100}, {120, 130, 125, 135});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_NEAR(ratio->value, 1.273773, 1e-6);
  ASSERT_TRUE(ratio->ci95.has_value());
  EXPECT_NEAR(ratio->ci95->low, 1.175069, 1e-6);
  EXPECT_NEAR(ratio->ci95->high, 1.380768, 1e-6);
}

TEST(PairedRatioTest, SwappingSidesInvertsIt) {
  const std::vector<double> a = {100, 90, 110};
  const std::vector<double> b = {120, 130, 99};
  const auto forth = PairedRatio(a, b);
  const auto back = PairedRatio(b, a);
  EXPECT_NEAR(forth->value * back->value, 1, 1e-12);
  EXPECT_NEAR(forth->ci95->low * back->ci95->high, 1, 1e-12);
}

// A machine that drifts moves both sides of a pair: pairing takes that out.
TEST(PairedRatioTest, DriftThatBothShareDoesNotWidenIt) {
  const auto ratio = PairedRatio({100, 50, 200}, {121, 59.5, 240});
  EXPECT_LT(ratio->ci95->high - ratio->ci95->low, 0.06);
}

TEST(PairedRatioTest, OneRoundHasNoIntervalAndNoneNoRatio) {
  const auto one = PairedRatio({100}, {80});
  ASSERT_TRUE(one.has_value());
  EXPECT_NEAR(one->value, 0.8, 1e-12);
  EXPECT_FALSE(one->ci95.has_value());
  EXPECT_FALSE(PairedRatio({}, {}).has_value());
}

TEST(PairedRatioTest, RefusesFiguresThatHaveNoRatio) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, nan, infinity}) {
    EXPECT_FALSE(PairedRatio({100, bad}, {100, 100}).has_value());
    EXPECT_FALSE(PairedRatio({100, 100}, {bad, 100}).has_value());
  }
}

TEST(HalfSpreadTest, IsInPercentOfTheMean) {
  EXPECT_NEAR(HalfSpreadPercent({90, 100, 110}), 10, 1e-12);
  EXPECT_EQ(HalfSpreadPercent({5}), 0);
  EXPECT_EQ(HalfSpreadPercent({}), 0);
  EXPECT_EQ(HalfSpreadPercent({0, 0}), 0);
}

}  // namespace
}  // namespace cavalry::stats
