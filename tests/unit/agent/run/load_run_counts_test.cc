// Exact numbers of iterations, warm-up, intervals and drain, over both loops and all client
// models.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/agent/run/run_harness.h"

namespace cavalry::run {
namespace {

using drivers::OperationKind;
using fakes::LineReply;
using fakes::LineServer;

fakes::LineServerOptions Answering(std::string text, Nanos delay = 0) {
  fakes::LineServerOptions options;
  options.reply = [text, delay](std::uint64_t, std::uint64_t, std::string_view) {
    return LineReply{text, delay};
  };
  return options;
}

struct Way {
  LoopKind loop;
  bool pollable = false;
  bool blocking = false;
};

class LoadRunCounts : public testing::TestWithParam<Way> {
 protected:
  PlanOptions Options(const LineServer& server) {
    PlanOptions options;
    options.port = server.port();
    options.loop = GetParam().loop;
    options.pollable = GetParam().pollable;
    options.blocking = GetParam().blocking;
    return options;
  }
};

TEST_P(LoadRunCounts, EndsAfterExactlyTheNumbersThatWereAsked) {
  struct Case {
    std::uint64_t count;
    std::uint32_t sessions, pipeline, workers;
  };
  for (const Case& one : {Case{7, 1, 3, 1}, Case{10, 3, 1, 1}, Case{1, 8, 1, 2}, Case{0, 2, 1, 1},
                          Case{1000, 7, 1, 3}, Case{101, 5, 4, 2}}) {
    if ((GetParam().pollable || GetParam().blocking) && one.pipeline > 1) continue;
    LineServer server(Answering("OK 1\n"));
    PlanOptions options = Options(server);
    options.count = one.count;
    options.sessions = one.sessions;
    options.pipeline = one.pipeline;
    options.workers = one.workers;
    const TestPlan plan(options);
    const Collected result = RunToEnd(plan.plan);
    EXPECT_EQ(result.ops().attempted, one.count);
    EXPECT_EQ(result.ops()[Outcome::kOk], one.count);
    EXPECT_EQ(result.measure.iterations.ok, one.count);
    EXPECT_EQ(server.requests(), one.count);
    EXPECT_LT(result.took, 2 * kSecond);
    EXPECT_EQ(result.measure.connect->count(), one.sessions);
    EXPECT_EQ(result.measure.reconnects, 0u);
  }
}

TEST_P(LoadRunCounts, WarmUpLeavesNoSampleInMeasure) {
  LineServer server(Answering("OK 1\n", kMillisecond));
  PlanOptions options = Options(server);
  options.count = 50;
  options.sessions = 4;
  options.warmup = 200 * kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 50u);
  EXPECT_GT(result.warmup.TotalOperations()[Outcome::kOk], 100u);
  // Those in flight at the boundary are in neither.
  EXPECT_GE(server.requests(), 50u + result.warmup.TotalOperations()[Outcome::kOk]);
  EXPECT_LE(server.requests(), 54u + result.warmup.TotalOperations()[Outcome::kOk]);
  EXPECT_GE(result.finished.measure_start, 0);
}

TEST_P(LoadRunCounts, TimedRunEndsOnTimeWithWholeIntervals) {
  LineServer server(Answering("OK 1\n", kMillisecond));
  PlanOptions options = Options(server);
  options.duration = 1200 * kMillisecond;
  options.sessions = 8;
  options.workers = 2;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_GE(result.took, 1200 * kMillisecond);
  EXPECT_LT(result.took, 2200 * kMillisecond);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Interval& interval : result.intervals) {
    EXPECT_EQ(interval.part, Part::kMeasure);
    EXPECT_TRUE(seen.emplace(interval.worker, interval.index).second);
    if (interval.index < 1) {
      EXPECT_GE(interval.stats.in_flight, 3u);  // one may be about to be issued
    }
  }
  EXPECT_EQ(seen.size(), 4u);  // two of each worker
  const WorkerResult& worker = result.finished.workers.front();
  EXPECT_GE(worker.wall, 1150 * kMillisecond);
  EXPECT_GT(worker.cpu_user + worker.cpu_system, 0);
  EXPECT_GT(worker.loop_lag.count(), 20u);
  EXPECT_GE(worker.last_end, worker.stopped_issuing - kSecond);
  EXPECT_LE(worker.last_end - result.finished.measure_start, 2200 * kMillisecond);
  EXPECT_EQ(worker.loop, GetParam().blocking                   ? "threads"
                         : GetParam().loop == LoopKind::kEpoll ? "epoll"
                                                               : "io_uring");
}

TEST_P(LoadRunCounts, KnownDelayIsTheMedian) {
  LineServer server(Answering("OK 1\n", 20 * kMillisecond));
  PlanOptions options = Options(server);
  options.count = 40;
  options.sessions = 4;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_GE(result.measure.Response()->min(), 20 * kMillisecond);
  EXPECT_LT(result.measure.Response()->Percentile(50), 30 * kMillisecond);
}

TEST_P(LoadRunCounts, MissesAndRejectionsHaveTheirOwnClasses) {
  fakes::LineServerOptions server_options;
  server_options.reply = [](std::uint64_t, std::uint64_t request, std::string_view) {
    static constexpr const char* kAnswers[] = {"OK 1\n", "MISS\n", "ERR 1062 duplicate\n"};
    return LineReply{kAnswers[request % 3]};
  };
  LineServer server(server_options);
  PlanOptions options = Options(server);
  options.count = 30;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 10u);
  EXPECT_EQ(result.ops()[Outcome::kMiss], 10u);
  EXPECT_EQ(result.ops()[Outcome::kRejected], 10u);
  EXPECT_EQ(result.measure.iterations.ok, 10u);
  EXPECT_EQ(result.measure.iterations.failed, 20u);
  const auto& errors = result.measure.operations[0].errors.entries();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.begin()->first.first, "1062");
  EXPECT_EQ(errors.begin()->second.count, 10u);
  EXPECT_EQ(errors.begin()->second.text, "duplicate");
}

TEST_P(LoadRunCounts, AFailedStepEndsItsIteration) {
  fakes::LineServerOptions server_options;
  server_options.reply = [](std::uint64_t, std::uint64_t, std::string_view line) {
    return LineReply{line[0] == 'U' ? "ERR 1205 lock\n" : "OK 1\n"};
  };
  LineServer server(server_options);
  PlanOptions options = Options(server);
  options.script = {OperationKind::kRead, OperationKind::kDelete, OperationKind::kDelete};
  options.count = 10;
  const TestPlan good(options);
  Collected result = RunToEnd(good.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 30u);
  EXPECT_EQ(result.measure.iterations.ok, 10u);
  // An iteration takes as long as its operations together.
  EXPECT_GE(result.measure.Response()->min(),
            result.measure.operations[0].histograms.ok->min() * 2);
}

TEST_P(LoadRunCounts, DrainIsBoundedAndWhatIsInFlightIsAbandoned) {
  fakes::LineServerOptions server_options;
  server_options.reply = [](std::uint64_t connection, std::uint64_t request, std::string_view) {
    return LineReply{connection == 0 && request == 3 ? "" : "OK 1\n", kMillisecond};
  };
  LineServer server(server_options);
  PlanOptions options = Options(server);
  options.sessions = 3;
  options.duration = 300 * kMillisecond;
  options.drain_timeout = 200 * kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kAbandoned], 1u);
  EXPECT_EQ(result.measure.iterations.abandoned, 1u);
  EXPECT_GE(result.took, 500 * kMillisecond);
  EXPECT_LT(result.took, 1500 * kMillisecond);
}

TEST_P(LoadRunCounts, StopNowAbandonsAtOnce) {
  LineServer server(Answering(""));
  PlanOptions options = Options(server);
  options.sessions = 5;
  options.duration = 60 * kSecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan, 20 * kSecond, [](LoadRun& run, Nanos since_start) {
    if (since_start > 100 * kMillisecond) run.Stop(StopKind::kNow);
  });
  EXPECT_EQ(result.ops()[Outcome::kAbandoned], 5u);
  EXPECT_LT(result.took, kSecond);
}

TEST_P(LoadRunCounts, StopBeforeTheStartEndsWithoutLoad) {
  LineServer server(Answering("OK 1\n"));
  PlanOptions options = Options(server);
  options.duration = 60 * kSecond;
  const TestPlan plan(options);
  auto run = LoadRun::Create(plan.plan);
  ASSERT_TRUE(run.ok());
  (*run)->Stop(StopKind::kDrain);
  for (;;) {
    LoadEvent event = (*run)->Next(MonotonicNow() + 5 * kSecond);
    ASSERT_FALSE(std::holds_alternative<std::monostate>(event));
    if (const auto* finished = std::get_if<FinishedEvent>(&event)) {
      EXPECT_EQ(finished->measure_start, 0);
      EXPECT_FALSE(finished->workers.at(0).began_any);
      break;
    }
  }
  EXPECT_EQ(server.requests(), 0u);
}

TEST_P(LoadRunCounts, AThousandSessionsOnTwoWorkers) {
  LineServer server(Answering("OK 1\n"));
  PlanOptions options = Options(server);
  options.sessions = 1000;
  options.workers = 2;
  options.count = 5000;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 5000u);
  EXPECT_EQ(result.armed_event.connected, 1000u);
  EXPECT_EQ(result.finished.workers.size(), 2u);
}

TEST_P(LoadRunCounts, WritesAreInTheLedger) {
  LineServer server(Answering("OK 1\n"));
  PlanOptions options = Options(server);
  options.script = {OperationKind::kInsert};
  options.count = 20;
  options.sessions = 3;
  options.keep_ledger = true;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  std::set<std::uint64_t> keys;
  for (const WorkerResult& worker : result.finished.workers) {
    ASSERT_NE(worker.ledger, nullptr);
    worker.ledger->ForEachInsert(0, [&](std::uint64_t key, load::InsertState state) {
      EXPECT_EQ(state, load::InsertState::kAcknowledged);
      keys.insert(key);
    });
  }
  EXPECT_EQ(keys.size(), 20u);
  EXPECT_EQ(*keys.begin(), 1001u);
  EXPECT_EQ(*keys.rbegin(), 1020u);
}

std::string NameOf(const testing::TestParamInfo<Way>& way) {
  if (way.param.blocking) return "Blocking";
  return std::string(way.param.loop == LoopKind::kEpoll ? "Epoll" : "IoUring") +
         (way.param.pollable ? "Pollable" : "Codec");
}

INSTANTIATE_TEST_SUITE_P(AllWays, LoadRunCounts,
                         testing::Values(Way{LoopKind::kEpoll, false},
                                         Way{LoopKind::kIoUring, false},
                                         Way{LoopKind::kEpoll, true}, Way{LoopKind::kIoUring, true},
                                         Way{LoopKind::kAuto, false, true}),
                         NameOf);

}  // namespace
}  // namespace cavalry::run
