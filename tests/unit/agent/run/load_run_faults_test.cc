// Time-outs, lost and refused connections, fatal errors, odd answers: each ends in its class, over
// both loops and all client models.
#include <dirent.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/unit/agent/run/run_harness.h"

namespace cavalry::run {
namespace {

using drivers::OperationKind;
using fakes::LineReply;
using fakes::LineServer;
using fakes::LineServerOptions;

LineServerOptions Serving(
    std::function<LineReply(std::uint64_t, std::uint64_t, std::string_view)> reply) {
  LineServerOptions options;
  options.reply = std::move(reply);
  return options;
}

LineServerOptions Answering(LineReply reply) {
  return Serving([reply](std::uint64_t, std::uint64_t, std::string_view) { return reply; });
}

struct Way {
  LoopKind loop;
  bool pollable = false;
  bool blocking = false;
};

class LoadRunFaults : public testing::TestWithParam<Way> {
 protected:
  PlanOptions Options(std::uint16_t port) {
    PlanOptions options;
    options.port = port;
    options.loop = GetParam().loop;
    options.pollable = GetParam().pollable;
    options.blocking = GetParam().blocking;
    return options;
  }
  // A port that nobody listens on.
  std::uint16_t UnusedPort() {
    LineServer server(Answering({"OK\n"}));
    return server.port();
  }
};

std::uint64_t ErrorCount(const stats::ErrorTable& errors, const std::string& code,
                         Outcome outcome) {
  const auto found = errors.entries().find(std::pair(code, outcome));
  return found == errors.entries().end() ? 0 : found->second.count;
}

TEST_P(LoadRunFaults, ABlackholeTimesEveryOperationOutOnTime) {
  LineServer server(Answering({""}));
  PlanOptions options = Options(server.port());
  options.count = 6;
  options.sessions = 2;
  options.operation_timeout = 100 * kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kTimeout], 6u);
  EXPECT_EQ(result.measure.iterations.failed, 6u);
  const auto& latency = *result.measure.operations[0].histograms.timeout;
  EXPECT_GE(latency.min(), 100 * kMillisecond);
  EXPECT_LT(latency.Percentile(50), 115 * kMillisecond);
  EXPECT_EQ(ErrorCount(result.measure.operations[0].errors, "timeout", Outcome::kTimeout), 6u);
  // Each costs a connection; after its last one a session may not come back any more.
  EXPECT_GE(result.measure.reconnects, 4u);
}

TEST_P(LoadRunFaults, NoAnswerAfterItsDeadlineIsOk) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
    LineReply reply{"OK 1\n"};
    reply.delay = static_cast<Nanos>(request % 4) * 400 * kMicrosecond;
    return reply;
  }));
  PlanOptions options = Options(server.port());
  options.count = 60;
  options.operation_timeout = kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 60u);
  EXPECT_GE(result.ops()[Outcome::kTimeout], 1u);
  if (result.ops()[Outcome::kOk] > 0) {
    EXPECT_LE(result.measure.operations[0].histograms.ok->max(), kMillisecond);
  }
}

TEST_P(LoadRunFaults, AServerThatClosesAfterAnswersCostsReconnects) {
  // Closes after each third answer.
  LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
    return LineReply{"OK 1\n", 0, 0, request == 2};
  }));
  PlanOptions options = Options(server.port());
  options.count = 12;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  // Whether the fourth request was already on its way when the end came is a race; nothing is lost
  // from the counts either way.
  EXPECT_EQ(result.ops().attempted, 12u);
  EXPECT_EQ(
      result.ops()[Outcome::kOk] + result.ops()[Outcome::kBroken] + result.ops()[Outcome::kNotSent],
      12u);
  EXPECT_GE(result.measure.reconnects, 2u);
}

TEST_P(LoadRunFaults, AConnectionThatClosesInsteadOfAnAnswerIsBroken) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
    return request == 1 ? LineReply{"OK", 0, 0, true} : LineReply{"OK 1\n"};
  }));
  PlanOptions options = Options(server.port());
  options.count = 10;
  options.keep_ledger = true;
  options.script = {OperationKind::kInsert};
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 5u);
  EXPECT_EQ(result.ops()[Outcome::kBroken], 5u);
  EXPECT_EQ(result.measure.operations[0].histograms.broken->count(), 5u);
  EXPECT_EQ(ErrorCount(result.measure.operations[0].errors, "closed_by_peer", Outcome::kBroken),
            5u);
  int unknown = 0;
  result.finished.workers.at(0).ledger->ForEachInsert(
      0, [&](std::uint64_t, load::InsertState state) {
        unknown += state == load::InsertState::kUnknown ? 1 : 0;
      });
  EXPECT_EQ(unknown, 5);
}

TEST_P(LoadRunFaults, ASlowPiecemealAnswerIsWhole) {
  LineServer server(Answering({"OK 12345\n", 0, 1}));
  PlanOptions options = Options(server.port());
  options.count = 4;
  options.sessions = 2;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 4u);
  // Nine bytes, a millisecond between two: the end is after the last.
  EXPECT_GE(result.measure.Response()->min(), 7 * kMillisecond);
}

TEST_P(LoadRunFaults, RefusedConnectionsAreCountedAndDoNotHang) {
  PlanOptions options = Options(UnusedPort());
  options.duration = 100 * kMillisecond;
  options.sessions = 3;
  const TestPlan plan(options);
  const Nanos before = MonotonicNow();
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.armed_event.connected, 0u);
  EXPECT_EQ(result.armed_event.connecting, 3u);
  EXPECT_GE(ErrorCount(result.armed_event.errors, "ECONNREFUSED", Outcome::kNotSent), 3u * 6u);
  EXPECT_LT(MonotonicNow() - before, 5 * kSecond);
  EXPECT_EQ(result.ops().attempted, 0u);
  EXPECT_EQ(result.finished.workers.at(0).sessions_never_connected, 3u);
  EXPECT_EQ(result.measure.reconnects, 0u);
  EXPECT_GE(ErrorCount(result.measure.connect_errors, "ECONNREFUSED", Outcome::kNotSent), 3u * 6u);
}

TEST_P(LoadRunFaults, ACountedRunWithoutAnySessionGivesUp) {
  PlanOptions options = Options(UnusedPort());
  options.count = 10;
  options.sessions = 2;
  TestPlan plan(options);
  plan.plan.give_up_unconnected = 200 * kMillisecond;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_LT(result.took, 2 * kSecond);
  const std::string text = StatusText(result.finished.workers.at(0).fatal);
  EXPECT_NE(text.find("no session has been connected for 0.2 s"), std::string::npos) << text;
  EXPECT_NE(text.find("ECONNREFUSED"), std::string::npos) << text;
}

TEST_P(LoadRunFaults, AnAgentWithoutSessionsEndsAtOnce) {
  PlanOptions options = Options(UnusedPort());
  options.sessions = 0;
  options.duration = 60 * kSecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_LT(result.took, kSecond);
  EXPECT_TRUE(result.intervals.empty());
  EXPECT_EQ(result.finished.measure_start, 0);
}

TEST_P(LoadRunFaults, AServerThatNeverGreetsTimesConnectsOut) {
  LineServer server(Answering({""}));
  PlanOptions options = Options(server.port());
  options.greet = true;
  options.sessions = 2;
  options.connect_timeout = 50 * kMillisecond;
  options.duration = 100 * kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.armed_event.connected, 0u);
  EXPECT_GE(ErrorCount(result.measure.connect_errors, "connect_timeout", Outcome::kTimeout), 4u);
  EXPECT_EQ(result.finished.workers.at(0).sessions_never_connected, 2u);
}

TEST_P(LoadRunFaults, AFatalAnswerEndsTheStep) {
  LineServer server(Answering({"FATAL 2 readonly\n"}));
  PlanOptions options = Options(server.port());
  options.sessions = 8;
  options.workers = 2;
  options.duration = 60 * kSecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_LT(result.took, kSecond);
  std::string text;
  for (const WorkerResult& worker : result.finished.workers) text += StatusText(worker.fatal);
  EXPECT_NE(text.find("read0: 2 readonly"), std::string::npos) << text;
  EXPECT_LE(result.ops().attempted, 8u);
}

TEST_P(LoadRunFaults, AFatalHandshakeIsToldInsteadOfArming) {
  LineServer server(Answering({"FATAL 3 unauth\n"}));
  PlanOptions options = Options(server.port());
  options.greet = true;
  options.sessions = 4;
  options.duration = 60 * kSecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_TRUE(result.armed);
  EXPECT_NE(StatusText(result.armed_event.fatal).find("3 unauth"), std::string::npos);
}

TEST_P(LoadRunFaults, AnswersThatSayByeCostTheConnectionOnly) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
    return LineReply{request == 1 ? "BYE 1927 killed\n" : "OK 1\n"};
  }));
  PlanOptions options = Options(server.port());
  options.count = 10;
  options.sessions = 2;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 10u);
  EXPECT_EQ(result.ops()[Outcome::kRejected] + result.ops()[Outcome::kOk], 10u);
  EXPECT_GE(result.ops()[Outcome::kRejected], 4u);
  EXPECT_GE(result.measure.reconnects, 3u);
}

TEST_P(LoadRunFaults, NothingLeaksOverARun) {
  const auto open_files = [] {
    int count = 0;
    DIR* const directory = opendir("/proc/self/fd");
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
    return count;
  };
  const auto threads = [] {
    int count = 0;
    DIR* const directory = opendir("/proc/self/task");
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
    return count;
  };
  const int files_before = open_files();
  const int threads_before = threads();
  {
    LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
      return LineReply{"OK 1\n", 0, 0, request == 5};
    }));
    PlanOptions options = Options(server.port());
    options.count = 100;
    options.sessions = 10;
    options.workers = 2;
    const TestPlan plan(options);
    RunToEnd(plan.plan);
  }
  EXPECT_EQ(open_files(), files_before);
  EXPECT_EQ(threads(), threads_before);
}

TEST_P(LoadRunFaults, NumbersOfAWorkerWithoutConnectionsAreDoneByOthers) {
  // The first connection dies after one answer, and no other is let in; others go on.
  LineServer server(
      Serving([](std::uint64_t connection, std::uint64_t request, std::string_view line) {
        if (line == "HELLO") {
          return connection < 2 ? LineReply{"WELCOME\n"} : LineReply{"ERR 1040 many\n", 0, 0, true};
        }
        return LineReply{"OK 1\n", kMillisecond, 0, connection == 0 && request == 2};
      }));
  PlanOptions options = Options(server.port());
  options.greet = true;
  options.sessions = 2;
  options.workers = 2;
  options.count = 200;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 200u);
  EXPECT_GE(result.ops()[Outcome::kOk], 199u);
  EXPECT_EQ(result.finished.workers.at(0).sessions_never_connected +
                result.finished.workers.at(1).sessions_never_connected,
            0u);
}

std::string NameOf(const testing::TestParamInfo<Way>& way) {
  if (way.param.blocking) return "Blocking";
  return std::string(way.param.loop == LoopKind::kEpoll ? "Epoll" : "IoUring") +
         (way.param.pollable ? "Pollable" : "Codec");
}

INSTANTIATE_TEST_SUITE_P(AllWays, LoadRunFaults,
                         testing::Values(Way{LoopKind::kEpoll, false},
                                         Way{LoopKind::kIoUring, false},
                                         Way{LoopKind::kEpoll, true}, Way{LoopKind::kIoUring, true},
                                         Way{LoopKind::kAuto, false, true}),
                         NameOf);

// Of the codec model only.
class ChannelFaults : public testing::TestWithParam<LoopKind> {
 protected:
  PlanOptions Options(std::uint16_t port) {
    PlanOptions options;
    options.port = port;
    options.loop = GetParam();
    return options;
  }
};

TEST_P(ChannelFaults, ATimeOutBreaksItsNeighboursOnTheConnection) {
  LineServer server(Answering({""}));
  PlanOptions options = Options(server.port());
  options.sessions = 1;
  options.pipeline = 4;
  options.count = 4;
  options.operation_timeout = 100 * kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 4u);
  EXPECT_GE(result.ops()[Outcome::kTimeout], 1u);
  EXPECT_EQ(result.ops()[Outcome::kTimeout] + result.ops()[Outcome::kBroken], 4u);
}

TEST_P(ChannelFaults, OperationsOfOneTurnGoOutInOneSend) {
  LineServer server(Answering({"OK 1\n"}));
  PlanOptions options = Options(server.port());
  options.pipeline = 16;
  options.count = 16;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 16u);
  EXPECT_EQ(server.most_lines_in_a_read(), 16u);
  EXPECT_EQ(server.reads(), 1u);
}

TEST_P(ChannelFaults, APipelineKeepsItsWindowFull) {
  LineServer server(Answering({"OK 1\n", 5 * kMillisecond}));
  PlanOptions options = Options(server.port());
  options.pipeline = 8;
  options.count = 400;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 400u);
  EXPECT_GE(result.measure.Response()->min(), 5 * kMillisecond);
  // 400 one after another would take two seconds.
  EXPECT_LT(result.took, 1500 * kMillisecond);
}

TEST_P(ChannelFaults, WhatCannotBeEncodedIsRejectedAndTheRestGoesOn) {
  LineServer server(Answering({"OK 1\n"}));
  PlanOptions options = Options(server.port());
  options.unsendable_key = 5;
  options.count = 10;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kRejected], 1u);
  EXPECT_EQ(result.ops()[Outcome::kOk], 9u);
}

TEST_P(ChannelFaults, AnUnaskedAnswerCostsTheConnection) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
    return LineReply{request == 0 ? "OK 1\nOK 2\n" : "OK 1\n"};
  }));
  PlanOptions options = Options(server.port());
  options.count = 6;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 6u);
  EXPECT_GE(result.measure.reconnects, 1u);
}

TEST_P(ChannelFaults, ASessionHasAConnectionToEachEndpointOfItsScript) {
  LineServer reads(Answering({"OK 1\n"}));
  LineServer writes(Answering({"OK 1\n"}));
  PlanOptions options = Options(0);
  for (const LineServer* server : {&reads, &writes}) {
    drivers::Endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = server->port();
    options.endpoints.push_back(endpoint);
  }
  options.script = {OperationKind::kRead, OperationKind::kInsert};
  options.count = 10;
  options.sessions = 2;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.measure.iterations.ok, 10u);
  EXPECT_EQ(reads.requests(), 10u);
  EXPECT_EQ(writes.requests(), 10u);
  EXPECT_EQ(reads.connections(), 2u);
  EXPECT_EQ(writes.connections(), 2u);
}

TEST_P(ChannelFaults, AFullUnixBacklogIsWaitedFor) {
  std::string folder = testing::TempDir() + "/cavalry_backlog_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  LineServerOptions server_options = Answering({"OK 1\n"});
  server_options.unix_path = folder + "/socket";
  server_options.backlog = 1;
  {
    LineServer server(server_options);
    PlanOptions options = Options(0);
    drivers::Endpoint endpoint;
    endpoint.unix_path = server_options.unix_path;
    options.endpoints.push_back(endpoint);
    options.sessions = 200;
    options.count = 1000;
    options.connect_rate = 1'000'000;
    const TestPlan plan(options);
    const Collected result = RunToEnd(plan.plan);
    EXPECT_EQ(result.ops()[Outcome::kOk], 1000u);
    EXPECT_EQ(result.armed_event.connected, 200u);
    EXPECT_TRUE(result.armed_event.errors.empty());
  }
  unlink(server_options.unix_path.c_str());
  rmdir(folder.c_str());
}

INSTANTIATE_TEST_SUITE_P(BothLoops, ChannelFaults,
                         testing::Values(LoopKind::kEpoll, LoopKind::kIoUring),
                         [](const testing::TestParamInfo<LoopKind>& kind) {
                           return kind.param == LoopKind::kEpoll ? "Epoll" : "IoUring";
                         });

}  // namespace
}  // namespace cavalry::run
