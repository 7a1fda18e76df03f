#include "coordinator/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/wire/histogram_codec.h"
#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

struct Made {
  std::unique_ptr<Aggregator> run;
  Report report;
};

Made Make(RunBuilder& builder) {
  Made made;
  made.run = std::make_unique<Aggregator>(ApplyAll(builder.entries()));
  made.report = MakeReport(*made.run);
  return made;
}

Made RunOf(const StepShape& shape, RunOptions options = {}, v1::RunEnd end = v1::RUN_END_COMPLETE,
           const Status& status = Status()) {
  RunBuilder builder(std::move(options));
  builder.Start();
  builder.AddAllSteps(shape);
  builder.End(end, status);
  return Make(builder);
}

bool Warns(const Report& report, const std::string& part) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(Report, ACompleteRunExitsZero) {
  const Made made = RunOf({});
  EXPECT_EQ(made.report.status, RunStatus::kComplete);
  EXPECT_EQ(made.report.exit_status, 0) << made.report.exit_reason;
  EXPECT_EQ(made.report.results.size(), 8u);
  ASSERT_EQ(made.report.summary.size(), 4u);
  EXPECT_EQ(made.report.summary[0].step.target(), "sql");
  EXPECT_EQ(made.report.summary[1].step.target(), "hs");
  EXPECT_EQ(made.report.summary[2].step.sessions(), 16u);
}

TEST(Report, RoundsAreMergedByAddingHistograms) {
  const Made made = RunOf({});
  for (const Result& point : made.report.summary) {
    std::uint64_t count = 0;
    double seconds = 0;
    for (const Result& result : made.report.results) {
      if (result.step.target() != point.step.target()) continue;
      if (result.step.sessions() != point.step.sessions()) continue;
      count += result.totals->Response()->count();
      seconds += result.duration_s;
    }
    EXPECT_EQ(point.rounds, 2u);
    EXPECT_EQ(point.totals->Response()->count(), count);
    EXPECT_DOUBLE_EQ(point.duration_s, seconds);
    EXPECT_DOUBLE_EQ(*point.ops_per_s, static_cast<double>(count) / seconds);
    EXPECT_EQ(point.round_figures.size(), 2u);
  }
}

TEST(Report, TheOrderOfRoundsDoesNotMatterToTheSummary) {
  // The same steps executed in another order: only the order of results differs.
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  const std::size_t start = builder.entries().size();
  std::vector<std::size_t> bounds = {start};
  while (builder.steps_left() > 0) {
    builder.AddStep();
    bounds.push_back(builder.entries().size());
  }
  std::vector<v1::JournalEntry> reversed(builder.entries().begin(),
                                         builder.entries().begin() + static_cast<int>(start));
  for (std::size_t i = bounds.size() - 1; i > 0; --i) {
    reversed.insert(reversed.end(), builder.entries().begin() + static_cast<int>(bounds[i - 1]),
                    builder.entries().begin() + static_cast<int>(bounds[i]));
  }
  const Aggregator one = ApplyAll(builder.entries());
  const Aggregator two = ApplyAll(reversed);
  const Report x = MakeReport(one);
  const Report y = MakeReport(two);
  ASSERT_EQ(x.summary.size(), y.summary.size());
  for (std::size_t i = 0; i < x.summary.size(); ++i) {
    EXPECT_EQ(x.summary[i].totals->TotalOperations(), y.summary[i].totals->TotalOperations());
    EXPECT_EQ(x.summary[i].round_figures, y.summary[i].round_figures);
    EXPECT_EQ(x.summary[i].totals->Response()->Percentile(99),
              y.summary[i].totals->Response()->Percentile(99));
  }
  EXPECT_EQ(x.comparison[0].verdict, y.comparison[0].verdict);
}

TEST(Report, DifferentPipelinesAreSaidOfWhatIsCompared) {
  EXPECT_FALSE(Warns(RunOf({}).report, "in flight per session"));
  const Made made = RunOf(StepShape{.pipeline = 3});
  EXPECT_TRUE(Warns(made.report,
                    "operations in flight per session (sql up to 1, hs up to 3), so the ratio "
                    "compares different concurrency: 1 session; 16 sessions."));
}

TEST(Report, AFailedThresholdExitsThree) {
  const Made made = RunOf(StepShape{.rejected = 10});
  EXPECT_EQ(made.report.exit_status, 3);
  EXPECT_NE(made.report.exit_reason.find("failed < 1%"), std::string::npos);
  EXPECT_EQ(made.report.status, RunStatus::kComplete);
}

TEST(Report, ALostAgentExitsFourAndIsNamed) {
  RunBuilder builder(RunOptions{.sessions = {16}, .thresholds = {"p99 < 1us"}});
  builder.Start();
  builder.AddStep(StepShape{.lose = "gen2"});
  builder.AddAllSteps();
  builder.End(v1::RUN_END_COMPLETE);
  const Made made = Make(builder);
  EXPECT_EQ(made.report.status, RunStatus::kPartial);
  EXPECT_EQ(made.report.exit_status, 4);  // before the failed threshold's 3
  EXPECT_NE(made.report.exit_reason.find("gen2"), std::string::npos);
  EXPECT_TRUE(Warns(made.report, "Agent gen2 was lost in step 1"));
  EXPECT_TRUE(made.report.results[0].lost_agent);
  EXPECT_FALSE(made.report.results[0].judged());
  EXPECT_TRUE(made.report.results[1].judged());
}

TEST(Report, AnAgentThatLeftBeforeTheRunAndCameAgainIsFine) {
  RunBuilder builder;
  builder.Start();
  const v1::JournalEntry joined = builder.entries().back();
  v1::JournalEntry lost;
  lost.mutable_agent_lost()->set_agent("gen2");
  lost.mutable_agent_lost()->set_reason("its stream ended");
  builder.Add(lost);
  builder.Add(joined);
  builder.AddAllSteps();
  builder.End();
  const Made made = Make(builder);
  EXPECT_EQ(made.report.status, RunStatus::kComplete);
  EXPECT_EQ(made.report.exit_status, 0) << made.report.exit_reason;
  EXPECT_FALSE(made.run->agents()[1].lost);
}

TEST(Report, AnAgentLostBetweenStepsMakesAPartialRunIfTheCoordinatorSaysSo) {
  for (const bool partial : {true, false}) {
    RunBuilder builder(RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1});
    builder.Start();
    builder.AddStep();
    v1::JournalEntry lost;
    lost.mutable_agent_lost()->set_agent("gen2");
    lost.mutable_agent_lost()->set_reason("its stream ended");
    builder.Add(lost);
    builder.End(partial ? v1::RUN_END_PARTIAL : v1::RUN_END_COMPLETE);
    const Made made = Make(builder);
    EXPECT_EQ(made.report.exit_status, partial ? 4 : 0);
    EXPECT_TRUE(Warns(made.report, "Agent gen2 was lost between steps"));
  }
}

TEST(Report, SessionsThatNeverConnectedExitFourWithBothNumbers) {
  const Made made = RunOf(StepShape{.never_connected = 3}, RunOptions{.sessions = {16}});
  EXPECT_EQ(made.report.exit_status, 4);
  EXPECT_TRUE(Warns(made.report, "6 of 32 sessions never connected (over 2 rounds)"));
}

TEST(Report, NothingOkExitsFour) {
  const Made made = RunOf(StepShape{.ok = 0, .rejected = 20});
  EXPECT_EQ(made.report.exit_status, 4);
  EXPECT_TRUE(Warns(made.report, "Nothing succeeded"));
}

TEST(Report, OnlyMissesHintAtWhatIsWrong) {
  const Made made = RunOf(StepShape{.ok = 0, .miss = 20}, RunOptions{.sessions = {16}});
  EXPECT_EQ(made.report.exit_status, 4);
  EXPECT_TRUE(Warns(made.report, "nothing was loaded, or the key range is wrong"));
  EXPECT_FALSE(Warns(made.report, "Nothing succeeded"));
}

TEST(Report, SomeMissesAreNamed) {
  const Made made = RunOf(StepShape{.miss = 5});
  EXPECT_TRUE(Warns(made.report, "found no row"));
  EXPECT_EQ(made.report.exit_status, 0);
}

TEST(Report, BeingLimitedByTheGeneratorExitsFourOnlyWhenStrict) {
  const Made made = RunOf(StepShape{.limited = true});
  EXPECT_EQ(made.report.exit_status, 0);
  EXPECT_TRUE(Warns(made.report, "add agents or cores"));
  RunOptions options;
  options.strict = true;
  EXPECT_EQ(RunOf(StepShape{.limited = true}, options).report.exit_status, 4);
}

TEST(Report, AnInterruptedRunExits130) {
  RunBuilder builder;
  builder.Start();
  builder.AddStep(StepShape{.end_as = v1::STEP_END_INTERRUPTED});
  builder.End(v1::RUN_END_INTERRUPTED);
  const Made made = Make(builder);
  EXPECT_EQ(made.report.status, RunStatus::kInterrupted);
  EXPECT_EQ(made.report.exit_status, 130);
  EXPECT_EQ(made.report.results.size(), 1u);
}

TEST(Report, AFailedRunExitsOneAndAWrongSpecTwo) {
  const Made failed = RunOf({}, {}, v1::RUN_END_FAILED, FailedPrecondition("access denied"));
  EXPECT_EQ(failed.report.exit_status, 1);
  EXPECT_EQ(failed.report.exit_reason, "access denied");
  EXPECT_EQ(RunOf({}, {}, v1::RUN_END_FAILED, InvalidArgument("x")).report.exit_status, 2);
}

TEST(Report, ARunWithoutAnEndIsPartial) {
  RunBuilder builder;
  builder.Start();
  builder.AddStep();
  const Made made = Make(builder);
  EXPECT_EQ(made.report.status, RunStatus::kPartial);
  EXPECT_EQ(made.report.exit_status, 4);
  EXPECT_TRUE(Warns(made.report, "did not end this run"));
}

TEST(Report, StepsThatAreMissingMakeARunPartial) {
  RunBuilder builder;
  builder.Start();
  builder.AddStep();
  builder.End();
  EXPECT_EQ(Make(builder).report.exit_status, 4);
}

TEST(Report, ARunWithoutAStepIsStillAReport) {
  RunBuilder builder;
  builder.Start();
  builder.End(v1::RUN_END_FAILED, Unavailable("connect db1:3306: connection refused"));
  const Made made = Make(builder);
  EXPECT_EQ(made.report.exit_status, 1);
  EXPECT_TRUE(made.report.results.empty());
  EXPECT_NE(RenderText(made.report, "").find("connection refused"), std::string::npos);
}

TEST(Report, IdleAgentsAndSingleSessionsAreSaid) {
  const Made made = RunOf({}, RunOptions{.sessions = {1}});
  EXPECT_TRUE(Warns(made.report, "Agent gen2 was idle"));
  EXPECT_TRUE(Warns(made.report, "One session compares response time, not capacity"));
  EXPECT_FALSE(Warns(made.report, "in a batch"));
  EXPECT_TRUE(Warns(RunOf({}).report, "its neighbours in a batch"));
}

TEST(Report, WrongAnswersAndLostWritesAreSaid) {
  EXPECT_TRUE(Warns(RunOf(StepShape{.wrong_answers = 2}).report, "did not match the row"));
  v1::AuditResult audit;
  audit.set_acknowledged(9);
  audit.set_lost(4);
  RunOptions options{.sessions = {16}, .writes = true};
  EXPECT_TRUE(Warns(RunOf(StepShape{.audit = audit}, options).report,
                    "of 36 acknowledged writes 16 are lost"));
}

TEST(Report, ALongDrainIsSaid) {
  RunBuilder builder(RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1});
  builder.Start();
  builder.AddStep();
  builder.End();
  for (v1::JournalEntry& entry : builder.entries()) {
    if (entry.has_step_report()) {
      entry.mutable_step_report()->mutable_report()->set_duration_ns(2'100'000'000);
    }
  }
  EXPECT_TRUE(Warns(Make(builder).report, "more than 2 %"));
}

TEST(Report, SecondsWithoutASuccessAreSaid) {
  const RunOptions options{.targets = {"sql"}, .sessions = {16}, .rounds = 2};
  EXPECT_FALSE(Warns(RunOf({}, options).report, "nothing succeeded"));
  EXPECT_TRUE(Warns(RunOf(StepShape{.seconds = 4, .silent = 2}, options).report,
                    "nothing succeeded: sql, 16 sessions (2 of 8 s)"));
  // Of a slow load that is nothing special.
  EXPECT_FALSE(Warns(RunOf(StepShape{.seconds = 4, .ok = 3, .silent = 2}, options).report,
                     "nothing succeeded"));
}

TEST(Report, AnAgentThatStoodStillIsSaid) {
  RunBuilder builder(RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1});
  builder.Start();
  builder.AddStep();
  builder.End();
  EXPECT_FALSE(Warns(Make(builder).report, "stood still"));
  stats::LatencyHistogram lag;
  lag.Record(3 * kSecond);
  for (v1::JournalEntry& entry : builder.entries()) {
    if (!entry.has_step_report() || entry.step_report().agent() != "gen2") continue;
    v1::Histogram* message = entry.mutable_step_report()->mutable_report()->mutable_loop_lag();
    message->Clear();
    wire::ToMessage(lag, message);
  }
  const Made made = Make(builder);
  EXPECT_TRUE(Warns(made.report, "Agent gen2 stood still for up to 3 s"));
  EXPECT_FALSE(Warns(made.report, "Agent gen1 stood still"));
}

TEST(Report, WarningsOfTheJournalAreKeptOnce) {
  RunBuilder builder(RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1, .strict = true});
  builder.Start();
  for (int i = 0; i < 3; ++i) {
    v1::JournalEntry entry;
    entry.mutable_warning()->set_text("gen1 is short of cores");
    entry.mutable_warning()->set_generator(true);
    builder.Add(entry);
  }
  builder.AddStep();
  builder.End();
  const Made made = Make(builder);
  EXPECT_TRUE(Warns(made.report, "gen1 is short of cores (3 times)"));
  EXPECT_EQ(made.report.exit_status, 4);
}

TEST(Report, CpuPerOperationAndBusyShare) {
  const Made made = RunOf({}, RunOptions{.targets = {"sql"}, .sessions = {16}, .rounds = 1});
  const Result& result = made.report.results.at(0);
  EXPECT_NEAR(*result.busy, 0.06, 1e-9);
  const auto ops = static_cast<double>(result.totals->TotalOperations().attempted);
  EXPECT_NEAR(*result.cpu_user_us_per_op, 0.08e6 / ops, 1e-6);  // 2 agents x 2 workers x 20 ms
  EXPECT_NEAR(*result.cpu_system_us_per_op, 0.4e6 / ops, 1e-6);
}

}  // namespace
}  // namespace cavalry::report
