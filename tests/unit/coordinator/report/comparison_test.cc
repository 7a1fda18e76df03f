#include "coordinator/report/comparison.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

Report Of(RunBuilder& builder, Aggregator* run) {
  *run = ApplyAll(builder.entries());
  return MakeReport(*run);
}

TEST(Comparison, StatesTheRatioToTheBaseAtEachLoadPoint) {
  RunBuilder builder;
  builder.Start();
  builder.AddAllSteps();
  builder.End();
  Aggregator run;
  const Report report = Of(builder, &run);
  ASSERT_EQ(report.comparison.size(), 2u);
  const Comparison& first = report.comparison[0];
  EXPECT_EQ(first.a, "sql");
  EXPECT_EQ(first.b, "hs");
  EXPECT_EQ(first.step.sessions(), 1u);
  EXPECT_EQ(first.metric, "throughput");
  EXPECT_EQ(first.rounds, 2u);
  ASSERT_TRUE(first.ratio && first.ratio->ci95);
  EXPECT_NEAR(first.ratio->value, 2.0, 0.02);
  EXPECT_LE(first.ratio->ci95->low, first.ratio->value);
  EXPECT_GE(first.ratio->ci95->high, first.ratio->value);
  EXPECT_EQ(first.verdict.substr(0, 32), "hs does 2.00 x the find/s of sql");
}

TEST(Comparison, LatencyHasASentenceOfItsOwn) {
  RunBuilder builder(RunOptions{.sessions = {16}, .metric = v1::METRIC_P99});
  builder.Start();
  builder.AddAllSteps();
  builder.End();
  Aggregator run;
  const Report report = Of(builder, &run);
  ASSERT_EQ(report.comparison.size(), 1u);
  EXPECT_EQ(report.comparison[0].metric, "p99");
  EXPECT_EQ(report.comparison[0].verdict.find("p99 of hs is 0.50 x that of sql"), 0u)
      << report.comparison[0].verdict;
}

TEST(Comparison, AnIntervalAroundOneShowsNoDifference) {
  RunBuilder builder(RunOptions{.targets = {"sql", "sql2"}, .sessions = {16}});
  builder.Start();
  for (const std::uint64_t ok : {100u, 103u, 101u, 99u}) builder.AddStep(StepShape{.ok = ok});
  builder.End();
  Aggregator run;
  const Report report = Of(builder, &run);
  EXPECT_EQ(report.comparison.at(0).verdict.find("no difference shown"), 0u)
      << report.comparison[0].verdict;
}

TEST(Comparison, OneRoundHasNoInterval) {
  RunBuilder builder(RunOptions{.sessions = {16}, .rounds = 1});
  builder.Start();
  builder.AddAllSteps();
  builder.End();
  Aggregator run;
  const Report report = Of(builder, &run);
  ASSERT_TRUE(report.comparison.at(0).ratio.has_value());
  EXPECT_FALSE(report.comparison[0].ratio->ci95.has_value());
  EXPECT_NE(report.comparison[0].verdict.find("one round: no interval"), std::string::npos);
}

TEST(Comparison, RoundsThatCannotBeJudgedAreLeftOutAndNamed) {
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep();                            // sql, round 1
  builder.AddStep(StepShape{.limited = true});  // hs, round 1
  builder.AddStep(StepShape{.ok = 200});        // hs, round 2
  builder.AddStep();                            // sql, round 2
  builder.End();
  Aggregator run;
  const Report report = Of(builder, &run);
  const Comparison& comparison = report.comparison.at(0);
  EXPECT_EQ(comparison.rounds, 1u);
  EXPECT_NEAR(comparison.ratio->value, 2.0, 1e-9);
  EXPECT_NE(comparison.verdict.find("left out: the generator was the limit of hs in round 1"),
            std::string::npos)
      << comparison.verdict;
}

TEST(Comparison, WithoutARoundItIsNotJudged) {
  RunBuilder builder(RunOptions{.sessions = {16}, .rounds = 1});
  builder.Start();
  builder.AddStep(StepShape{.lose = "gen2"});
  builder.AddStep();
  builder.End(v1::RUN_END_PARTIAL);
  Aggregator run;
  const Report report = Of(builder, &run);
  EXPECT_FALSE(report.comparison.at(0).ratio.has_value());
  EXPECT_EQ(report.comparison[0].verdict,
            "hs against sql: not judged: sql lost an agent in round 1");
}

}  // namespace
}  // namespace cavalry::report
