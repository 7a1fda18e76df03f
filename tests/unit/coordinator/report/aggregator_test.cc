#include "coordinator/report/aggregator.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

using Entries = std::vector<v1::JournalEntry>;

RunBuilder OneStep(const StepShape& shape, RunOptions options = {}) {
  RunBuilder builder(std::move(options));
  builder.Start();
  builder.AddStep(shape);
  return builder;
}

// Applies all; the status of the first refused one.
Status ApplyUntilRefused(const Entries& entries, Aggregator* run) {
  Status first;
  for (const v1::JournalEntry& entry : entries) {
    const Status status = run->Apply(entry);
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

// The n-th (from 0) entry of a kind.
v1::JournalEntry& Nth(Entries* entries, v1::JournalEntry::EventCase kind, int n) {
  for (v1::JournalEntry& entry : *entries) {
    if (entry.event_case() == kind && n-- == 0) return entry;
  }
  ADD_FAILURE() << "no such entry";
  return entries->front();
}

v1::Interval* MeasureInterval(Entries* entries, const std::string& agent) {
  for (v1::JournalEntry& entry : *entries) {
    if (entry.has_interval() && entry.interval().agent() == agent &&
        entry.interval().interval().part() == v1::STEP_PART_MEASURE) {
      return entry.mutable_interval()->mutable_interval();
    }
  }
  return nullptr;
}

TEST(Aggregator, TotalsAreTheSumOverAgentsIntervalsAndSeconds) {
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep(StepShape{.seconds = 3, .ok = 50, .miss = 2, .rejected = 1});
  const Aggregator run = ApplyAll(builder.entries());
  const StepView& step = run.steps().at(0);
  const stats::OperationCounters ops = step.totals.TotalOperations();
  EXPECT_EQ(ops[Outcome::kOk], 2u * 3 * 50);
  EXPECT_EQ(ops[Outcome::kMiss], 2u * 3 * 2);
  EXPECT_EQ(ops[Outcome::kRejected], 2u * 3);
  EXPECT_EQ(ops.attempted, 2u * 3 * 53);
  EXPECT_TRUE(ops.balanced());
  std::uint64_t seconds_ok = 0;
  for (const SecondView& second : step.seconds) seconds_ok += second.ok;
  EXPECT_EQ(seconds_ok, ops[Outcome::kOk]);
  EXPECT_EQ(step.totals.Response()->count(), step.totals.iterations.ok);
  EXPECT_TRUE(step.complete());
  EXPECT_EQ(step.duration, 3 * kSecond + 500'000);
  EXPECT_EQ(step.connect->count(), 16u);  // they came with the first warm-up interval
  EXPECT_EQ(step.loop, "io_uring");
}

TEST(Aggregator, WarmUpIsInNoTotal) {
  const Aggregator with = ApplyAll(OneStep(StepShape{.warmup_seconds = 5}).entries());
  EXPECT_EQ(with.steps()[0].warmup_seconds.size(), 5u);
  EXPECT_EQ(with.steps()[0].totals.TotalOperations().attempted, 200u);  // 1 session, 2 s
}

TEST(Aggregator, AnIdleAgentIsFine) {
  const Aggregator run = ApplyAll(OneStep({}).entries());  // one session, two agents
  EXPECT_EQ(run.steps()[0].agents[1].sessions, 0u);
  EXPECT_TRUE(run.steps()[0].complete());
}

TEST(Aggregator, WhatALostAgentHadInFlightIsAbandoned) {
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep(StepShape{.seconds = 3, .in_flight = 5, .lose = "gen2"});
  const Aggregator run = ApplyAll(builder.entries());
  const StepView& step = run.steps().at(0);
  const stats::OperationCounters ops = step.totals.TotalOperations();
  EXPECT_EQ(ops[Outcome::kAbandoned], 5u);
  EXPECT_EQ(step.totals.iterations.abandoned, 5u);
  std::uint64_t failed = 0;
  for (const SecondView& second : step.seconds) failed += second.failed;
  EXPECT_EQ(failed, 5u);  // seconds add up to the totals
  EXPECT_EQ(ops[Outcome::kOk], 5u * 100 - 0u);
  EXPECT_TRUE(ops.balanced());
  EXPECT_TRUE(step.lost_agent);
  EXPECT_FALSE(step.complete());
  EXPECT_TRUE(step.agents[1].lost);
  EXPECT_TRUE(step.warnings.empty());  // attempted - ended is what it said to have in flight
  EXPECT_TRUE(run.agents()[1].lost);
  EXPECT_EQ(run.agents()[1].lost_in_step, 1u);
}

TEST(Aggregator, ALostAgentsWritesAreUnaudited) {
  v1::AuditResult audit;
  audit.set_acknowledged(300);
  RunBuilder builder = OneStep(StepShape{.seconds = 3, .lose = "gen2", .audit = audit},
                               RunOptions{.sessions = {16}, .writes = true});
  const Aggregator run = ApplyAll(builder.entries());
  const StepView& step = run.steps().at(0);
  ASSERT_TRUE(step.audit.has_value());
  EXPECT_EQ(step.audit->acknowledged(), 300u);
  EXPECT_EQ(step.audit->unaudited(), 300u);  // one second of warm-up, two of measure
  ASSERT_EQ(step.warnings.size(), 1u);
  EXPECT_NE(step.warnings[0].find("gen2"), std::string::npos);
}

TEST(Aggregator, ALostReaderLeavesNothingUnaudited) {
  const Aggregator run =
      ApplyAll(OneStep(StepShape{.lose = "gen2"}, RunOptions{.sessions = {16}}).entries());
  EXPECT_FALSE(run.steps()[0].audit.has_value());
}

TEST(Aggregator, TheOrderOfAgentsDoesNotMatter) {
  RunBuilder builder(RunOptions{.sessions = {16}, .agents = {"a", "b", "c"}});
  builder.Start();
  builder.AddStep(StepShape{.seconds = 4});
  Entries other = builder.entries();
  // Each agent's own messages keep their order; those of different agents change places.
  std::stable_sort(other.begin(), other.end(), [](const auto& x, const auto& y) {
    return x.has_interval() && y.has_interval() && x.interval().agent() > y.interval().agent();
  });
  const Aggregator one = ApplyAll(builder.entries());
  const Aggregator two = ApplyAll(other);
  const StepView& x = one.steps()[0];
  const StepView& y = two.steps()[0];
  EXPECT_EQ(x.totals.TotalOperations(), y.totals.TotalOperations());
  EXPECT_EQ(x.totals.iterations, y.totals.iterations);
  SparseHistogram hx, hy;
  hx.Add(*x.totals.Response());
  hy.Add(*y.totals.Response());
  EXPECT_TRUE(hx.SameSamples(hy));
  ASSERT_EQ(x.seconds.size(), y.seconds.size());
  for (std::size_t i = 0; i < x.seconds.size(); ++i) {
    EXPECT_TRUE(x.seconds[i].response.SameSamples(y.seconds[i].response));
  }
}

TEST(Aggregator, NamesTheAgentWhoseReportIsNotTheSumOfItsIntervals) {
  RunBuilder builder = OneStep(StepShape{}, RunOptions{.sessions = {16}});
  auto* report = Nth(&builder.entries(), v1::JournalEntry::kStepReport, 1)
                     .mutable_step_report()
                     ->mutable_report();
  auto* interval = MeasureInterval(&builder.entries(), "gen1");
  *report->mutable_totals() = interval->stats();  // of one second only
  Aggregator run;
  const Status status = ApplyUntilRefused(builder.entries(), &run);
  EXPECT_NE(StatusText(status).find("gen2"), std::string::npos) << StatusText(status);
  EXPECT_NE(StatusText(status).find("attempted"), std::string::npos) << StatusText(status);
  const StepView& step = run.steps().at(0);
  EXPECT_TRUE(step.faulty_agent);
  EXPECT_FALSE(step.complete());
  EXPECT_FALSE(step.agents[1].report.has_value());
  EXPECT_TRUE(step.totals.TotalOperations().balanced());
}

TEST(Aggregator, RefusesDuplicateAndMissingIntervals) {
  for (const std::uint64_t seq : {1u, 3u, 0u}) {
    RunBuilder builder = OneStep(StepShape{.warmup_seconds = 1}, RunOptions{.sessions = {16}});
    MeasureInterval(&builder.entries(), "gen1")->set_seq(seq);
    Aggregator run;
    const Status status = ApplyUntilRefused(builder.entries(), &run);
    EXPECT_NE(StatusText(status).find("gen1"), std::string::npos) << StatusText(status);
    EXPECT_TRUE(run.steps()[0].agents[0].faulty);
    EXPECT_FALSE(run.steps()[0].agents[1].faulty);
    EXPECT_TRUE(run.steps()[0].totals.TotalOperations().balanced());
  }
}

TEST(Aggregator, RefusesWhatCannotBeRightInAnInterval) {
  const auto refuse = [](void (*spoil)(v1::Interval*)) {
    RunBuilder builder = OneStep(StepShape{}, RunOptions{.sessions = {16}});
    spoil(MeasureInterval(&builder.entries(), "gen2"));
    Aggregator run;
    const Status status = ApplyUntilRefused(builder.entries(), &run);
    EXPECT_NE(StatusText(status).find("gen2"), std::string::npos) << StatusText(status);
    ASSERT_EQ(run.steps().size(), 1u);
    EXPECT_TRUE(run.steps()[0].ended);
    EXPECT_TRUE(run.steps()[0].totals.TotalOperations().balanced());
  };
  refuse([](v1::Interval* interval) { interval->set_index(0xffffffff); });
  refuse([](v1::Interval* interval) { interval->set_part(v1::STEP_PART_UNSPECIFIED); });
  refuse([](v1::Interval* interval) { interval->mutable_stats()->clear_operations(); });
  refuse([](v1::Interval* interval) {
    interval->mutable_stats()->mutable_operations(0)->set_operation("other");
  });
  refuse([](v1::Interval* interval) {
    interval->mutable_stats()->mutable_operations(0)->mutable_ops()->set_ok(7);
  });
  refuse([](v1::Interval* interval) {
    interval->mutable_stats()->mutable_operations(0)->mutable_service()->set_counts("\x80\x80");
  });
  refuse([](v1::Interval* interval) {
    interval->mutable_stats()->mutable_operations(0)->mutable_ops()->set_attempted(3);
  });
  refuse([](v1::Interval* interval) {
    interval->mutable_stats()->mutable_operations(0)->mutable_ops()->set_abandoned(~0ULL);
  });
}

TEST(Aggregator, RefusesAStepReportOfMoreThanAWeek) {
  RunBuilder builder = OneStep({});
  Nth(&builder.entries(), v1::JournalEntry::kStepReport, 0)
      .mutable_step_report()
      ->mutable_report()
      ->set_duration_ns(~0ULL);
  Aggregator run;
  EXPECT_FALSE(ApplyUntilRefused(builder.entries(), &run).ok());
}

TEST(Aggregator, RefusesUnknownStepsAndAgents) {
  RunBuilder builder = OneStep(StepShape{.end = false});
  Aggregator run = ApplyAll(builder.entries());
  v1::JournalEntry entry = Nth(&builder.entries(), v1::JournalEntry::kInterval, 0);
  entry.mutable_interval()->set_agent("nobody");
  EXPECT_FALSE(run.Apply(entry).ok());
  entry.mutable_interval()->set_agent("gen1");
  entry.mutable_interval()->set_step_id(99);
  EXPECT_FALSE(run.Apply(entry).ok());
  v1::JournalEntry step;
  step.mutable_step_started()->mutable_step()->set_id(99);
  EXPECT_FALSE(run.Apply(step).ok());
  v1::JournalEntry lost;
  lost.mutable_agent_lost()->set_agent("nobody");
  EXPECT_FALSE(run.Apply(lost).ok());
  EXPECT_FALSE(run.Apply(v1::JournalEntry()).ok());
  EXPECT_FALSE(run.steps()[0].faulty_agent);
}

TEST(Aggregator, TheRunMustBegin) {
  RunBuilder builder = OneStep({});
  Aggregator run;
  EXPECT_FALSE(run.Apply(builder.entries()[1]).ok());
  EXPECT_FALSE(run.started());
  EXPECT_TRUE(run.Apply(builder.entries()[0]).ok());
  EXPECT_FALSE(run.Apply(builder.entries()[0]).ok());
}

TEST(Aggregator, ALostAgentIsHeardNoMore) {
  RunBuilder builder =
      OneStep(StepShape{.lose = "gen2", .end = false}, RunOptions{.sessions = {16}});
  Aggregator run = ApplyAll(builder.entries());
  v1::JournalEntry late = Nth(&builder.entries(), v1::JournalEntry::kInterval, 0);
  late.mutable_interval()->set_agent("gen2");
  EXPECT_FALSE(run.Apply(late).ok());
}

TEST(Aggregator, AnOpenStepIsClosedAndBalances) {
  RunBuilder builder =
      OneStep(StepShape{.in_flight = 3, .end = false}, RunOptions{.sessions = {16}});
  // The journal ends behind the first measured second.
  Entries cut;
  int measured = 0;
  for (const v1::JournalEntry& entry : builder.entries()) {
    const bool is_measured =
        entry.has_interval() && entry.interval().interval().part() == v1::STEP_PART_MEASURE;
    if (is_measured && ++measured > 2) break;
    cut.push_back(entry);
  }
  Aggregator run = ApplyAll(cut);
  ASSERT_NE(run.current_step(), nullptr);
  run.CloseOpenStep("its journal ends here");
  EXPECT_EQ(run.current_step(), nullptr);
  const StepView& step = run.steps()[0];
  EXPECT_EQ(step.totals.TotalOperations()[Outcome::kAbandoned], 6u);
  EXPECT_TRUE(step.totals.TotalOperations().balanced());
  EXPECT_EQ(step.duration, kSecond);
}

// C09: agent A sees only quick answers, agent B one of 30 s.
TEST(Aggregator, MergesHistogramsOfUnlikeRange) {
  RunBuilder builder = OneStep(StepShape{.latency = 50 * kMicrosecond, .one_more = 30 * kSecond},
                               RunOptions{.sessions = {16}});
  const Aggregator run = ApplyAll(builder.entries());
  const stats::LatencyHistogram& response = *run.steps()[0].totals.Response();
  EXPECT_EQ(response.count(), 2u * 2 * 100 + 1);
  EXPECT_EQ(response.max(), 30 * kSecond);
  EXPECT_LT(response.Percentile(99), kMillisecond);
}

}  // namespace
}  // namespace cavalry::report
