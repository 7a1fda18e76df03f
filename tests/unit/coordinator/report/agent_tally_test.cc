#include "coordinator/report/agent_tally.h"

#include <gtest/gtest.h>

namespace cavalry::report {
namespace {

const std::vector<std::string> kNames = {"find"};

stats::StatsTotals Finds(std::uint64_t issued, std::uint64_t ok, Nanos latency = 1000) {
  stats::StatsTotals stats(1, true);
  stats.operations[0].counters.attempted = issued;
  stats.iterations.attempted = issued;
  for (std::uint64_t i = 0; i < ok; ++i) {
    stats.RecordOperation(0, Outcome::kOk, latency);
    ++stats.iterations.ok;
  }
  return stats;
}

TEST(AgentTally, EndsMayFollowTheirIssueInALaterInterval) {
  AgentTally tally(1);
  EXPECT_TRUE(tally.Add(Finds(10, 7), kNames).ok());
  EXPECT_EQ(tally.OperationsOpen(), 3u);
  EXPECT_FALSE(tally.CheckDrained(kNames).ok());
  EXPECT_TRUE(tally.Add(Finds(0, 3), kNames).ok());
  EXPECT_EQ(tally.OperationsOpen(), 0u);
  EXPECT_EQ(tally.IterationsOpen(), 0u);
  EXPECT_TRUE(tally.CheckDrained(kNames).ok());
}

TEST(AgentTally, RefusesMoreEndsThanIssuesAndStaysAsItWas) {
  AgentTally tally(1);
  ASSERT_TRUE(tally.Add(Finds(10, 9), kNames).ok());
  const Status status = tally.Add(Finds(0, 2), kNames);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(StatusText(status).find("find"), std::string::npos);
  EXPECT_EQ(tally.operations[0].counters[Outcome::kOk], 9u);
}

TEST(AgentTally, RefusesCountsThatNoRunHas) {
  AgentTally tally(1);
  EXPECT_FALSE(tally.Add(Finds(std::uint64_t{1} << 60, 0), kNames).ok());
  stats::StatsTotals rows = Finds(1, 1);
  rows.operations[0].counters.bytes = ~std::uint64_t{0};
  EXPECT_FALSE(tally.Add(rows, kNames).ok());
}

TEST(AgentTally, ComparesEveryBucket) {
  AgentTally sum(1);
  ASSERT_TRUE(sum.Add(Finds(2, 2, 1000), kNames).ok());
  AgentTally same(1);
  ASSERT_TRUE(same.Add(Finds(1, 1, 1000), kNames).ok());
  EXPECT_FALSE(sum.CheckEqual(same, kNames).ok());  // one less
  ASSERT_TRUE(same.Add(Finds(1, 1, 1000), kNames).ok());
  EXPECT_TRUE(sum.CheckEqual(same, kNames).ok());
  AgentTally other(1);
  ASSERT_TRUE(other.Add(Finds(2, 2, 5000), kNames).ok());
  EXPECT_FALSE(sum.CheckEqual(other, kNames).ok());  // as many, but slower
  same.reconnects = 1;
  EXPECT_FALSE(sum.CheckEqual(same, kNames).ok());
}

}  // namespace
}  // namespace cavalry::report
