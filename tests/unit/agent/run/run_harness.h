// For the tests of LoadRun: makes plans over the line driver, runs them and collects all events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/run/load_run.h"
#include "core/stats/interval_recorder.h"
#include "drivers/core/operation.h"
#include "tests/fakes/line_driver.h"
#include "tests/fakes/line_server.h"

namespace cavalry::run {

struct PlanOptions {
  std::uint16_t port = 0;
  std::vector<drivers::Endpoint> endpoints;  // instead of `port`
  bool greet = false;
  bool pollable = false;
  bool blocking = false;
  std::uint64_t unsendable_key = 0;
  std::uint32_t shared_connections = 0;
  LoopKind loop = LoopKind::kEpoll;
  std::uint32_t sessions = 1;
  std::uint32_t workers = 1;
  std::uint32_t pipeline = 1;
  std::optional<std::uint64_t> count;
  std::optional<Nanos> duration;
  Nanos warmup = 0;
  Nanos operation_timeout = 10 * kSecond;
  Nanos connect_timeout = 5 * kSecond;
  Nanos drain_timeout = 5 * kSecond;
  double connect_rate = 100'000;
  bool keep_ledger = false;
  std::vector<drivers::OperationKind> script = {drivers::OperationKind::kRead};
};

// A plan and the driver it points to.
class TestPlan {
 public:
  explicit TestPlan(const PlanOptions& options);
  LoadPlan plan;

  // One more operation, done by no step yet; its index.
  std::uint32_t AddOperation(drivers::OperationKind kind);
  // The script is this: letters as in LineDriver's requests, of operations that are made where
  // there are none; '.' waits for `sleep`. A rollback is implied where it begins something.
  void SetScript(std::string_view letters, Nanos sleep = 0);

 private:
  void SetRecipePlans();

  std::unique_ptr<fakes::LineDriver> driver_;
};

struct Interval {
  Part part;
  std::uint32_t worker;
  std::uint32_t index;
  stats::StatsTotals stats;
};

struct Collected {
  bool armed = false;
  ArmedEvent armed_event;
  std::vector<Interval> intervals;
  stats::StatsTotals warmup{0};
  stats::StatsTotals measure{0};
  std::vector<std::string> traces;
  FinishedEvent finished;
  bool ended = false;
  Nanos took = 0;  // from StartAt to the end

  stats::OperationCounters ops() const { return measure.TotalOperations(); }
};

// Runs a plan to its end: starts when armed, checks the identities, ends the test's run after
// `bound`. `on_event` is called between events and may stop the run.
Collected RunToEnd(const LoadPlan& plan, Nanos bound = 20 * kSecond,
                   const std::function<void(LoadRun&, Nanos since_start)>& on_event = {});

}  // namespace cavalry::run
