#include "coordinator/report/threshold_evaluation.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

std::vector<ThresholdResult> Evaluate(const std::vector<std::string>& expressions,
                                      const StepShape& shape, RunOptions options = {}) {
  options.thresholds = expressions;
  RunBuilder builder(options);
  builder.Start();
  builder.AddAllSteps(shape);
  builder.End();
  const Aggregator run = ApplyAll(builder.entries());
  return MakeReport(run).thresholds;
}

TEST(Thresholds, SharesAreOfAttempted) {
  const auto results = Evaluate({"failed < 1%", "miss < 10%"},
                                StepShape{.ok = 89, .miss = 9, .rejected = 2, .in_flight = 0},
                                RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_NEAR(*results[0].value, 0.02, 1e-3);
  EXPECT_FALSE(results[0].passed);
  EXPECT_NEAR(*results[1].value, 0.09, 1e-3);
  EXPECT_TRUE(results[1].passed);
}

TEST(Thresholds, AreHeldPerTargetAndLoadPointTheWorstFirst) {
  const auto results = Evaluate({"p99 < 90us"}, {}, RunOptions{.sessions = {1, 16}});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].target, "sql");
  EXPECT_FALSE(results[0].passed);
  EXPECT_FALSE(results[1].passed);
  EXPECT_EQ(results[2].target, "hs");
  EXPECT_TRUE(results[2].passed);
  EXPECT_GE(*results[0].value, *results[1].value);
  EXPECT_GE(*results[2].value, *results[3].value);
}

TEST(Thresholds, MayNameOneTarget) {
  const auto results = Evaluate({"throughput(find, hs) > 10/s"}, {}, RunOptions{.sessions = {16}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].target, "hs");
  EXPECT_TRUE(results[0].passed);
  EXPECT_NEAR(*results[0].value, 2 * 203.0, 3.0);  // per second, two agents
}

TEST(Thresholds, AnOperationHasServiceTimeAScriptResponseTime) {
  const auto results = Evaluate(
      {"max(find) < 150us", "max(checkout) < 150us", "max < 150us"}, {},
      RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1, .two_operations = true});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].passed);
  EXPECT_FALSE(results[1].passed);
  EXPECT_NEAR(*results[1].value, 2 * *results[0].value, 1.0);
  EXPECT_EQ(*results[2].value, *results[1].value);
}

TEST(Thresholds, WithoutSamplesTheyFail) {
  const auto results =
      Evaluate({"p99 < 5s", "reached >= 99%", "lost == 0", "p50(other) < 1s"},
               StepShape{.ok = 0, .rejected = 5}, RunOptions{.targets = {"sql"}, .sessions = {16}});
  ASSERT_EQ(results.size(), 4u);
  for (const ThresholdResult& result : results) {
    EXPECT_FALSE(result.passed) << result.expression;
    EXPECT_FALSE(result.value.has_value()) << result.expression;
    EXPECT_EQ(result.shown, "no samples");
  }
}

TEST(Thresholds, LostIsOfTheAudit) {
  v1::AuditResult audit;
  audit.set_acknowledged(10);
  audit.set_lost(1);
  const auto results =
      Evaluate({"lost == 0"}, StepShape{.audit = audit},
               RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1, .writes = true});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(*results[0].value, 2.0);  // one of each agent
  EXPECT_FALSE(results[0].passed);
}

TEST(Thresholds, RoundsAreMergedAsHistograms) {
  // Ninety-nine quick samples and one slow one of another round: the p99 of the merged 200 samples
  // is quick, the mean of the rounds' p99 would not be.
  RunOptions options{.targets = {"sql"}, .sessions = {1}, .rounds = 2, .agents = {"gen1"}};
  options.thresholds = {"p99 < 200us"};
  RunBuilder builder(options);
  builder.Start();
  builder.AddStep(StepShape{.seconds = 1, .ok = 100});
  builder.AddStep(StepShape{.seconds = 1, .ok = 99, .one_more = kSecond});
  builder.End();
  const Aggregator run = ApplyAll(builder.entries());
  const Report report = MakeReport(run);
  ASSERT_EQ(report.thresholds.size(), 1u);
  EXPECT_TRUE(report.thresholds[0].passed) << report.thresholds[0].shown;
}

}  // namespace
}  // namespace cavalry::report
