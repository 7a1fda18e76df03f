#include "tests/unit/agent/run/run_harness.h"

#include <variant>

#include <gtest/gtest.h>

namespace cavalry::run {

TestPlan::TestPlan(const PlanOptions& options) {
  fakes::LineDriverOptions driver;
  driver.endpoints = options.endpoints;
  if (driver.endpoints.empty()) {
    drivers::Endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = options.port;
    endpoint.label = "stub";
    driver.endpoints.push_back(endpoint);
  }
  driver.greet = options.greet;
  driver.pollable = options.pollable;
  driver.blocking = options.blocking;
  driver.unsendable_key = options.unsendable_key;
  driver.shared_connections = options.shared_connections;
  driver_ = std::make_unique<fakes::LineDriver>(driver);
  plan.driver = driver_.get();

  auto table = std::make_unique<drivers::TableSchema>();
  table->name = "t";
  table->columns.push_back({"id", *ParseColumnType("bigint"), false});
  table->rows = 1000;
  plan.tables.push_back(std::move(table));
  for (const drivers::OperationKind kind : options.script) {
    plan.script.steps.push_back({AddOperation(kind), 0});
  }

  plan.sessions = options.sessions;
  plan.total_sessions = options.sessions;
  plan.workers = options.workers;
  plan.pipeline = options.pipeline;
  plan.loop = options.loop;
  plan.numbers.count = options.count;
  if (options.count) {
    plan.numbers.warmup_first = *options.count;
    plan.numbers.warmup_stride = 1;
  }
  plan.duration = options.duration;
  plan.warmup = options.warmup;
  plan.operation_timeout = options.operation_timeout;
  plan.connect_timeout = options.connect_timeout;
  plan.drain_timeout = options.drain_timeout;
  plan.connect_rate = options.connect_rate;
  plan.keep_ledger = options.keep_ledger;
  SetRecipePlans();
}

void TestPlan::SetRecipePlans() {
  for (std::size_t i = 0; i < plan.operations.size(); ++i) {
    plan.recipes[i].plan = &plan.operations[i];
  }
}

void TestPlan::SetScript(std::string_view letters, Nanos sleep) {
  static constexpr std::string_view kLetters = "RMSIUD+NBCKZH";
  plan.script.steps.clear();
  const auto operation_of = [this](char letter) {
    const auto kind = static_cast<drivers::OperationKind>(kLetters.find(letter));
    for (const drivers::OperationPlan& operation : plan.operations) {
      if (operation.kind == kind) return operation.index;
    }
    return AddOperation(kind);
  };
  for (const char letter : letters) {
    if (letter == '.') {
      plan.script.steps.push_back({0, 0, sleep});
    } else {
      plan.script.steps.push_back({operation_of(letter), 0});
    }
  }
  if (letters.find('B') != std::string_view::npos) plan.script.rollback = operation_of('K');
  SetRecipePlans();
}

std::uint32_t TestPlan::AddOperation(drivers::OperationKind kind) {
  const auto index = static_cast<std::uint32_t>(plan.operations.size());
  drivers::OperationPlan operation;
  operation.name = std::string(drivers::OperationKindName(kind)) + std::to_string(index);
  operation.index = index;
  operation.kind = kind;
  if (drivers::HasTable(kind)) operation.table = plan.tables.front().get();
  load::OperationRecipe recipe;
  if (kind == drivers::OperationKind::kInsert) {
    operation.columns = {0};
    recipe.insert_first = 1001;
    recipe.values.emplace(*operation.table, operation.columns,
                          std::vector<load::ColumnRule>{{load::RuleKind::kKey}}, 1);
  } else {
    load::KeySequenceOptions keys;
    keys.order = load::KeyOrder::kSequential;
    keys.last = 1000;
    recipe.keys.emplace(keys);
  }
  plan.operations.push_back(std::move(operation));
  plan.recipes.push_back(std::move(recipe));
  return index;
}

Collected RunToEnd(const LoadPlan& plan, Nanos bound,
                   const std::function<void(LoadRun&, Nanos)>& on_event) {
  Collected result;
  result.warmup = stats::StatsTotals(plan.operations.size(), plan.response_is_service());
  result.measure = stats::StatsTotals(plan.operations.size(), plan.response_is_service());
  StatusOr<std::unique_ptr<LoadRun>> run = LoadRun::Create(plan);
  EXPECT_TRUE(run.ok()) << StatusText(run.status());
  if (!run.ok()) return result;
  const Nanos end = MonotonicNow() + bound;
  Nanos start = 0;
  while (MonotonicNow() < end) {
    LoadEvent event = (*run)->Next(MonotonicNow() + (on_event ? kMillisecond : kSecond));
    if (auto* armed = std::get_if<ArmedEvent>(&event)) {
      result.armed = true;
      result.armed_event = std::move(*armed);
      if (result.armed_event.fatal.ok()) {
        start = MonotonicNow();
        (*run)->StartAt(start);
      }
    } else if (auto* interval = std::get_if<IntervalEvent>(&event)) {
      Interval one{interval->part, interval->worker, interval->index,
                   stats::StatsTotals(plan.operations.size(), plan.response_is_service())};
      one.stats.Add(*interval->recorder);
      (interval->part == Part::kMeasure ? result.measure : result.warmup).Add(*interval->recorder);
      result.intervals.push_back(std::move(one));
      (*run)->Recycle(interval->worker, std::move(interval->recorder));
    } else if (auto* trace = std::get_if<TraceEvent>(&event)) {
      result.traces.push_back(std::move(trace->text));
    } else if (auto* finished = std::get_if<FinishedEvent>(&event)) {
      result.finished = std::move(*finished);
      result.ended = true;
      result.took = MonotonicNow() - start;
      break;
    }
    if (on_event && start != 0) on_event(**run, MonotonicNow() - start);
  }
  EXPECT_TRUE(result.ended);
  // What intervals say, what workers counted beside them, and the classes agree.
  stats::OperationCounters counted;
  stats::IterationCounters iterations;
  for (const WorkerResult& worker : result.finished.workers) {
    for (const auto& operation : worker.operations) counted.Add(operation);
    iterations.Add(worker.iterations);
  }
  EXPECT_EQ(counted, result.ops());
  EXPECT_EQ(iterations, result.measure.iterations);
  EXPECT_TRUE(counted.balanced());
  EXPECT_TRUE(iterations.balanced());
  const auto* response = result.measure.Response();
  EXPECT_EQ(response == nullptr ? 0 : response->count(), iterations.ok);
  return result;
}

}  // namespace cavalry::run
