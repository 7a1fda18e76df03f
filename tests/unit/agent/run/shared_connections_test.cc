// Sessions that share connections: many operations in flight on each, the figures by node, nodes
// that are down, lost or late.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include "tests/unit/agent/run/run_harness.h"

namespace cavalry::run {
namespace {

using fakes::LineReply;
using fakes::LineServer;
using fakes::LineServerOptions;

// The answer to a request, under its serial number; nothing to the end of a batch.
std::string Answer(std::string_view line, std::string_view answer) {
  const std::size_t serial = line.find('@');
  if (serial == std::string_view::npos) return "";
  return std::string(line.substr(serial)) + " " + std::string(answer) + "\n";
}

std::uint64_t SerialOf(std::string_view line) {
  const std::size_t serial = line.find('@');
  return serial == std::string_view::npos ? 0 : std::stoull(std::string(line.substr(serial + 1)));
}

using Reply = std::function<LineReply(std::uint64_t, std::uint64_t, std::string_view)>;

LineReply AnswerOk(std::uint64_t, std::uint64_t, std::string_view line) {
  return {Answer(line, "OK 1")};
}

std::unique_ptr<LineServer> Serve(Reply reply) {
  LineServerOptions options;
  options.reply = std::move(reply);
  return std::make_unique<LineServer>(std::move(options));
}

class SharedConnectionsTest : public testing::TestWithParam<LoopKind> {
 protected:
  PlanOptions Options(const std::vector<std::uint16_t>& ports) {
    PlanOptions options;
    for (const std::uint16_t port : ports) {
      options.endpoints.push_back({"127.0.0.1", port, "", "node" + std::to_string(nodes_++)});
    }
    options.loop = GetParam();
    options.shared_connections = 1;
    return options;
  }
  std::uint16_t UnusedPort() { return Serve(AnswerOk)->port(); }

 private:
  int nodes_ = 0;
};

std::uint64_t OkOnNodes(const Collected& result) {
  return std::accumulate(
      result.measure.nodes.begin(), result.measure.nodes.end(), 0UL,
      [](std::uint64_t sum, const auto& node) { return sum + node.stats.counters[Outcome::kOk]; });
}

TEST_P(SharedConnectionsTest, ManySessionsOnOneConnectionANode) {
  const auto a = Serve(AnswerOk), b = Serve(AnswerOk), c = Serve(AnswerOk);
  PlanOptions options = Options({a->port(), b->port(), c->port()});
  options.sessions = 30;
  options.count = 999;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 999u);
  for (const auto* server : {&a, &b, &c}) EXPECT_EQ((*server)->connections(), 1u);
  ASSERT_EQ(result.measure.nodes.size(), 3u);
  EXPECT_EQ(result.measure.nodes[1].label, "node1");
  EXPECT_EQ(result.measure.nodes[1].stats.counters[Outcome::kOk], 333u);
  EXPECT_EQ(result.measure.nodes[1].stats.histograms.ok->count(), 333u);
  EXPECT_EQ(OkOnNodes(result), 999u);
  EXPECT_EQ(result.measure.rerouted, 0u);
  // Requests of one turn are gathered.
  EXPECT_GT(a->most_lines_in_a_read(), 2u);
}

TEST_P(SharedConnectionsTest, AnswersComeInAnyOrder) {
  const auto server = Serve([](std::uint64_t, std::uint64_t, std::string_view line) {
    LineReply reply{Answer(line, "OK " + std::to_string(SerialOf(line) % 7))};
    reply.delay = static_cast<Nanos>(SerialOf(line) % 5) * kMillisecond;
    return reply;
  });
  PlanOptions options = Options({server->port()});
  options.sessions = 8;
  options.count = 70;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 70u);
  EXPECT_EQ(result.ops().rows, 10u * (0 + 1 + 2 + 3 + 4 + 5 + 6));
}

TEST_P(SharedConnectionsTest, OthersTakeOverForANodeThatIsDown) {
  const auto a = Serve(AnswerOk), c = Serve(AnswerOk);
  PlanOptions options = Options({a->port(), UnusedPort(), c->port()});
  options.sessions = 6;
  options.count = 300;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.armed_event.connected, 6u);
  EXPECT_EQ(result.ops()[Outcome::kOk], 300u);
  EXPECT_EQ(result.measure.rerouted, 100u);
  EXPECT_EQ(result.measure.retries, 0u);
  ASSERT_EQ(result.measure.nodes.size(), 3u);
  EXPECT_EQ(result.measure.nodes[1].stats.counters.attempted, 0u);
  EXPECT_EQ(result.measure.nodes[2].stats.counters[Outcome::kOk], 200u);
  EXPECT_GE(result.measure.connect_errors.entries().size(), 1u);
}

TEST_P(SharedConnectionsTest, ANodeThatGoesBreaksWhatIsInFlightThereAndComesBack) {
  const auto a = Serve(AnswerOk);
  const auto b = Serve([](std::uint64_t connection, std::uint64_t, std::string_view line) {
    const bool goes = connection == 0 && SerialOf(line) == 10;
    return LineReply{goes ? "" : Answer(line, "OK 1"), 0, 0, goes};
  });
  PlanOptions options = Options({a->port(), b->port()});
  options.sessions = 4;
  options.duration = kSecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  const std::uint64_t lost = result.ops()[Outcome::kBroken] + result.ops()[Outcome::kNotSent];
  EXPECT_GE(lost, 1u);
  EXPECT_LE(lost, 4u);
  EXPECT_EQ(result.ops()[Outcome::kOk] + lost, result.ops().attempted);
  EXPECT_GT(result.measure.rerouted, 0u);
  EXPECT_EQ(result.measure.reconnects, 1u);
  EXPECT_EQ(b->connections(), 2u);
}

TEST_P(SharedConnectionsTest, SessionsWaitWhileNoNodeIsThere) {
  const auto server = Serve([](std::uint64_t connection, std::uint64_t, std::string_view line) {
    const bool goes = connection == 0 && SerialOf(line) == 3;
    return LineReply{goes ? "" : Answer(line, "OK 1"), 0, 0, goes};
  });
  PlanOptions options = Options({server->port()});
  options.sessions = 3;
  options.count = 50;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 50u);
  EXPECT_GE(result.ops()[Outcome::kOk], 47u);
  EXPECT_EQ(result.measure.reconnects, 1u);
}

TEST_P(SharedConnectionsTest, ALateAnswerIsDroppedAndTheConnectionGoesOn) {
  const auto server = Serve([](std::uint64_t, std::uint64_t, std::string_view line) {
    LineReply reply{Answer(line, "OK 1")};
    if (SerialOf(line) % 10 == 3) reply.delay = 150 * kMillisecond;
    return reply;
  });
  PlanOptions options = Options({server->port()});
  options.sessions = 4;
  options.count = 40;
  options.operation_timeout = 50 * kMillisecond;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_GE(result.ops()[Outcome::kTimeout], 4u);
  EXPECT_EQ(result.ops()[Outcome::kTimeout] + result.ops()[Outcome::kOk], 40u);
  EXPECT_EQ(result.measure.reconnects, 0u);
  EXPECT_EQ(server->connections(), 1u);
  ASSERT_EQ(result.measure.nodes.size(), 1u);
  EXPECT_EQ(result.measure.nodes[0].stats.counters[Outcome::kTimeout],
            result.ops()[Outcome::kTimeout]);
}

TEST_P(SharedConnectionsTest, SeveralWorkersHaveConnectionsOfTheirOwn) {
  const auto server = Serve(AnswerOk);
  PlanOptions options = Options({server->port()});
  options.workers = 2;
  options.sessions = 8;
  options.pipeline = 4;
  options.shared_connections = 3;
  options.count = 2'000;
  const TestPlan plan(options);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 2'000u);
  EXPECT_EQ(server->connections(), 6u);
}

TEST_P(SharedConnectionsTest, WhatDoesNotGoWithThemIsRefused) {
  const auto server = Serve(AnswerOk);
  PlanOptions options = Options({server->port()});
  options.count = 1;
  options.sessions = 1'001;
  const TestPlan many(options);
  auto run = LoadRun::Create(many.plan);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(StatusText(run.status()),
            "line: 1001 operations may be in flight on the 1 connections that a worker has to a "
            "node, which take 1000: raise the target's connections, or the agents' workers");
  options.sessions = 1;
  TestPlan own(options);
  own.plan.connect_per_iteration = true;
  run = LoadRun::Create(own.plan);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(StatusText(run.status()),
            "line: its sessions share connections, so load.pool and load.connections: "
            "per_iteration do not go with it");
}

INSTANTIATE_TEST_SUITE_P(BothLoops, SharedConnectionsTest,
                         testing::Values(LoopKind::kEpoll, LoopKind::kIoUring));

}  // namespace
}  // namespace cavalry::run
