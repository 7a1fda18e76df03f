// Every driver under load, over agent/run and both of its loops: servers that are not there, that
// say nothing, fall silent or cut connections. Each operation ends in its class and in time, and
// the sessions go on when the server does.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/run/load_plan.h"
#include "tests/contract/drivers/fixture.h"
#include "tests/fakes/stub_server.h"
#include "tests/integration/harness/relay.h"
#include "tests/unit/agent/run/run_harness.h"

namespace cavalry::driver_contract {
namespace {

constexpr std::int64_t kRows = 50;
// Iterations that take long enough for something to happen meanwhile.
constexpr std::uint64_t kMany = 5'000;

// How many connects ended so, whatever the driver's code for it.
std::uint64_t Connects(const run::Collected& result, Outcome outcome) {
  std::uint64_t count = 0;
  for (const auto& [key, entry] : result.measure.connect_errors.entries()) {
    if (key.second == outcome) count += entry.count;
  }
  return count;
}

class LoadTest : public ContractTest {
 protected:
  // A table with rows 1..kRows.
  TestTable& Filled() {
    TestTable& table = NewTable({{"id", "bigint"}, {"v", "varchar(20)"}});
    table.PlanTheFour();
    Client& client = NewClient(table);
    for (std::int64_t id = 1; id <= kRows; ++id) {
      const std::vector<Value> row = {Value::Integer(id), Value::Text("some text")};
      EXPECT_EQ(client.Run(table.Insert(row)).outcome, Outcome::kOk);
    }
    table.schema().rows = kRows;
    return table;
  }

  // The plan of a closed loop over these kinds; the table need not be there.
  void Plan(const drivers::TableSchema& table, Settings settings,
            const std::vector<OperationKind>& script) {
    plan_.driver = &driver();
    plan_.settings = std::move(settings);
    plan_.tables.push_back(std::make_unique<drivers::TableSchema>(table));
    for (const OperationKind kind : script) Add(kind);
    for (std::size_t i = 0; i < plan_.recipes.size(); ++i) {
      plan_.recipes[i].plan = &plan_.operations[i];
    }
    plan_.sessions = plan_.total_sessions = 4;
    plan_.connect_rate = 100'000;
  }
  void Count(std::uint64_t iterations) {
    plan_.numbers.count = plan_.numbers.warmup_first = iterations;
    plan_.numbers.warmup_stride = 1;
  }

  // The server's settings, with the address (of both ports, where there are two) of this one.
  Settings At(int port) const {
    Settings settings = With(ServerSettings(), back_end().port_option, std::to_string(port));
    if (back_end().write_port_option.empty()) return settings;
    return With(settings, back_end().write_port_option, std::to_string(port));
  }
  int ServerPort() const {
    return static_cast<int>(ServerSettings().Number(back_end().port_option, 0));
  }

  Settings Through(const e2e::Relay& relay) const {
    return With(ServerSettings(), back_end().port_option, std::to_string(relay.port()));
  }
  // Runs the plan; the fault comes when it is at work.
  run::Collected RunAnd(const std::function<void()>& fault) {
    bool done = false;
    run::Collected result =
        run::RunToEnd(plan_, 20 * kSecond, [&](run::LoadRun&, Nanos since_start) {
          if (done || since_start < 10 * kMillisecond) return;
          fault();
          done = true;
        });
    EXPECT_TRUE(done) << "the run was over before its fault";
    return result;
  }

  // Why no client can be made at all: of drivers that ask the server for it.
  std::string FactoryFault() {
    drivers::ClientConfig config;
    config.settings = &plan_.settings;
    config.operations = &plan_.operations;
    config.connect_timeout = plan_.connect_timeout;
    config.operation_timeout = plan_.operation_timeout;
    return StatusText(driver().NewClientFactory(config).status());
  }

  run::LoadPlan plan_;

 private:
  void Add(OperationKind kind) {
    const drivers::TableSchema& table = *plan_.tables.front();
    OperationPlan& operation = plan_.operations.emplace_back();
    operation.index = static_cast<std::uint32_t>(plan_.operations.size() - 1);
    operation.name = std::string(drivers::OperationKindName(kind));
    operation.kind = kind;
    operation.table = &table;
    load::OperationRecipe recipe;
    const load::ColumnRule key{load::RuleKind::kKey};
    const load::ColumnRule text{load::RuleKind::kNatural};
    if (kind == OperationKind::kInsert) {
      operation.columns = {0, 1};
      recipe.insert_first = kRows + 1;
      recipe.values.emplace(table, operation.columns, std::vector{key, text}, 1);
    } else {
      load::KeySequenceOptions keys;
      keys.order = load::KeyOrder::kSequential;
      keys.last = kRows;
      recipe.keys.emplace(keys);
      if (kind == OperationKind::kRead) operation.columns = {0, 1};
      if (kind == OperationKind::kUpdate) {
        operation.columns = {1};
        recipe.values.emplace(table, operation.columns, std::vector{text}, 1);
      }
    }
    plan_.script.steps.push_back({operation.index, 0});
    plan_.recipes.push_back(std::move(recipe));
  }
};

TEST_P(LoadTest, EveryLoopDoesEveryOperation) {
  constexpr std::uint64_t kIterations = 40;
  TestTable& table = Filled();
  Plan(table.schema(), ServerSettings(),
       {OperationKind::kInsert, OperationKind::kRead, OperationKind::kUpdate});
  Count(kIterations);
  const std::uint32_t per_loop = kIterations;
  std::uint64_t first = kRows + 1;
  for (const run::LoopKind loop : {run::LoopKind::kEpoll, run::LoopKind::kIoUring}) {
    plan_.loop = loop;
    plan_.recipes[0].insert_first = first;
    first += per_loop;
    const run::Collected result = run::RunToEnd(plan_);
    EXPECT_EQ(result.ops().attempted, 3 * kIterations);
    EXPECT_EQ(result.ops()[Outcome::kOk], 3 * kIterations);
    EXPECT_EQ(result.measure.iterations.ok, kIterations);
    EXPECT_TRUE(result.measure.connect_errors.entries().empty());
    EXPECT_EQ(result.measure.reconnects, 0U);
  }
}

TEST_P(LoadTest, AServerThatIsNotThereIsNamed) {
  int port = 0;
  {
    fakes::StubServer gone([](fakes::StubConnection&) {});
    port = gone.port();
  }
  TestTable table("never_made", {{"id", "bigint"}, {"v", "varchar(20)"}});
  Plan(table.schema(), At(port), {OperationKind::kRead});
  Count(10);
  plan_.connect_timeout = 2 * kSecond;
  plan_.give_up_unconnected = 200 * kMillisecond;
  if (const std::string fault = FactoryFault(); !fault.empty()) {
    EXPECT_NE(fault.find(std::to_string(port)), std::string::npos) << fault;
    EXPECT_NE(fault.find("refused"), std::string::npos) << fault;
    return;
  }
  const run::Collected result = run::RunToEnd(plan_);
  EXPECT_EQ(result.ops().attempted, 0U);
  EXPECT_GE(Connects(result, Outcome::kNotSent), 4U);
  for (const auto& [key, entry] : result.measure.connect_errors.entries()) {
    EXPECT_EQ(key.second, Outcome::kNotSent) << key.first;
    EXPECT_FALSE(entry.text.empty());
  }
}

TEST_P(LoadTest, AServerThatNeverAnswersCostsTheDeadline) {
  fakes::StubServer silent([](fakes::StubConnection& client) { client.ReadToEnd(); });
  TestTable table("never_made", {{"id", "bigint"}, {"v", "varchar(20)"}});
  Plan(table.schema(), At(silent.port()), {OperationKind::kRead});
  Count(8);
  plan_.connect_timeout = 100 * kMillisecond;
  plan_.operation_timeout = 100 * kMillisecond;
  plan_.give_up_unconnected = 300 * kMillisecond;
  const Nanos begin = MonotonicNow();
  if (const std::string fault = FactoryFault(); !fault.empty()) {
    EXPECT_NE(fault.find(std::to_string(silent.port())), std::string::npos) << fault;
  } else {
    const run::Collected result = run::RunToEnd(plan_);
    EXPECT_EQ(result.ops()[Outcome::kOk], 0U);
    if (can().shakes_hands) {
      EXPECT_EQ(result.ops().attempted, 0U);
      EXPECT_GE(Connects(result, Outcome::kTimeout), 4U);
    } else {
      EXPECT_EQ(result.ops()[Outcome::kTimeout], 8U);
    }
  }
  const Nanos took = MonotonicNow() - begin;
  EXPECT_GE(took, 100 * kMillisecond);
  EXPECT_LT(took, 10 * kSecond);
}

TEST_P(LoadTest, ConnectionsThatFallSilentTimeOutAndAreMadeAgain) {
  TestTable& table = Filled();
  e2e::Relay relay(ServerPort());
  Plan(table.schema(), Through(relay), {OperationKind::kRead});
  plan_.operation_timeout = 250 * kMillisecond;
  // A shared connection that is silent is kept until much is open on it: its sessions do not get
  // on soon.
  const bool shared = driver().files_per_session() == 0;
  if (shared) {
    plan_.duration = 600 * kMillisecond;
  } else {
    Count(kMany);
  }
  const run::Collected result = RunAnd([&] { relay.SilenceOpen(); });
  const std::uint64_t late = result.ops()[Outcome::kTimeout];
  EXPECT_GE(late, 4U);
  EXPECT_EQ(result.ops().attempted, result.ops()[Outcome::kOk] + late);
  if (shared) return;
  // All the others were done, over new connections.
  EXPECT_EQ(result.ops().attempted, kMany);
  EXPECT_LE(late, 8U) << "one of each session, and a few of a busy machine";
  EXPECT_GE(result.measure.reconnects, 4U);
}

TEST_P(LoadTest, CutConnectionsAreBrokenAndMadeAgain) {
  TestTable& table = Filled();
  for (const run::LoopKind loop : {run::LoopKind::kEpoll, run::LoopKind::kIoUring}) {
    e2e::Relay relay(ServerPort());
    plan_ = {};
    Plan(table.schema(), Through(relay), {OperationKind::kRead});
    plan_.loop = loop;
    Count(kMany);
    const run::Collected result = RunAnd([&] { relay.CutAll(); });
    EXPECT_EQ(result.ops().attempted, kMany);
    EXPECT_GE(result.measure.reconnects, 1U);
    const std::uint64_t failed = result.ops()[Outcome::kBroken] + result.ops()[Outcome::kNotSent];
    EXPECT_GE(failed, 1U);
    EXPECT_LE(failed, 8U) << "an operation of each session, or two";
    EXPECT_EQ(result.ops()[Outcome::kOk], kMany - failed);
  }
}

CAVALRY_CONTRACT(LoadTest);

}  // namespace
}  // namespace cavalry::driver_contract
