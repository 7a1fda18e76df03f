#include "coordinator/report/sparse_histogram.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace cavalry::report {
namespace {

stats::LatencyHistogram RandomSamples(std::uint64_t seed, int count) {
  stats::LatencyHistogram histogram;
  RandomStream random(seed, 0, 0);
  for (int i = 0; i < count; ++i) {
    histogram.Record(static_cast<Nanos>(random.Below(std::uint64_t{1} << (10 + i % 30))) + 1);
  }
  return histogram;
}

TEST(SparseHistogram, AgreesWithTheDenseOneAtEveryPercentile) {
  for (const int count : {1, 2, 3, 7, 1000, 10'000}) {
    stats::LatencyHistogram dense;
    SparseHistogram sparse;
    for (std::uint64_t part = 0; part < 5; ++part) {
      const auto samples = RandomSamples(part, count);
      dense.Add(samples);
      sparse.Add(samples);
    }
    EXPECT_EQ(sparse.count(), dense.count());
    EXPECT_EQ(sparse.sum(), dense.sum());
    EXPECT_EQ(sparse.min(), dense.min());
    EXPECT_EQ(sparse.max(), dense.max());
    for (const double percent : {0.0, 1.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0}) {
      EXPECT_EQ(sparse.Percentile(percent), dense.Percentile(percent)) << percent;
    }
  }
}

TEST(SparseHistogram, AddingCommutesAndGroups) {
  const auto a = RandomSamples(1, 500);
  const auto b = RandomSamples(2, 300);
  const auto c = RandomSamples(3, 1);
  SparseHistogram one, other, grouped;
  one.Add(a);
  one.Add(b);
  one.Add(c);
  other.Add(c);
  other.Add(a);
  other.Add(b);
  SparseHistogram pair;
  pair.Add(b);
  pair.Add(c);
  grouped.Add(pair);
  grouped.Add(a);
  EXPECT_TRUE(one.SameSamples(other));
  EXPECT_TRUE(one.SameSamples(grouped));
  other.Add(c);
  EXPECT_FALSE(one.SameSamples(other));
}

TEST(SparseHistogram, IsEmptyWithoutSamples) {
  SparseHistogram empty;
  empty.Add(stats::LatencyHistogram());
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.min(), 0);
  EXPECT_EQ(empty.Percentile(99), 0);
  EXPECT_TRUE(empty.SameSamples(SparseHistogram()));
}

}  // namespace
}  // namespace cavalry::report
