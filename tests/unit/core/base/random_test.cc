#include "core/base/random.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

// A change of any of these changes every key and row of every spec: tables filled before would no
// longer be what their marks say.
TEST(RandomTest, DrawsArePinned) {
  RandomStream stream(42, 7, 1);
  EXPECT_EQ(stream.Next(), 0x8d7e045dcc812aa5ULL);
  EXPECT_EQ(stream.Next(), 0xcfb6a642d9a9e54eULL);
  EXPECT_EQ(RandomStream(42, 7, 2).Next(), 0x591faf71ab784c34ULL);
  EXPECT_EQ(HashText(""), 0xf52a15e9a9b5e89bULL);
  EXPECT_EQ(HashText("customer"), 0x22173b722fca568eULL);
  EXPECT_EQ(Permute(0, 1'000'000, 42), 388655u);
  EXPECT_EQ(Permute(999'999, 1'000'000, 42), 94123u);
}

TEST(RandomTest, StreamsDifferInEveryArgument) {
  std::set<std::uint64_t> first_draws;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t id = 0; id < 10; ++id) {
      for (std::uint64_t number = 0; number < 100; ++number) {
        first_draws.insert(RandomStream(seed, id, number).Next());
      }
    }
  }
  EXPECT_EQ(first_draws.size(), 10'000u);
}

// Neighbouring numbers and streams are what a spec uses; their draws must not move together.
TEST(RandomTest, NeighbouringStreamsAreUncorrelated) {
  constexpr int kDraws = 20'000;
  for (const auto& [stream_step, number_step] : {std::pair{1, 0}, {0, 1}, {1, 1}}) {
    double product = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto n = static_cast<std::uint64_t>(i);
      RandomStream a(1, n * 3, n * 5);
      RandomStream b(1, n * 3 + static_cast<std::uint64_t>(stream_step),
                     n * 5 + static_cast<std::uint64_t>(number_step));
      product += (a.Unit() - 0.5) * (b.Unit() - 0.5);
    }
    // Independent: mean 0, standard deviation 1/12 / sqrt(n). Five of them.
    EXPECT_LT(std::abs(product / kDraws), 5.0 / 12 / std::sqrt(kDraws));
  }
}

TEST(RandomTest, BelowIsUniformAndInRange) {
  constexpr int kBound = 10;
  constexpr int kDraws = 100'000;
  std::vector<int> seen(kBound);
  for (int i = 0; i < kDraws; ++i) {
    RandomStream stream(3, 1, static_cast<std::uint64_t>(i));
    const std::uint64_t draw = stream.Below(kBound);
    ASSERT_LT(draw, static_cast<std::uint64_t>(kBound));
    ++seen[draw];
  }
  double chi_squared = 0;
  for (const int count : seen) {
    const double off = count - kDraws / kBound;
    chi_squared += off * off / (kDraws / kBound);
  }
  EXPECT_LT(chi_squared, 27.9);  // 9 degrees of freedom, 0.1 %
  RandomStream stream(3, 1, 0);
  EXPECT_EQ(stream.Below(1), 0u);
}

TEST(RandomTest, UnitIsBelowOneWithMeanOneHalf) {
  RandomStream stream(9, 9, 9);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double draw = stream.Unit();
    ASSERT_GE(draw, 0.0);
    ASSERT_LT(draw, 1.0);
    sum += draw;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

TEST(PermuteTest, IsABijectionOfEverySize) {
  for (std::uint64_t size = 1; size <= 2'000; ++size) {
    std::vector<bool> seen(size);
    for (std::uint64_t value = 0; value < size; ++value) {
      const std::uint64_t image = Permute(value, size, size * 31 + 5);
      ASSERT_LT(image, size);
      ASSERT_FALSE(seen[image]) << "size " << size;
      seen[image] = true;
    }
  }
}

TEST(PermuteTest, SeedsGiveDifferentOrders) {
  int equal = 0;
  for (std::uint64_t value = 0; value < 1'000; ++value) {
    equal += Permute(value, 1'000, 1) == Permute(value, 1'000, 2) ? 1 : 0;
  }
  EXPECT_LT(equal, 15);  // one is expected
}

TEST(PermuteTest, SpreadsNeighbours) {
  // The most popular keys of a Zipf draw are the first; they must not stay side by side.
  constexpr std::uint64_t kSize = 150'000;
  double low_half = 0;
  int adjacent = 0;
  for (std::uint64_t value = 0; value < 1'000; ++value) {
    const std::uint64_t image = Permute(value, kSize, 42);
    const std::uint64_t next = Permute(value + 1, kSize, 42);
    low_half += image < kSize / 2 ? 1 : 0;
    adjacent += image + 1 == next ? 1 : 0;
  }
  EXPECT_NEAR(low_half, 500, 80);
  EXPECT_LT(adjacent, 5);
}

// Sizes just above a power of two make the longest walks, two turns on average. A million calls end
// at once, or the walk is not bounded as it should be and the test runs into its deadline.
TEST(PermuteTest, WorksAtTheWorstAndLargestSizes) {
  for (const std::uint64_t size : {(1ULL << 20) + 1, (1ULL << 32) + 1, (1ULL << 63) + 1, ~0ULL}) {
    for (std::uint64_t value = 0; value < 250'000; ++value) {
      ASSERT_LT(Permute(size - 1 - value, size, 7), size);
    }
  }
}

}  // namespace
}  // namespace cavalry
