#include "coordinator/run/step_shares.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/coordinator/run_engine/plan_builder.h"

namespace cavalry::run {
namespace {

TEST(StepSharesTest, SharesOfSessionsAreExactForAnyNumberOfAgents) {
  for (std::size_t agents = 1; agents <= 64; ++agents) {
    for (const std::uint32_t sessions : {1U, 2U, 7U, 64U, 1000U}) {
      const auto shares = SplitStep(testing::MakeWorkload(sessions), agents);
      ASSERT_EQ(shares.size(), std::min<std::size_t>(agents, sessions));
      std::uint32_t next = 0;
      double rate = 0;
      for (const StepShare& share : shares) {
        EXPECT_GT(share.sessions, 0U);
        EXPECT_EQ(share.first_session, next);
        next += share.sessions;
        rate += share.connect_rate;
      }
      EXPECT_EQ(next, sessions);
      EXPECT_NEAR(rate, 2000, 1e-6);
    }
  }
}

TEST(StepSharesTest, TimedNumbersInterleaveWithoutBound) {
  const auto shares = SplitStep(testing::MakeWorkload(5), 3);
  ASSERT_EQ(shares.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(shares[i].numbers.first(), i);
    EXPECT_EQ(shares[i].numbers.stride(), 3U);
    EXPECT_FALSE(shares[i].numbers.has_count());
    EXPECT_EQ(shares[i].numbers.warmup_stride(), 0U);
  }
}

TEST(StepSharesTest, CountedNumbersAreContiguousAndWholeWithWarmupBehindThem) {
  v1::Workload workload = testing::MakeWorkload(4);
  for (const std::uint64_t count : {1ULL, 2ULL, 3ULL, 100ULL, 101ULL}) {
    workload.mutable_load()->mutable_stop_after()->set_iterations(count);
    const auto shares = SplitStep(workload, 3);
    std::uint64_t next = 0;
    std::set<std::uint64_t> warmup;
    for (const StepShare& share : shares) {
      ASSERT_TRUE(share.numbers.has_count());
      EXPECT_EQ(share.numbers.first(), next);
      EXPECT_EQ(share.numbers.stride(), 1U);
      next += share.numbers.count();
      EXPECT_GE(share.numbers.warmup_first(), count);
      EXPECT_EQ(share.numbers.warmup_stride(), shares.size());
      warmup.insert(share.numbers.warmup_first());
    }
    EXPECT_EQ(next, count);
    EXPECT_EQ(warmup.size(), shares.size());
  }
}

TEST(StepSharesTest, CountsFollowSessions) {
  v1::Workload workload = testing::MakeWorkload(4);
  workload.mutable_load()->mutable_stop_after()->set_iterations(100);
  const auto shares = SplitStep(workload, 3);
  EXPECT_EQ(shares[0].sessions, 2U);
  EXPECT_EQ(shares[0].numbers.count(), 50U);
  EXPECT_EQ(shares[1].numbers.count(), 25U);
  EXPECT_EQ(shares[2].numbers.count(), 25U);
}

TEST(StepSharesTest, APassIsEveryKeyOfTheFirstOperation) {
  v1::Workload workload = testing::MakeWorkload();
  workload.mutable_load()->mutable_stop_after()->clear_duration();
  workload.mutable_load()->mutable_stop_after()->set_passes(2);
  EXPECT_EQ(TotalIterations(workload), 2000U);
  // Four keys an iteration: a pass takes a quarter of the iterations.
  workload.mutable_script()->mutable_steps(0)->set_repeat(4);
  EXPECT_EQ(TotalIterations(workload), 500U);
  // Whichever comes first.
  workload.mutable_load()->mutable_stop_after()->set_iterations(300);
  EXPECT_EQ(TotalIterations(workload), 300U);
}

TEST(StepSharesTest, APassOfMultiReadsCountsTheirKeys) {
  v1::Workload workload = testing::MakeWorkload();
  workload.mutable_load()->mutable_stop_after()->set_passes(1);
  v1::OperationSpec* find = workload.mutable_operations(0);
  const v1::Keys keys = find->read().keys();
  *find->mutable_multi_read()->mutable_keys() = keys;
  find->mutable_multi_read()->set_count(10);
  EXPECT_EQ(TotalIterations(workload), 100U);
  // What only prepares is not the first operation.
  v1::OperationSpec* begin = workload.add_operations();
  begin->set_name("begin");
  begin->mutable_begin();
  v1::Script script;
  script.add_steps()->set_operation("begin");
  *script.add_steps() = workload.script().steps(0);
  *workload.mutable_script() = script;
  EXPECT_EQ(TotalIterations(workload), 100U);
}

TEST(StepSharesTest, PassesBeyondAllNumbersAreCut) {
  v1::Workload workload = testing::MakeWorkload();
  workload.mutable_load()->mutable_stop_after()->set_passes(~std::uint64_t{0});
  EXPECT_EQ(TotalIterations(workload), ~std::uint64_t{0});
}

TEST(StepSharesTest, KeysOfAFillHaveNoGap) {
  v1::Table table;
  table.set_name("t");
  for (const std::uint64_t rows : {0ULL, 1ULL, 5ULL, 150ULL, 150'000ULL}) {
    table.set_rows(rows);
    for (std::size_t agents = 1; agents <= 9; ++agents) {
      std::uint64_t next = 1;
      for (const v1::KeyShare& share : SplitKeys(table, agents)) {
        EXPECT_EQ(share.table(), "t");
        EXPECT_EQ(share.first(), next);
        next += share.count();
      }
      EXPECT_EQ(next, rows + 1);
    }
  }
}

}  // namespace
}  // namespace cavalry::run
