// The driver under load, against scripted servers: what becomes of its operations when connections
// end or are never answered.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "agent/run/load_plan.h"
#include "drivers/handlersocket/handlersocket_driver.h"
#include "tests/fakes/stub_server.h"
#include "tests/unit/agent/run/run_harness.h"
#include "tests/unit/drivers/handlersocket/conversation.h"

namespace cavalry::drivers::handlersocket {
namespace {

using fakes::StubConnection;
using fakes::StubServer;

bool IsOpen(const std::string& line) { return line.substr(0, 2) == "P\t"; }

// Accepts everything that is opened; then calls `answer` with each request.
void Serve(StubConnection& client, const std::function<bool(const std::string&)>& answer) {
  for (std::string line = client.ReadLine(); !line.empty(); line = client.ReadLine()) {
    if (IsOpen(line)) {
      client.Write("0\t1\n");
    } else if (!answer(line)) {
      return;
    }
  }
}

// A table of one column, and operations on it.
class Step {
 public:
  Step(std::uint16_t port, std::uint16_t write_port) {
    plan_.driver = &GetDriver();
    for (const auto& [name, value] :
         {std::pair("host", std::string("127.0.0.1")), std::pair("port", std::to_string(port)),
          std::pair("write_port", std::to_string(write_port)),
          std::pair("database", std::string("d"))}) {
      plan_.settings.Add({.name = name, .value = value});
    }
    auto table = std::make_unique<TableSchema>();
    table->name = "t";
    table->columns = {MakeColumn("id", "bigint")};
    table->rows = 1000;
    plan_.tables.push_back(std::move(table));
    plan_.connect_rate = 100'000;
  }

  void Add(OperationKind kind) {
    OperationPlan operation;
    operation.name = std::string(OperationKindName(kind));
    operation.index = static_cast<std::uint32_t>(plan_.operations.size());
    operation.kind = kind;
    operation.table = plan_.tables.front().get();
    operation.columns = {0};
    load::OperationRecipe recipe;
    if (kind == OperationKind::kInsert) {
      recipe.insert_first = 1001;
      recipe.values.emplace(*operation.table, operation.columns,
                            std::vector<load::ColumnRule>{{load::RuleKind::kKey}}, 1);
    } else {
      load::KeySequenceOptions keys;
      keys.order = load::KeyOrder::kSequential;
      keys.last = 1000;
      recipe.keys.emplace(keys);
    }
    plan_.script.steps.push_back({operation.index, 0});
    plan_.operations.push_back(std::move(operation));
    plan_.recipes.push_back(std::move(recipe));
    for (std::size_t i = 0; i < plan_.recipes.size(); ++i) {
      plan_.recipes[i].plan = &plan_.operations[i];
    }
  }

  void Count(std::uint64_t iterations, std::uint32_t sessions) {
    plan_.sessions = plan_.total_sessions = sessions;
    plan_.numbers.count = iterations;
    plan_.numbers.warmup_first = iterations;
    plan_.numbers.warmup_stride = 1;
  }

  run::LoadPlan& plan() { return plan_; }

 private:
  run::LoadPlan plan_;
};

// Case C30: the server closes a write connection that was idle, while its session does something
// else. It is made again before the next write, so no write is broken that was never sent.
TEST(HandlerSocketRun, AConnectionThatEndedIdleIsMadeAgainBeforeItsNextOperation) {
  for (const run::LoopKind loop : {run::LoopKind::kEpoll, run::LoopKind::kIoUring}) {
    StubServer writes([](StubConnection& client) {
      // One insert, and the end.
      Serve(client, [&](const std::string&) {
        client.Write("0\t1\n");
        return false;
      });
    });
    StubServer reads([&](StubConnection& client) {
      Serve(client, [&](const std::string&) {
        // So long that the other end has been seen, and the connection been made again.
        const std::size_t made = writes.connections();
        writes.WaitForConnections(made + 1, kSecond);
        return client.Write("0\t1\t1\n");
      });
    });
    Step step(reads.port(), writes.port());
    step.Add(OperationKind::kInsert);
    step.Add(OperationKind::kRead);
    step.Count(8, 1);
    step.plan().loop = loop;
    const run::Collected result = run::RunToEnd(step.plan());
    EXPECT_EQ(result.ops()[Outcome::kOk], 16U);
    EXPECT_EQ(result.ops()[Outcome::kBroken], 0U);
    EXPECT_EQ(result.ops()[Outcome::kNotSent], 0U);
    EXPECT_GE(result.measure.reconnects, 7U);
  }
}

// Case C27: the step ends at once, and the reason names the option.
TEST(HandlerSocketRun, AWriteOnTheReadPortEndsTheStep) {
  StubServer server([](StubConnection& client) {
    Serve(client, [&](const std::string&) { return client.Write("2\t1\treadonly\n"); });
  });
  Step step(server.port(), server.port());
  step.Add(OperationKind::kInsert);
  step.Count(100'000, 4);
  const run::Collected result = run::RunToEnd(step.plan());
  EXPECT_LT(result.took, kSecond);
  EXPECT_LE(result.ops().attempted, 100U);
  EXPECT_EQ(result.ops()[Outcome::kOk], 0U);
  const std::string text = StatusText(result.finished.workers.at(0).fatal);
  EXPECT_NE(text.find("2 readonly"), std::string::npos) << text;
  EXPECT_NE(text.find("write_port"), std::string::npos) << text;
}

std::uint64_t ErrorCount(const run::Collected& result, const std::string& code, Outcome outcome) {
  const auto& entries = result.measure.connect_errors.entries();
  const auto found = entries.find(std::pair(code, outcome));
  return found == entries.end() ? 0 : found->second.count;
}

// Case C24: a server that accepts and never answers the handshake costs each attempt the connect
// deadline and no more, and one that is gone is not_sent.
TEST(HandlerSocketRun, DeadConnectsEndAtTheirDeadline) {
  StubServer server([](StubConnection& client) { client.ReadToEnd(); });
  Step step(server.port(), server.port());
  step.Add(OperationKind::kRead);
  step.Count(5, 5);
  step.plan().connect_timeout = 200 * kMillisecond;
  step.plan().give_up_unconnected = kSecond;
  run::Collected result = run::RunToEnd(step.plan());
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.ops().attempted, 0U);
  // At most 5 attempts of 200 ms in each second, and at least 3 with their back-offs.
  const std::uint64_t timeouts = ErrorCount(result, "connect_timeout", Outcome::kTimeout);
  EXPECT_GE(timeouts, 5U * 3U);
  EXPECT_LE(timeouts, static_cast<std::uint64_t>(5 * (result.took / kSecond + 1) * 5 + 5));

  server.Stop();
  result = run::RunToEnd(step.plan());
  EXPECT_EQ(result.ops().attempted, 0U);
  EXPECT_GE(ErrorCount(result, "ECONNREFUSED", Outcome::kNotSent), 5U);
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
