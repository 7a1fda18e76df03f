#include "coordinator/run/load_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/random.h"

namespace cavalry::run {
namespace {

std::uint64_t Sum(const std::vector<std::uint64_t>& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
}

TEST(LoadSplit, EvenSharesAreExactFor1To64Agents) {
  const std::vector<std::uint64_t> wholes = {
      0, 1, 2, 63, 64, 65, 1'000, 1'000'003, std::numeric_limits<std::uint64_t>::max()};
  for (std::size_t agents = 1; agents <= 64; ++agents) {
    for (const std::uint64_t whole : wholes) {
      const std::vector<std::uint64_t> shares = SplitEvenly(whole, agents);
      ASSERT_EQ(shares.size(), agents);
      EXPECT_EQ(Sum(shares), whole);
      EXPECT_LE(shares.front() - shares.back(), 1u);
      EXPECT_TRUE(std::is_sorted(shares.rbegin(), shares.rend())) << "the first get more";
    }
  }
}

TEST(LoadSplit, WeightedSharesAreExactFor1To64Agents) {
  RandomStream random(7, 0, 0);
  for (std::size_t agents = 1; agents <= 64; ++agents) {
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<std::uint64_t> weights(agents);
      for (std::uint64_t& weight : weights) weight = random.Below(3) == 0 ? 0 : random.Below(1'000);
      weights[random.Below(agents)] = 1 + random.Below(1'000);
      const std::uint64_t whole = random.Next() >> random.Below(64);
      const std::vector<std::uint64_t> shares = SplitByWeight(whole, weights);
      ASSERT_EQ(shares.size(), agents);
      EXPECT_EQ(Sum(shares), whole);
      const double total = static_cast<double>(Sum(weights));
      for (std::size_t i = 0; i < agents; ++i) {
        const double exact = static_cast<double>(whole) * static_cast<double>(weights[i]) / total;
        EXPECT_NEAR(static_cast<double>(shares[i]), exact, 1 + exact * 1e-12);
        if (weights[i] == 0) {
          EXPECT_EQ(shares[i], 0u);
        }
      }
    }
  }
}

TEST(LoadSplit, LargestRemainderAndLowerIndexWin) {
  EXPECT_EQ(SplitByWeight(10, {1, 1, 1}), (std::vector<std::uint64_t>{4, 3, 3}));
  EXPECT_EQ(SplitByWeight(10, {1, 2, 3}), (std::vector<std::uint64_t>{2, 3, 5}));
  EXPECT_EQ(SplitByWeight(1, {1, 9}), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(SplitByWeight(3, {0, 1, 0, 1}), (std::vector<std::uint64_t>{0, 2, 0, 1}));
}

TEST(LoadSplit, EqualWeightsSplitEvenly) {
  for (std::size_t agents = 1; agents <= 64; ++agents) {
    EXPECT_EQ(SplitByWeight(1'000'003, std::vector<std::uint64_t>(agents, 5)),
              SplitEvenly(1'000'003, agents));
  }
}

TEST(LoadSplit, DoesNotOverflow) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Sum(SplitByWeight(kMax, {kMax, kMax, kMax})), kMax);
}

TEST(LoadSplit, NothingNeedsNoWeights) {
  EXPECT_EQ(SplitByWeight(0, {0, 0}), (std::vector<std::uint64_t>{0, 0}));
}

}  // namespace
}  // namespace cavalry::run
