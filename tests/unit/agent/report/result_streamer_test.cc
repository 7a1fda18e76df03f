#include "agent/report/result_streamer.h"

#include <vector>

#include <gtest/gtest.h>

#include "agent/plan.h"
#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

using run::Part;

class ResultStreamerTest : public testing::Test {
 protected:
  ResultStreamerTest() {
    auto plan = MakeLoadPlan(With(BaseAssignment(), R"pb(
                               operations {
                                 name: "find"
                                 read { table: "stock" }
                               }
                               operations {
                                 name: "a"
                                 insert { table: "orders" }
                               }
                               operations {
                                 name: "b"
                                 insert { table: "orders" }
                               }
                               operations {
                                 name: "u"
                                 update {
                                   table: "stock"
                                   set { column: "qty" }
                                 }
                               }
                               script {
                                 steps { operation: "find" }
                                 steps { operation: "a" repeat: 2 }
                                 steps { operation: "b" }
                                 steps { operation: "u" repeat: 2 }
                               }
                             )pb"),
                             2, run::LoopKind::kAuto);
    EXPECT_TRUE(plan.ok()) << StatusText(plan.status());
    plan_ = *std::move(plan);
    finished_.workers.resize(2);
    for (run::WorkerResult& worker : finished_.workers) worker.operations.resize(4);
    streamer_.emplace(*plan_, 2,
                      [this](v1::Interval interval) { sent_.push_back(std::move(interval)); });
  }

  // A worker closes an interval in which `ok` reads ended.
  void Close(std::uint32_t worker, Part part, std::uint32_t index, std::uint64_t ok) {
    run::IntervalEvent event{worker, part, index, std::make_unique<stats::IntervalRecorder>(4)};
    for (std::uint64_t i = 0; i < ok; ++i) {
      ++event.recorder->operations[0].counters.attempted;
      event.recorder->RecordOperation(0, Outcome::kOk, 1'000);
    }
    event.recorder->in_flight = 3;
    if (part == Part::kMeasure) {
      finished_.workers[worker].operations[0].Add(event.recorder->operations[0].counters);
    }
    streamer_->OnInterval(event);
  }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> Sent() const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sent;
    for (const v1::Interval& interval : sent_) {
      sent.emplace_back(interval.index(), interval.stats().operations(0).ops().ok());
    }
    return sent;
  }

  std::unique_ptr<run::LoadPlan> plan_;
  std::optional<ResultStreamer> streamer_;
  std::vector<v1::Interval> sent_;
  run::FinishedEvent finished_;
};

using Intervals = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

TEST_F(ResultStreamerTest, SendsAnIntervalOnceAllWorkersHaveClosedIt) {
  Close(0, Part::kMeasure, 0, 5);
  Close(0, Part::kMeasure, 1, 7);
  EXPECT_TRUE(sent_.empty());
  Close(1, Part::kMeasure, 0, 1);
  EXPECT_EQ(Sent(), (Intervals{{0, 6}}));
  // A worker in which nothing ended for some time has closed what it skipped.
  Close(1, Part::kMeasure, 3, 2);
  EXPECT_EQ(Sent(), (Intervals{{0, 6}, {1, 7}}));
  const v1::StepReport report = streamer_->Finish(finished_);
  EXPECT_EQ(Sent(), (Intervals{{0, 6}, {1, 7}, {3, 2}}));
  EXPECT_EQ(report.totals().operations(0).ops().ok(), 15U);
  for (std::size_t i = 0; i < sent_.size(); ++i) EXPECT_EQ(sent_[i].seq(), i + 1);
  EXPECT_EQ(report.seq(), 4U);
  EXPECT_EQ(sent_[0].stats().in_flight(), 6U);
  EXPECT_EQ(report.totals().in_flight(), 0U);
}

TEST_F(ResultStreamerTest, TakesWorkersThatEndAtDifferentTimes) {
  Close(0, Part::kMeasure, 0, 1);
  for (std::uint32_t index = 0; index < 5; ++index) Close(1, Part::kMeasure, index, 2);
  EXPECT_EQ(Sent(), (Intervals{{0, 3}}));
  EXPECT_EQ(streamer_->Finish(finished_).totals().operations(0).ops().ok(), 11U);
  EXPECT_EQ(Sent(), (Intervals{{0, 3}, {1, 2}, {2, 2}, {3, 2}, {4, 2}}));
}

TEST_F(ResultStreamerTest, KeepsWarmUpOutOfTheTotals) {
  Close(0, Part::kWarmup, 0, 10);
  Close(1, Part::kWarmup, 0, 10);
  Close(0, Part::kMeasure, 0, 1);
  EXPECT_EQ(sent_.size(), 1U);
  Close(1, Part::kWarmup, 1, 10);
  Close(1, Part::kMeasure, 0, 2);
  const v1::StepReport report = streamer_->Finish(finished_);
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[0].part(), v1::STEP_PART_WARMUP);
  EXPECT_EQ(sent_[1].part(), v1::STEP_PART_WARMUP);
  EXPECT_EQ(sent_[1].index(), 1U);
  EXPECT_EQ(sent_[2].part(), v1::STEP_PART_MEASURE);
  EXPECT_EQ(report.totals().operations(0).ops().ok(), 3U);
}

TEST_F(ResultStreamerTest, ReportsNextKeysAndVersion) {
  finished_.workers[0].began_any = true;
  finished_.workers[0].largest_number = 6;
  finished_.workers[1].began_any = true;
  finished_.workers[1].largest_number = 9;
  const v1::StepReport report = streamer_->Finish(finished_);
  // 10 iterations of 3 inserts into one table and 2 updates.
  ASSERT_EQ(report.next_keys_size(), 1);
  EXPECT_EQ(report.next_keys(0).table(), "orders");
  EXPECT_EQ(report.next_keys(0).key(), 31U);
  EXPECT_EQ(report.next_version(), 21U);
}

TEST_F(ResultStreamerTest, WithoutIterationsNothingIsUsedUp) {
  finished_.workers[0].largest_number = 77;  // of nothing that began
  const v1::StepReport report = streamer_->Finish(finished_);
  EXPECT_EQ(report.next_keys(0).key(), 1U);
  EXPECT_EQ(report.next_version(), 1U);
  EXPECT_EQ(report.duration_ns(), 0U);
}

TEST_F(ResultStreamerTest, MeasuresFromTheStartToTheLastEnd) {
  finished_.measure_start = 1'000;
  finished_.start_late = 7;
  finished_.workers[0].last_end = 5'000;
  finished_.workers[0].stopped_issuing = 4'000;
  finished_.workers[1].stopped_issuing = 4'500;
  finished_.workers[1].loop = "epoll";
  finished_.workers[1].sessions_never_connected = 2;
  finished_.workers[1].fatal = FailedPrecondition("wrong password");
  finished_.workers[0].wall = 100;
  finished_.workers[0].cpu_user = 60;
  finished_.workers[0].cpu_system = 30;
  finished_.workers[1].wall = 100;
  finished_.workers[1].run_queue_wait = 9;
  const v1::StepReport report = streamer_->Finish(finished_);
  EXPECT_EQ(report.duration_ns(), 4'000U);
  EXPECT_EQ(report.issuing_ns(), 3'500U);
  EXPECT_EQ(report.start_late_ns(), 7);
  EXPECT_EQ(report.loop(), "epoll");
  EXPECT_EQ(report.sessions_never_connected(), 2U);
  EXPECT_EQ(report.fatal().text(), "wrong password");
  EXPECT_TRUE(report.workers(0).limited());
  EXPECT_FALSE(report.workers(1).limited());
  EXPECT_GT(report.max_rss_bytes(), 0U);
}

}  // namespace
}  // namespace cavalry::agent
