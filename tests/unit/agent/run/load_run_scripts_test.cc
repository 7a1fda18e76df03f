// What scripts do: waits, transactions, retries, variants, and where their connections come from,
// over both loops and all client models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "agent/run/back_off.h"
#include "agent/run/connection.h"
#include "agent/run/operation_trace.h"
#include "tests/unit/agent/run/run_harness.h"

namespace cavalry::run {
namespace {

using fakes::LineReply;
using fakes::LineServer;

// What the server was asked, by connection. Shared with the server's thread.
class Script {
 public:
  using Answer = std::function<LineReply(std::uint64_t connection, std::string_view line)>;

  explicit Script(Answer answer) : answer_(std::move(answer)) {}
  Script() : Script([](std::uint64_t, std::string_view) { return LineReply{"OK 1\n"}; }) {}

  fakes::LineServerOptions Options() {
    fakes::LineServerOptions options;
    options.reply = [this](std::uint64_t connection, std::uint64_t, std::string_view line) {
      const std::lock_guard lock(mutex_);
      asked_[connection] += line[0];
      return answer_(connection, line);
    };
    return options;
  }
  std::string Asked(std::uint64_t connection) {
    const std::lock_guard lock(mutex_);
    return asked_[connection];
  }
  std::uint64_t Count(char letter) {
    const std::lock_guard lock(mutex_);
    std::int64_t count = 0;
    for (const auto& [connection, letters] : asked_) {
      count += std::count(letters.begin(), letters.end(), letter);
    }
    return static_cast<std::uint64_t>(count);
  }

 private:
  std::mutex mutex_;
  Answer answer_;
  std::map<std::uint64_t, std::string> asked_;
};

// The n-th answer is `text`, the others are ok.
Script::Answer AnswerOf(int n, std::string text) {
  return [n, text = std::move(text), count = 0](std::uint64_t, std::string_view) mutable {
    return LineReply{++count == n ? text : "OK 1\n"};
  };
}

struct Way {
  LoopKind loop;
  bool pollable;
  bool blocking;
};

class LoadRunScripts : public testing::TestWithParam<Way> {
 protected:
  PlanOptions Options(const LineServer& server) {
    PlanOptions options;
    options.port = server.port();
    options.loop = GetParam().loop;
    options.pollable = GetParam().pollable;
    options.blocking = GetParam().blocking;
    options.script = {};
    return options;
  }
  bool blocking() const { return GetParam().blocking; }
};

std::uint64_t CountOf(const Collected& result, const LoadPlan& plan, drivers::OperationKind kind,
                      Outcome outcome) {
  std::uint64_t count = 0;
  for (const drivers::OperationPlan& operation : plan.operations) {
    if (operation.kind != kind) continue;
    count += result.measure.operations[operation.index].counters[outcome];
  }
  return count;
}

std::map<load::InsertState, int> InsertsOf(const Collected& result) {
  std::map<load::InsertState, int> states;
  for (const WorkerResult& worker : result.finished.workers) {
    worker.ledger->ForEachInsert(0,
                                 [&](std::uint64_t, load::InsertState state) { ++states[state]; });
  }
  return states;
}

TEST_P(LoadRunScripts, WaitsAreNoOperations) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 4;
  options.sessions = 2;
  TestPlan plan(options);
  plan.SetScript("R.R", 30 * kMillisecond);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 8u);
  EXPECT_EQ(result.measure.iterations.ok, 4u);
  EXPECT_GE(result.measure.Response()->min(), 30 * kMillisecond);
  EXPECT_LT(result.measure.Response()->min(), 45 * kMillisecond);
  EXPECT_LT(result.measure.operations[0].histograms.ok->Percentile(50), 20 * kMillisecond);
}

TEST_P(LoadRunScripts, ThinkTimeIsNoPartOfAnIteration) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 5;
  TestPlan plan(options);
  plan.SetScript("R");
  plan.plan.think_time = 50 * kMillisecond;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.measure.iterations.ok, 5u);
  EXPECT_LT(result.measure.Response()->max(), 50 * kMillisecond);
  // Four pauses between five; the last one holds nothing up.
  EXPECT_GE(result.took, 200 * kMillisecond);
  EXPECT_LT(result.took, 249 * kMillisecond);
}

TEST_P(LoadRunScripts, ACountedRunWaitsForItsSleepers) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  options.sessions = 2;
  options.drain_timeout = 50 * kMillisecond;
  options.operation_timeout = 100 * kMillisecond;
  TestPlan plan(options);
  plan.SetScript("R.R", 700 * kMillisecond);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.measure.iterations.ok, 2u);
  EXPECT_EQ(result.ops()[Outcome::kOk], 4u);
}

TEST_P(LoadRunScripts, StopNowEndsSleeps) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.duration = 60 * kSecond;
  options.sessions = 3;
  TestPlan plan(options);
  plan.SetScript("R.R", 30 * kSecond);
  const Collected result = RunToEnd(plan.plan, 20 * kSecond, [](LoadRun& run, Nanos since_start) {
    if (since_start > 100 * kMillisecond) run.Stop(StopKind::kNow);
  });
  EXPECT_EQ(result.measure.iterations.abandoned, 3u);
  EXPECT_EQ(result.ops().attempted, 3u);
  EXPECT_LT(result.took, kSecond);
}

TEST_P(LoadRunScripts, EachIterationIsOneOfTheVariants) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 10'000;
  options.sessions = 4;
  TestPlan plan(options);
  plan.SetScript("RDD");
  // Nine of ten read, one of ten deletes twice.
  plan.plan.script.variants = {{"read", 0, 1, 0, 9000}, {"delete", 1, 2, 9000, 10'000}};
  const Collected result = RunToEnd(plan.plan);
  std::uint64_t reads = 0;
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    reads += plan.plan.script.VariantFor(number)->name == "read" ? 1 : 0;
  }
  EXPECT_EQ(script.Count('R'), reads);
  EXPECT_EQ(script.Count('D'), 2 * (10'000 - reads));
  EXPECT_EQ(result.measure.iterations.ok, 10'000u);
}

TEST_P(LoadRunScripts, ACommittedTransactionIsAcknowledgedWhole) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 6;
  options.sessions = 2;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BIC");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 18u);
  EXPECT_EQ(result.measure.iterations.ok, 6u);
  EXPECT_EQ(script.Count('K'), 0u);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kAcknowledged, 6}}));
}

TEST_P(LoadRunScripts, AFailureWithinATransactionIsRolledBackBeforeTheNextIteration) {
  Script script(AnswerOf(6, "ERR 1062 duplicate\n"));  // the second of two inserts of iteration 2
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 3;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BIDC");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BIDCBIKBIDC");
  EXPECT_EQ(result.measure.iterations.ok, 2u);
  EXPECT_EQ(result.measure.iterations.failed, 1u);
  EXPECT_EQ(CountOf(result, plan.plan, drivers::OperationKind::kRollback, Outcome::kOk), 1u);
  EXPECT_EQ(result.ops()[Outcome::kRejected], 1u);
  EXPECT_EQ(result.measure.retries, 0u);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kAcknowledged, 2},
                                              {load::InsertState::kRefused, 1}}));
}

TEST_P(LoadRunScripts, WhatItsTransactionUndoesIsRefused) {
  Script script(AnswerOf(3, "ERR 1213 deadlock\n"));
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 1;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BIUC");
  plan.plan.recipes[2].values.emplace(*plan.plan.tables[0], std::vector<std::uint32_t>{0},
                                      std::vector<load::ColumnRule>{{load::RuleKind::kKey}}, 1);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BIUK");
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kRefused, 1}}));
}

TEST_P(LoadRunScripts, ACommitWithoutAnAnswerLeavesItsWritesOpen) {
  Script script([](std::uint64_t connection, std::string_view line) {
    return line[0] == 'C' && connection == 0 ? LineReply{"", 0, 0, true} : LineReply{"OK 1\n"};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BIC");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BIC");
  EXPECT_EQ(script.Asked(1), "BIC");  // without a rollback: there is nothing any more
  EXPECT_EQ(CountOf(result, plan.plan, drivers::OperationKind::kCommit, Outcome::kBroken), 1u);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kAcknowledged, 1},
                                              {load::InsertState::kUnknown, 1}}));
}

TEST_P(LoadRunScripts, ALostConnectionRollsItsTransactionBack) {
  Script script([](std::uint64_t connection, std::string_view line) {
    return line[0] == 'D' && connection == 0 ? LineReply{"", 0, 0, true} : LineReply{"OK 1\n"};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BIDC");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BID");
  EXPECT_EQ(script.Asked(1), "BIDC");
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kAcknowledged, 1},
                                              {load::InsertState::kRefused, 1}}));
}

TEST_P(LoadRunScripts, AFailedRollbackCostsTheConnection) {
  Script script([](std::uint64_t connection, std::string_view line) {
    const bool refused = connection == 0 && (line[0] == 'I' || line[0] == 'K');
    return LineReply{refused ? "ERR 1 no\n" : "OK 1\n"};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  TestPlan plan(options);
  plan.SetScript("BIC");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BIK");
  EXPECT_EQ(script.Asked(1), "BIC");
  EXPECT_EQ(result.measure.iterations.ok, 1u);
  EXPECT_EQ(result.measure.reconnects, 1u);
}

TEST_P(LoadRunScripts, AScriptWithoutACommitIsRolledBackAtItsEnd) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BI");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BIKBIK");
  EXPECT_EQ(result.measure.iterations.ok, 2u);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kRefused, 2}}));
}

TEST_P(LoadRunScripts, RetriesBeginAtTheLastBegin) {
  Script script(AnswerOf(4, "RETRY 1213 deadlock\n"));
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 1;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("RBIDC");
  plan.plan.retries = 3;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "RBIDKBIDC");
  EXPECT_EQ(result.measure.iterations.ok, 1u);
  EXPECT_EQ(result.measure.retries, 1u);
  EXPECT_EQ(result.ops()[Outcome::kRejected], 1u);
  EXPECT_EQ(result.ops().attempted, 9u);
  // From its first start, the wait included.
  EXPECT_GE(result.measure.Response()->min(), kShortestRetryWait);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kAcknowledged, 1}}));
}

TEST_P(LoadRunScripts, RetriesAreBoundedAndCounted) {
  Script script([](std::uint64_t, std::string_view) { return LineReply{"RETRY 1205 wait\n"}; });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  TestPlan plan(options);
  plan.SetScript("D");
  for (const std::uint32_t retries : {0U, 2U}) {
    plan.plan.retries = retries;
    const Collected result = RunToEnd(plan.plan);
    EXPECT_EQ(result.measure.iterations.failed, 2u);
    EXPECT_EQ(result.measure.retries, 2 * retries);
    EXPECT_EQ(result.ops()[Outcome::kRejected], 2 * (1 + retries));
  }
}

TEST_P(LoadRunScripts, WhatIsNotRetryableIsNotRetried) {
  Script script([](std::uint64_t, std::string_view) { return LineReply{"ERR 1062 duplicate\n"}; });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 2;
  TestPlan plan(options);
  plan.SetScript("D");
  plan.plan.retries = 5;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 2u);
  EXPECT_EQ(result.measure.retries, 0u);
}

TEST_P(LoadRunScripts, ConnectionsPerIterationAreTimedWithIt) {
  Script script([](std::uint64_t, std::string_view line) {
    if (line == "HELLO") return LineReply{"WELCOME\n", 20 * kMillisecond};
    return LineReply{"OK 1\n"};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.greet = true;
  options.count = 10;
  options.sessions = 2;
  TestPlan plan(options);
  plan.SetScript("R");
  plan.plan.connect_per_iteration = true;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.armed_event.connected, 2u);
  EXPECT_EQ(server.connections(), 10u);
  EXPECT_EQ(result.measure.iterations.ok, 10u);
  EXPECT_EQ(result.measure.connect->count(), 10u);
  EXPECT_EQ(result.measure.reconnects, 0u);
  EXPECT_GE(result.measure.Response()->min(), 20 * kMillisecond);
  EXPECT_LT(result.measure.operations[0].histograms.ok->Percentile(50), 20 * kMillisecond);
  for (const WorkerResult& worker : result.finished.workers) {
    EXPECT_EQ(worker.sessions_never_connected, 0u);
  }
}

TEST_P(LoadRunScripts, AFailedConnectOfAnIterationIsCountedOnce) {
  std::uint16_t unused = 0;
  {
    Script script;
    LineServer server(script.Options());
    unused = server.port();
  }
  PlanOptions options;
  options.port = unused;
  options.loop = GetParam().loop;
  options.pollable = GetParam().pollable;
  options.blocking = GetParam().blocking;
  options.script = {};
  options.count = 200;
  options.sessions = 2;
  TestPlan plan(options);
  plan.SetScript("RD");
  plan.plan.connect_per_iteration = true;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.measure.iterations.failed, 200u);
  EXPECT_EQ(result.ops().attempted, 200u);
  EXPECT_EQ(result.ops()[Outcome::kNotSent], 200u);
  EXPECT_TRUE(result.measure.operations[0].errors.empty());
  const auto& errors = result.measure.connect_errors.entries();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.begin()->first.first, "ECONNREFUSED");
  EXPECT_EQ(errors.begin()->second.count, 200u);
  EXPECT_EQ(result.finished.workers.at(0).sessions_never_connected, 2u);
}

TEST_P(LoadRunScripts, ASmallPoolServesManySessionsInOrder) {
  Script script([](std::uint64_t, std::string_view) {
    return LineReply{"OK 1\n", 2 * kMillisecond};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 60;
  options.sessions = 6;
  TestPlan plan(options);
  plan.SetScript("BRC");
  plan.plan.pool_size = 2;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(server.connections(), 2u);
  EXPECT_EQ(result.armed_event.connected, 6u);
  EXPECT_EQ(result.measure.iterations.ok, 60u);
  EXPECT_EQ(result.measure.connect->count(), 2u);
  // Three take turns on each connection: waiting is part of an iteration, and fair.
  EXPECT_GE(result.measure.Response()->Percentile(50), 15 * kMillisecond);
  EXPECT_LT(result.measure.Response()->Percentile(90), 40 * kMillisecond);
  // Transactions do not mix.
  for (const std::uint64_t connection : {0, 1}) {
    const std::string asked = script.Asked(connection);
    for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i], "BRC"[i % 3]);
  }
}

TEST_P(LoadRunScripts, APoolsOverflowIsOpenedOnDemandAndClosed) {
  Script script([](std::uint64_t, std::string_view) {
    return LineReply{"OK 1\n", 5 * kMillisecond};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 40;
  options.sessions = 4;
  TestPlan plan(options);
  plan.SetScript("R");
  plan.plan.pool_size = 1;
  plan.plan.pool_overflow = 1;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.measure.iterations.ok, 40u);
  EXPECT_GT(server.connections(), 5u);
  EXPECT_EQ(result.measure.connect->count(), server.connections());
  EXPECT_EQ(result.measure.reconnects, 0u);
}

TEST_P(LoadRunScripts, APoolReleasesNoOpenTransaction) {
  Script script([](std::uint64_t, std::string_view line) {
    return LineReply{line[0] == 'I' ? "ERR 1 no\n" : "OK 1\n"};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 4;
  options.sessions = 4;
  TestPlan plan(options);
  plan.SetScript("BIC");
  plan.plan.pool_size = 1;
  RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BIKBIKBIKBIK");
}

TEST_P(LoadRunScripts, APoolWithoutAConnectionBeginsNothing) {
  Script script([](std::uint64_t, std::string_view) { return LineReply{"ERR 1040 many\n"}; });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.greet = true;
  options.duration = 200 * kMillisecond;
  options.sessions = 3;
  TestPlan plan(options);
  plan.SetScript("R");
  plan.plan.pool_size = 1;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops().attempted, 0u);
  EXPECT_EQ(result.armed_event.connecting, 3u);
  EXPECT_EQ(result.finished.workers.at(0).sessions_never_connected, 3u);
  EXPECT_LT(result.took, kSecond);
}

TEST_P(LoadRunScripts, TheFirstOperationsAreTraced) {
  Script script;
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 20;
  options.sessions = 2;
  TestPlan plan(options);
  plan.SetScript("R");
  plan.plan.trace = 5;
  const Collected result = RunToEnd(plan.plan);
  ASSERT_EQ(result.traces.size(), 5u);
  for (const std::string& text : result.traces) {
    EXPECT_NE(text.find("read0 (session "), std::string::npos) << text;
    EXPECT_NE(text.find("): ok, 1 row, "), std::string::npos) << text;
    EXPECT_NE(text.find("\n  sent     R "), std::string::npos) << text;
    EXPECT_NE(text.find("\\n"), std::string::npos) << text;
    const bool bytes = !GetParam().pollable && !blocking();
    EXPECT_EQ(text.find("\n  received OK 1\\n") != std::string::npos, bytes) << text;
  }
}

TEST_P(LoadRunScripts, KeysAreCountedWhereTheyWereAnswered) {
  Script script([](std::uint64_t, std::string_view line) {
    if (line[0] == 'M') return LineReply{"OK 3\n"};
    return LineReply{line.back() % 2 == 0 ? "OK 1\n" : "MISS\n"};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 10;
  TestPlan plan(options);
  plan.SetScript("RMD");
  plan.plan.operations[1].batch = 4;
  const Collected result = RunToEnd(plan.plan);
  const auto& operations = result.measure.operations;
  EXPECT_EQ(operations[0].counters.keys_asked, 10u);
  EXPECT_EQ(operations[0].counters.keys_found, operations[0].counters[Outcome::kOk]);
  EXPECT_EQ(operations[0].counters[Outcome::kMiss], 5u);
  EXPECT_EQ(operations[1].counters.keys_asked, 40u);
  EXPECT_EQ(operations[1].counters.keys_found, 30u);
  EXPECT_EQ(operations[2].counters.keys_asked, 0u);
}

TEST_P(LoadRunScripts, AnIterationIsNotAnOperation) {
  Script script([](std::uint64_t, std::string_view) {
    return LineReply{"OK 1\n", 10 * kMillisecond};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.count = 20;
  TestPlan plan(options);
  plan.SetScript("RRRR");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 4 * result.measure.iterations.ok);
  const Nanos operation = result.measure.operations[0].histograms.ok->Percentile(50);
  EXPECT_GE(operation, 10 * kMillisecond);
  EXPECT_LT(operation, 13 * kMillisecond);
  EXPECT_GE(result.measure.Response()->Percentile(50), 40 * kMillisecond);
  EXPECT_LT(result.measure.Response()->Percentile(50), 52 * kMillisecond);
}

TEST_P(LoadRunScripts, DeadConnectsCostTheOthersNothing) {
  Script script([](std::uint64_t connection, std::string_view line) {
    if (line == "HELLO") return LineReply{connection < 5 ? "WELCOME\n" : ""};
    return LineReply{"OK 1\n", kMillisecond};
  });
  LineServer server(script.Options());
  PlanOptions options = Options(server);
  options.greet = true;
  options.sessions = 25;
  options.connect_timeout = 100 * kMillisecond;
  options.duration = 500 * kMillisecond;
  TestPlan plan(options);
  plan.SetScript("R");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.armed_event.connected, 5u);
  EXPECT_GE(result.ops()[Outcome::kOk], 800u);
  EXPECT_EQ(result.ops()[Outcome::kOk], result.ops().attempted);
  EXPECT_LT(result.measure.Response()->Percentile(90), 4 * kMillisecond);
  EXPECT_GE(result.measure.connect_errors.entries().begin()->second.count, 20u);
  EXPECT_EQ(result.finished.workers.at(0).sessions_never_connected, 20u);
}

std::string NameOf(const testing::TestParamInfo<Way>& way) {
  if (way.param.blocking) return "Blocking";
  return std::string(way.param.loop == LoopKind::kEpoll ? "Epoll" : "IoUring") +
         (way.param.pollable ? "Pollable" : "Codec");
}

INSTANTIATE_TEST_SUITE_P(AllWays, LoadRunScripts,
                         testing::Values(Way{LoopKind::kEpoll, false, false},
                                         Way{LoopKind::kIoUring, false, false},
                                         Way{LoopKind::kEpoll, true, false},
                                         Way{LoopKind::kIoUring, true, false},
                                         Way{LoopKind::kAuto, false, true}),
                         NameOf);

// Of codecs, which see the end of an idle connection.
class IdleConnections : public testing::TestWithParam<LoopKind> {};

TEST_P(IdleConnections, AnEndWhileIdleCostsAReconnectAndNoOperation) {
  Script script([](std::uint64_t connection, std::string_view) {
    return LineReply{"OK 1\n", 0, 0, connection < 4};  // closed after its first answer
  });
  LineServer server(script.Options());
  PlanOptions options;
  options.port = server.port();
  options.loop = GetParam();
  options.script = {};
  options.count = 4;
  options.sessions = 4;
  TestPlan plan(options);
  plan.SetScript("I.I", 300 * kMillisecond);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kOk], 8u);
  EXPECT_EQ(result.ops().attempted, 8u);
  EXPECT_EQ(result.measure.reconnects, 4u);
  EXPECT_EQ(result.measure.iterations.ok, 4u);
}

TEST_P(IdleConnections, ATransactionThatWaitsIsLostWithItsConnection) {
  Script script([](std::uint64_t connection, std::string_view line) {
    return LineReply{"OK 1\n", 0, 0, connection == 0 && line[0] == 'I'};
  });
  LineServer server(script.Options());
  PlanOptions options;
  options.port = server.port();
  options.loop = GetParam();
  options.script = {};
  options.count = 2;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("BI.C", 100 * kMillisecond);
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(script.Asked(0), "BI");
  EXPECT_EQ(script.Asked(1), "BIC");
  EXPECT_EQ(result.ops()[Outcome::kNotSent], 1u);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kAcknowledged, 1},
                                              {load::InsertState::kRefused, 1}}));
}

INSTANTIATE_TEST_SUITE_P(BothLoops, IdleConnections,
                         testing::Values(LoopKind::kEpoll, LoopKind::kIoUring),
                         [](const testing::TestParamInfo<LoopKind>& kind) {
                           return kind.param == LoopKind::kEpoll ? "Epoll" : "IoUring";
                         });

// A program that serves its sessions one after the other.
TEST(BlockingThreads, SessionsTakeTurnsAnIterationEach) {
  Script script([](std::uint64_t, std::string_view) {
    return LineReply{"OK 1\n", 2 * kMillisecond};
  });
  LineServer server(script.Options());
  PlanOptions options;
  options.port = server.port();
  options.blocking = true;
  options.script = {};
  options.sessions = 5;
  options.count = 50;
  TestPlan plan(options);
  plan.SetScript("RR");
  plan.plan.blocking_threads = 1;
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.measure.iterations.ok, 50u);
  for (std::uint64_t connection = 0; connection < 5; ++connection) {
    EXPECT_EQ(script.Asked(connection).size(), 20u);  // fair
  }
  // One after the other: nothing overlaps.
  EXPECT_GE(result.took, 200 * kMillisecond);
  EXPECT_EQ(result.finished.workers.at(0).loop, "threads");
}

TEST(BlockingThreads, AnEndIsNotHeldUpByACallThatWaits) {
  Script script([](std::uint64_t, std::string_view) { return LineReply{""}; });
  LineServer server(script.Options());
  PlanOptions options;
  options.port = server.port();
  options.blocking = true;
  options.script = {};
  options.sessions = 3;
  options.duration = 100 * kMillisecond;
  options.drain_timeout = 100 * kMillisecond;
  options.operation_timeout = 60 * kSecond;
  options.keep_ledger = true;
  TestPlan plan(options);
  plan.SetScript("I");
  const Collected result = RunToEnd(plan.plan);
  EXPECT_EQ(result.ops()[Outcome::kAbandoned], 3u);
  EXPECT_LT(result.took, kSecond);
  EXPECT_EQ(InsertsOf(result),
            (std::map<load::InsertState, int>{{load::InsertState::kUnknown, 3}}));
}

TEST(LoadRunLatencies, PercentilesAreOfTheDelaysThatTheServerHad) {
  int request = 0;
  Script script([&request](std::uint64_t, std::string_view) {
    return LineReply{"OK 1\n", ++request * kMillisecond};
  });
  LineServer server(script.Options());
  PlanOptions options;
  options.port = server.port();
  options.script = {};
  options.count = 100;
  TestPlan plan(options);
  plan.SetScript("R");
  const Collected result = RunToEnd(plan.plan);
  const auto& response = *result.measure.Response();
  EXPECT_NEAR(static_cast<double>(response.Percentile(50)) / kMillisecond, 51, 2.5);
  EXPECT_NEAR(static_cast<double>(response.Percentile(90)) / kMillisecond, 91, 2.5);
  EXPECT_NEAR(static_cast<double>(response.Percentile(99)) / kMillisecond, 100, 2.5);
  EXPECT_LE(response.min(), response.Percentile(50));
  EXPECT_LE(response.Percentile(99), response.max());
}

TEST(LoadRunLatencies, OfFewSamplesPercentilesStayWithinTheExtremes) {
  Script script([](std::uint64_t, std::string_view line) {
    return LineReply{"OK 1\n", line.back() % 3 * kMillisecond};
  });
  LineServer server(script.Options());
  for (const std::uint64_t count : {1, 2, 3, 7}) {
    PlanOptions options;
    options.port = server.port();
    options.count = count;
    const TestPlan plan(options);
    const Collected result = RunToEnd(plan.plan);
    const auto& response = *result.measure.Response();
    EXPECT_EQ(response.count(), count);
    EXPECT_LE(response.min(), response.Percentile(50));
    EXPECT_LE(response.Percentile(50), response.Percentile(95));
    EXPECT_LE(response.Percentile(95), response.Percentile(99));
    EXPECT_LE(response.Percentile(99), response.max());
    if (count == 1) {
      EXPECT_EQ(response.min(), response.max());
    }
  }
}

TEST(Connects, WithoutAFreePortSaySo) {
  const drivers::OpResult result = drivers::ErrnoResult(EADDRNOTAVAIL, Outcome::kNotSent);
  EXPECT_EQ(result.code, "local_port_exhausted");
  EXPECT_NE(result.text.find("Unix"), std::string_view::npos);
}

TEST(Traces, BytesArePrintable) {
  EXPECT_EQ(Printable("1\t=\n\x01\\\xff", 7), "1\\t=\\n\\x01\\\\\\xff");
  OperationTrace trace;
  trace.AddSent(std::string(2 * kTracedBytes, 'a'));
  trace.AddSent("b");
  const std::string line = Printable(trace.sent(), trace.sent_bytes());
  EXPECT_EQ(line, std::string(kTracedBytes, 'a') + "... (1025 bytes in all)");
}

TEST(LoadRunPlans, ThatDoNotFitTogetherAreRefused) {
  Script script;
  LineServer server(script.Options());
  const auto refused = [&](const std::function<void(LoadPlan*)>& change) {
    PlanOptions options;
    options.port = server.port();
    options.script = {};
    TestPlan plan(options);
    plan.SetScript("BRC");
    change(&plan.plan);
    return StatusText(LoadRun::Create(plan.plan).status());
  };
  EXPECT_NE(refused([](LoadPlan* plan) { plan->pipeline = 2; }).find("pipeline"),
            std::string::npos);
  EXPECT_NE(refused([](LoadPlan* plan) { plan->pool_size = 0; }).find("pool"), std::string::npos);
  EXPECT_NE(refused([](LoadPlan* plan) {
              plan->pool_size = 1;
              plan->connect_per_iteration = true;
            }).find("per_iteration"),
            std::string::npos);
}

}  // namespace
}  // namespace cavalry::run
