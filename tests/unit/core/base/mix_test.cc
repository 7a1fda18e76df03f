#include "core/base/mix.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

using Counts = std::vector<std::uint32_t>;

Counts CountsOf(const std::vector<double>& weights) { return MixCounts(weights); }

TEST(MixTest, SharesAreByWeight) {
  EXPECT_EQ(CountsOf({1}), (Counts{10'000}));
  EXPECT_EQ(CountsOf({95, 5}), (Counts{9'500, 500}));
  EXPECT_EQ(CountsOf({0.5, 0.25, 0.25}), (Counts{5'000, 2'500, 2'500}));
  EXPECT_EQ(CountsOf({1e308, 1e308}), (Counts{5'000, 5'000}));
}

TEST(MixTest, RestsGoToTheLargestRemainders) {
  EXPECT_EQ(CountsOf({1, 1, 1}), (Counts{3'334, 3'333, 3'333}));
  EXPECT_EQ(CountsOf({2, 1, 4}), (Counts{2'857, 1'429, 5'714}));
}

TEST(MixTest, NoneIsLeftOut) {
  EXPECT_EQ(CountsOf({1e9, 1, 1}), (Counts{9'998, 1, 1}));
  const Counts all = CountsOf(std::vector<double>(10'000, 0.1));
  EXPECT_EQ(all, Counts(10'000, 1));
}

TEST(MixTest, ABlockIsWholeForAnyWeights) {
  for (std::size_t size = 1; size < 60; ++size) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < size; ++i) weights.push_back(1.0 + static_cast<double>(i * i) / 7);
    const Counts counts = CountsOf(weights);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), kMixBlock) << size;
  }
}

}  // namespace
}  // namespace cavalry
