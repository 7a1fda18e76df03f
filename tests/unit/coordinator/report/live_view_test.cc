#include "coordinator/report/live_view.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

// The entries of a first step up to the n-th measured interval.
Aggregator UpTo(int intervals, const StepShape& shape = {}) {
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep(shape);
  Aggregator run;
  int measured = 0;
  for (const v1::JournalEntry& entry : builder.entries()) {
    const bool is_measured =
        entry.has_interval() && entry.interval().interval().part() == v1::STEP_PART_MEASURE;
    if (entry.has_step_report() || (is_measured && ++measured > intervals)) break;
    EXPECT_TRUE(run.Apply(entry).ok());
  }
  return run;
}

TEST(LiveView, PlainLineNamesTheStepAndItsLastWholeSecond) {
  // Three intervals: the second one has been reported by one of two agents only.
  const Aggregator run = UpTo(3, StepShape{.rejected = 2});
  const std::string line = RenderPlainLine(run, LiveOptions{.elapsed = 12 * kSecond});
  EXPECT_EQ(line.find("0:12 step 1/4 sql, 16 sessions  measure 2/2 s  200 find/s  p50 "), 0u)
      << line;
  EXPECT_NE(line.find("failed 4 (6 x 1213 (rejected))"), std::string::npos) << line;
}

TEST(LiveView, WarmUpIsShownAsSuch) {
  const std::string line = RenderPlainLine(UpTo(0), LiveOptions{.elapsed = kSecond});
  EXPECT_NE(line.find("warm-up 1/1 s"), std::string::npos) << line;
}

TEST(LiveView, WhatComesAfterTheLastWholeSecondIsNoRate) {
  // A third second of measuring, of two: the drain's.
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep(StepShape{});
  Aggregator run;
  for (const v1::JournalEntry& entry : builder.entries()) {
    if (entry.has_step_report()) break;
    ASSERT_TRUE(run.Apply(entry).ok());
    if (!entry.has_interval() || entry.interval().interval().part() != v1::STEP_PART_MEASURE ||
        entry.interval().interval().index() != 1) {
      continue;
    }
    v1::JournalEntry late = entry;
    v1::Interval* interval = late.mutable_interval()->mutable_interval();
    interval->set_seq(interval->seq() + 1);
    interval->set_index(2);
    v1::Stats nothing;
    for (const auto& operation : interval->stats().operations()) {
      nothing.add_operations()->set_operation(operation.operation());
    }
    *interval->mutable_stats() = nothing;
    const Status applied = run.Apply(late);
    ASSERT_TRUE(applied.ok()) << StatusText(applied);
  }
  const std::string line = RenderPlainLine(run, LiveOptions{.elapsed = 12 * kSecond});
  EXPECT_NE(line.find("measure 2/2 s  200 find/s"), std::string::npos) << line;
}

TEST(LiveView, PhasesWithoutLoadShowTheCallersLine) {
  const LiveOptions options{.elapsed = 3 * kSecond,
                            .phase = "fill customer: 83,000 of 150,000 rows"};
  RunBuilder builder;
  builder.Start();
  const Aggregator run = ApplyAll(builder.entries());
  EXPECT_EQ(RenderPlainLine(run, options), "0:03  fill customer: 83,000 of 150,000 rows");
  EXPECT_NE(RenderLive(run, options).find("fill customer"), std::string::npos);
}

TEST(LiveView, TheScreenHasWhatMattersAndFits) {
  const Aggregator run = UpTo(4, StepShape{.rejected = 1});
  const std::string screen = RenderLive(run, LiveOptions{.width = 60, .elapsed = 2 * kSecond});
  for (const char* part : {"agents 2 of 2", "round 1   measure 2/2 s", "find/s last second 200",
                           "response so far", "4 x 1213 (rejected)", "Ctrl-C"}) {
    EXPECT_NE(screen.find(part), std::string::npos) << part << "\n" << screen;
  }
  std::size_t start = 0;
  while (start < screen.size()) {
    const std::size_t end = screen.find('\n', start);
    EXPECT_LE(end - start, 60u);
    start = end + 1;
  }
}

TEST(LiveView, EstimatesTheEnd) {
  const std::string screen = RenderLive(UpTo(4), LiveOptions{.elapsed = 2 * kSecond});
  EXPECT_NE(screen.find("step 1 of 4   0:02   ends in about 10 s"), std::string::npos) << screen;
}

TEST(LiveView, BeforeTheRunThereIsNothing) {
  EXPECT_EQ(RenderLive(Aggregator(), {}), "");
  EXPECT_EQ(RenderPlainLine(Aggregator(), {}), "");
}

}  // namespace
}  // namespace cavalry::report
