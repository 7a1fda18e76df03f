#include "agent/load/key_sequence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
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

// How often each key comes up in so many draws.
std::map<std::uint64_t, int> Count(const KeySequence& keys, std::uint64_t draws) {
  std::map<std::uint64_t, int> counts;
  for (std::uint64_t number = 0; number < draws; ++number) ++counts[keys.KeyFor(number, 0)];
  return counts;
}

// Share of the draws that go to keys of a range.
double ShareOf(const std::map<std::uint64_t, int>& counts, std::uint64_t first,
               std::uint64_t last) {
  int inside = 0;
  int all = 0;
  for (const auto& [key, count] : counts) {
    all += count;
    if (key >= first && key <= last) inside += count;
  }
  return static_cast<double>(inside) / all;
}

TEST(HotspotKeys, HotOnesGetTheirShareEach) {
  KeySequenceOptions options = Options(KeyOrder::kHotspot, 101, 200);
  options.key_share = 0.1;
  options.operation_share = 0.9;
  const auto counts = Count(KeySequence(options), 100'000);
  EXPECT_EQ(counts.size(), 100U);
  EXPECT_EQ(counts.begin()->first, 101U);
  EXPECT_EQ(counts.rbegin()->first, 200U);
  EXPECT_NEAR(ShareOf(counts, 101, 110), 0.9, 0.01);
  for (std::uint64_t key = 101; key <= 110; ++key) EXPECT_NEAR(counts.at(key), 9'000, 500) << key;
  for (std::uint64_t key = 111; key <= 200; ++key) EXPECT_NEAR(counts.at(key), 111, 60) << key;
}

TEST(HotspotKeys, OfFewKeysAtLeastOneIsHot) {
  KeySequenceOptions options = Options(KeyOrder::kHotspot, 5, 6);
  EXPECT_NEAR(ShareOf(Count(KeySequence(options), 10'000), 5, 5), 0.8, 0.02);
  options.last = 5;
  EXPECT_EQ(Count(KeySequence(options), 100).size(), 1U);
}

TEST(ExponentialKeys, TheFirstGetTheirShareAndEachFewerThanTheOneBefore) {
  for (const auto& [keys, operations] :
       {std::pair{0.1, 0.95}, {0.4, 0.5}, {0.5, 0.9}, {0.01, 0.99}}) {
    KeySequenceOptions options = Options(KeyOrder::kExponential, 1, 1'000);
    options.key_share = keys;
    options.operation_share = operations;
    const auto counts = Count(KeySequence(options), 200'000);
    const auto part = static_cast<std::uint64_t>(keys * 1'000);
    EXPECT_NEAR(ShareOf(counts, 1, part), operations, 0.01);
    EXPECT_GT(ShareOf(counts, 1, part / 2), ShareOf(counts, part / 2 + 1, part));
    EXPECT_GE(counts.begin()->first, 1U);
    EXPECT_LE(counts.rbegin()->first, 1'000U);
  }
}

TEST(ListedKeys, ComeInOrderAndWrap) {
  KeySequenceOptions options = Options(KeyOrder::kList, 1, 1);
  options.list = std::make_shared<std::vector<std::uint64_t>>(std::vector<std::uint64_t>{9, 3, 7});
  options.per_iteration = 2;
  const KeySequence keys(options);
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t number = 0; number < 2; ++number) {
    for (std::uint32_t slot = 0; slot < 2; ++slot) drawn.push_back(keys.KeyFor(number, slot));
  }
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{9, 3, 7, 9}));
  EXPECT_EQ(keys.first(), 3U);
  EXPECT_EQ(keys.last(), 9U);
  EXPECT_FALSE(keys.is_range());
}

KeySequenceOptions Growing(std::uint64_t rows, std::uint64_t inserts) {
  KeySequenceOptions options = Options(KeyOrder::kLatest, 1, 1);
  options.growing.rows = rows;
  options.growing.insert_first = 10'001;
  options.growing.block_inserts = inserts;
  return options;
}

TEST(LatestKeys, AreThoseThatIterationsBeforeHaveInserted) {
  const KeySequence keys(Growing(100, 2));
  for (std::uint64_t number = 0; number < 2'000; ++number) {
    const std::uint64_t key = keys.KeyFor(number, 0);
    const bool filled = key >= 1 && key <= 100;
    const bool inserted = key >= 10'001 && key < 10'001 + 2 * number;
    EXPECT_TRUE(filled || inserted) << key << " of " << number;
  }
}

TEST(LatestKeys, TheNewestIsTheMostPopularAndMovesOn) {
  KeySequenceOptions options = Growing(1'000, 1);
  options.per_iteration = 10'000;
  const KeySequence keys(options);
  for (const std::uint64_t number : {5U, 50U}) {
    std::map<std::uint64_t, int> counts;
    for (std::uint32_t slot = 0; slot < 10'000; ++slot) ++counts[keys.KeyFor(number, slot)];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    EXPECT_EQ(most->first, 10'000 + number);
    EXPECT_GT(counts[10'000 + number - 1], counts[10'000 + number - 4]);
  }
}

TEST(LatestKeys, CountOnlyWhatTheAgentsOwnNumbersInserted) {
  KeySequenceOptions options = Growing(0, 1);
  options.growing.first_number = 500;
  options.growing.warmup_number = 9'000;
  const KeySequence keys(options);
  EXPECT_EQ(keys.KeyFor(500, 0), 10'001U);  // nothing yet: a miss
  for (std::uint64_t number = 501; number < 700; ++number) {
    EXPECT_GE(keys.KeyFor(number, 0), 10'501U);
    EXPECT_LE(keys.KeyFor(number, 0), 10'000 + number);
  }
  EXPECT_GE(keys.KeyFor(9'005, 0), 19'001U);
}

TEST(LatestKeys, OfAMixCountWholeBlocks) {
  KeySequenceOptions options = Growing(10, 500);
  options.growing.block_iterations = 10'000;
  const KeySequence keys(options);
  for (std::uint64_t number = 0; number < 10'000; number += 7) {
    EXPECT_LE(keys.KeyFor(number, 0), 10U);
  }
  std::uint64_t highest = 0;
  for (std::uint64_t number = 10'000; number < 20'000; ++number) {
    highest = std::max(highest, keys.KeyFor(number, 0));
  }
  EXPECT_EQ(highest, 10'500U);
}

}  // namespace
}  // namespace cavalry::load
