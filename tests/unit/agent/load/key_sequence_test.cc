#include "agent/load/key_sequence.h"

#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry::load {
namespace {

KeySequenceOptions Options(KeyOrder order, std::uint64_t first, std::uint64_t last) {
  KeySequenceOptions options;
  options.order = order;
  options.first = first;
  options.last = last;
  options.seed = 42;
  options.stream = 7;
  return options;
}

TEST(SequentialKeys, VisitEachKeyOncePerPassWhateverTheRepeatCount) {
  for (const std::uint32_t per_iteration : {1U, 2U, 3U, 5U}) {
    KeySequenceOptions options = Options(KeyOrder::kSequential, 11, 40);  // 30 keys
    options.per_iteration = per_iteration;
    const KeySequence keys(options);
    const std::uint64_t iterations = 30 / per_iteration;
    for (int pass = 0; pass < 3; ++pass) {
      std::multiset<std::uint64_t> seen;
      for (std::uint64_t i = 0; i < iterations; ++i) {
        for (std::uint32_t slot = 0; slot < per_iteration; ++slot) {
          seen.insert(keys.KeyFor(static_cast<std::uint64_t>(pass) * iterations + i, slot));
        }
      }
      ASSERT_EQ(seen.size(), 30U);
      EXPECT_EQ(std::set<std::uint64_t>(seen.begin(), seen.end()).size(), 30U);
      EXPECT_EQ(*seen.begin(), 11U);
      EXPECT_EQ(*seen.rbegin(), 40U);
    }
  }
}

TEST(SequentialKeys, RunInOrderAndWrap) {
  const KeySequence keys(Options(KeyOrder::kSequential, 5, 7));
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t number = 0; number < 7; ++number) drawn.push_back(keys.KeyFor(number, 0));
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{5, 6, 7, 5, 6, 7, 5}));
}

TEST(SequentialKeys, ReachTheLargestKeyThereIs) {
  const KeySequence keys(Options(KeyOrder::kSequential, 0, kMaxKey));
  EXPECT_EQ(keys.KeyFor(0, 0), 0U);
  EXPECT_EQ(keys.KeyFor(kMaxKey, 0), kMaxKey);
  EXPECT_EQ(keys.KeyFor(kMaxKey + 1, 0), 0U);
  EXPECT_EQ(keys.size(), kMaxKey + 1);
}

TEST(UniformKeys, StayInRangeAndAreEvenlySpread) {
  constexpr std::uint64_t kKeys = 100;
  constexpr std::uint64_t kDraws = 100'000;
  const KeySequence keys(Options(KeyOrder::kUniform, 1'000, 1'000 + kKeys - 1));
  std::vector<double> counts(kKeys, 0);
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    const std::uint64_t key = keys.KeyFor(number, 0);
    ASSERT_GE(key, 1'000U);
    ASSERT_LT(key, 1'000 + kKeys);
    ++counts[key - 1'000];
  }
  const double expected = static_cast<double>(kDraws) / kKeys;
  double chi_square = 0;
  for (const double count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  // 99 degrees of freedom: 0.01 % of fair draws lie outside of 51 to 161. The seed is fixed.
  EXPECT_GT(chi_square, 51);
  EXPECT_LT(chi_square, 161);
}

class ZipfKeys : public testing::TestWithParam<std::tuple<double, std::uint64_t>> {};

// Frequencies of the most popular ranks, against the law itself.
TEST_P(ZipfKeys, FollowTheLaw) {
  const auto [theta, size] = GetParam();
  KeySequenceOptions options = Options(KeyOrder::kZipf, 1, size);
  options.theta = theta;
  options.clustered = true;
  const KeySequence keys(options);
  constexpr std::uint64_t kDraws = 200'000;
  std::map<std::uint64_t, double> counts;
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    const std::uint64_t key = keys.KeyFor(number, 0);
    ASSERT_GE(key, 1U);
    ASSERT_LE(key, size);
    ++counts[key];
  }
  double norm = 0;
  for (std::uint64_t rank = size; rank >= 1; --rank) {
    norm += std::pow(static_cast<double>(rank), -theta);
  }
  for (std::uint64_t rank = 1; rank <= std::min<std::uint64_t>(size, 20); ++rank) {
    const double share = std::pow(static_cast<double>(rank), -theta) / norm;
    const double expected = share * kDraws;
    const double deviation = std::sqrt(kDraws * share * (1 - share));
    EXPECT_NEAR(counts[rank], expected, 5 * deviation + 1e-9) << "rank " << rank;
  }
  // The tail as a whole: a wrong constant would show there.
  double head_share = 0;
  double head = 0;
  for (std::uint64_t rank = 1; rank <= std::max<std::uint64_t>(size / 10, 1); ++rank) {
    head_share += std::pow(static_cast<double>(rank), -theta) / norm;
    if (const auto found = counts.find(rank); found != counts.end()) head += found->second;
  }
  EXPECT_NEAR(head / kDraws, head_share, 0.006);
}

INSTANTIATE_TEST_SUITE_P(ThetaAndSize, ZipfKeys,
                         testing::Combine(testing::Values(0.5, 0.99, 1.0, 1.5),
                                          testing::Values(1ULL, 2ULL, 10ULL, 1'000'000ULL)));

TEST(ZipfOrder, ScatteredKeysAreAPermutationOfClusteredOnes) {
  for (const std::uint64_t size : {1ULL, 2ULL, 10ULL, 1'000ULL}) {
    KeySequenceOptions options = Options(KeyOrder::kZipf, 100, 100 + size - 1);
    const KeySequence scattered(options);
    options.clustered = true;
    const KeySequence clustered(options);
    std::map<std::uint64_t, std::uint64_t> to_scattered;
    std::set<std::uint64_t> images;
    for (std::uint64_t number = 0; number < 20'000; ++number) {
      const std::uint64_t image = scattered.KeyFor(number, 0);
      ASSERT_GE(image, 100U);
      ASSERT_LT(image, 100 + size);
      const auto [entry, is_new] = to_scattered.emplace(clustered.KeyFor(number, 0), image);
      ASSERT_EQ(entry->second, image);
      if (is_new) {
        ASSERT_TRUE(images.insert(image).second);
      }
    }
    if (size == 1'000) {
      EXPECT_NE(to_scattered[100], 100U);  // the most popular key is moved, with this seed
    }
  }
}

TEST(Keys, AreAPureFunctionOfSeedNumberAndSlot) {
  for (const KeyOrder order : {KeyOrder::kSequential, KeyOrder::kUniform, KeyOrder::kZipf}) {
    KeySequenceOptions options = Options(order, 1, 1'000'000);
    options.per_iteration = 2;
    const KeySequence first(options);
    const KeySequence second(options);
    std::vector<std::uint64_t> forwards;
    for (std::uint64_t number = 0; number < 100; ++number) {
      forwards.push_back(first.KeyFor(number, 1));
    }
    for (std::uint64_t number = 100; number-- > 0;) {
      EXPECT_EQ(second.KeyFor(number, 1), forwards[number]);
    }
  }
}

TEST(Keys, DifferBetweenStreamsAndSeeds) {
  for (const KeyOrder order : {KeyOrder::kUniform, KeyOrder::kZipf}) {
    KeySequenceOptions options = Options(order, 1, 1'000'000'000);
    options.theta = 0.5;
    const KeySequence base(options);
    options.stream = 8;
    const KeySequence other_stream(options);
    options.stream = 7;
    options.seed = 43;
    const KeySequence other_seed(options);
    int same = 0;
    for (std::uint64_t number = 0; number < 1'000; ++number) {
      same += base.KeyFor(number, 0) == other_stream.KeyFor(number, 0);
      same += base.KeyFor(number, 0) == other_seed.KeyFor(number, 0);
    }
    EXPECT_LT(same, 5);
  }
}

TEST(MoveToClass, GivesEachKeyOneOwnerInRange) {
  for (std::uint64_t first = 0; first <= 6; ++first) {
    for (std::uint64_t last = first; last <= first + 13; ++last) {
      for (std::uint64_t sessions = 1; sessions <= last - first + 1; ++sessions) {
        for (std::uint64_t key = first; key <= last; ++key) {
          for (std::uint64_t session = 0; session < sessions; ++session) {
            const std::uint64_t moved = MoveToClass(key, first, last, session, sessions);
            ASSERT_GE(moved, first);
            ASSERT_LE(moved, last);
            // The owner is told by the key alone, so no other session ever gets it.
            ASSERT_EQ(moved % sessions, session);
            ASSERT_LT(moved > key ? moved - key : key - moved, 2 * sessions);
            if (key % sessions == session) {
              ASSERT_EQ(moved, key);
            }
          }
        }
      }
    }
  }
}

TEST(MoveToClass, WorksAtTheEndOfAllKeys) {
  const std::uint64_t sessions = 1'000;
  for (std::uint64_t session = 0; session < sessions; ++session) {
    const std::uint64_t moved = MoveToClass(kMaxKey, kMaxKey - 999, kMaxKey, session, sessions);
    EXPECT_GE(moved, kMaxKey - 999);
    EXPECT_LE(moved, kMaxKey);
    EXPECT_EQ(moved % sessions, session);
  }
}

}  // namespace
}  // namespace cavalry::load
