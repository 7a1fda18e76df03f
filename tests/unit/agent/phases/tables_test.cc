// Phases on whole tables, through the phase runner as an agent runs them.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "agent/phase_runner.h"
#include "agent/plan.h"
#include "core/wire/status_codec.h"
#include "tests/unit/agent/fake_driver.h"
#include "tests/unit/agent/message_mutator.h"
#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

using drivers::FakeServer;
using drivers::FakeTable;
using drivers::TableMark;

class PhasesTest : public testing::Test {
 protected:
  PhasesTest() : workload_(BaseAssignment().workload()) {
    server_.Reset();
    workload_.MergeFrom(Parse<v1::Workload>(R"pb(
      reset: RESET_RUN
      operations {
        name: "find"
        read { table: "stock" }
      }
      operations {
        name: "log"
        insert { table: "orders" }
      }
      script {
        steps { operation: "find" }
        steps { operation: "log" }
      }
    )pb"));
  }

  v1::RunPhase Order(v1::Phase phase) {
    v1::RunPhase order;
    order.set_phase(phase);
    *order.mutable_workload() = workload_;
    order.set_target("sql");
    return order;
  }

  // Runs the phase and waits for its end.
  v1::PhaseDone Run(v1::RunPhase order) {
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<v1::PhaseDone> result;
    bool idle_when_told = false;
    PhaseRunner runner(/*threads=*/2);
    runner.Start(std::move(order), nullptr, [&](v1::FromAgent message) {
      if (!message.has_phase_done()) return;
      const std::lock_guard lock(mutex);
      result = message.phase_done();
      idle_when_told = runner.idle();
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return result.has_value(); });
    EXPECT_TRUE(idle_when_told);  // or the next order would be refused
    return *result;
  }
  v1::PhaseDone Run(v1::Phase phase) { return Run(Order(phase)); }

  std::string ErrorOf(const v1::PhaseDone& done) {
    return StatusText(wire::FromMessage(done.status()));
  }
  void ExpectOk(const v1::PhaseDone& done) { EXPECT_EQ(ErrorOf(done), ""); }

  v1::PhaseDone Fill(std::uint64_t first = 1, std::uint64_t count = 100) {
    v1::RunPhase order = Order(v1::PHASE_FILL);
    v1::KeyShare* share = order.add_shares();
    share->set_table("stock");
    share->set_first(first);
    share->set_count(count);
    return Run(order);
  }
  v1::PhaseDone MarkFilled() {
    v1::RunPhase order = Order(v1::PHASE_MARK_FILLED);
    order.add_shares()->set_table("stock");
    return Run(order);
  }
  // Everything that comes before the first step.
  void SetUpTables() {
    ExpectOk(Run(v1::PHASE_RESET));
    const v1::PhaseDone prepared = Run(v1::PHASE_PREPARE);
    ExpectOk(prepared);
    if (!prepared.tables(0).filled()) {
      ExpectOk(Fill());
      ExpectOk(MarkFilled());
    }
  }

  FakeServer& server_ = FakeServer::Get();
  v1::Workload workload_;
};

TEST_F(PhasesTest, CreateFillAndMarkMissingTables) {
  SetUpTables();
  EXPECT_EQ(server_.changes, (std::vector<std::string>{"create stock", "create orders",
                                                       "insert stock", "mark stock"}));
  const FakeTable& stock = server_.tables["stock"];
  EXPECT_EQ(stock.mark, TableMark::kFilled);
  ASSERT_EQ(stock.rows.size(), 100U);
  EXPECT_EQ(stock.rows.begin()->first, 1U);
  EXPECT_EQ(*stock.rows.at(7)[3], "Item#000000007");
  EXPECT_EQ(server_.tables["orders"].mark, TableMark::kEmpty);
}

TEST_F(PhasesTest, RefuseAForeignTableAndChangeNothing) {
  // The first table is cavalry's own and would be emptied; the second is not.
  SetUpTables();
  server_.tables["stock"].mark = TableMark::kUsed;
  server_.tables["orders"] = {false, 0, TableMark::kEmpty, 0, {{5, {"5", "a", "0"}}}};
  server_.changes.clear();
  for (const v1::Phase phase : {v1::PHASE_PREFLIGHT, v1::PHASE_RESET, v1::PHASE_PREPARE}) {
    v1::RunPhase order = Order(phase);
    order.set_connect(true);
    const std::string error = ErrorOf(Run(order));
    EXPECT_NE(error.find("test.orders"), std::string::npos) << error;
    EXPECT_NE(error.find("--allow-destroy test.orders"), std::string::npos) << error;
    EXPECT_NE(error.find("existing: use"), std::string::npos) << error;
  }
  EXPECT_TRUE(server_.changes.empty());
  EXPECT_EQ(server_.tables["stock"].rows.size(), 100U);
  // Cleanup leaves it there and goes on.
  ExpectOk(Run(v1::PHASE_CLEANUP));
  EXPECT_EQ(server_.changes, std::vector<std::string>{"drop stock"});
  EXPECT_EQ(server_.tables["orders"].rows.size(), 1U);
}

TEST_F(PhasesTest, LeaveAFilledTableAlone) {
  SetUpTables();
  server_.changes.clear();
  for (int i = 0; i < 2; ++i) {
    const v1::PhaseDone reset = Run(v1::PHASE_RESET);
    ExpectOk(reset);
    EXPECT_TRUE(reset.tables(0).filled());
    EXPECT_EQ(reset.tables(0).rows(), 100U);
    EXPECT_EQ(reset.tables(0).max_key(), 100U);
  }
  EXPECT_EQ(server_.Count("truncate stock"), 0);
  EXPECT_EQ(server_.Count("drop"), 0);
  const v1::PhaseDone prepared = Run(v1::PHASE_PREPARE);
  ExpectOk(prepared);
  EXPECT_TRUE(prepared.tables(0).filled());
}

TEST_F(PhasesTest, EmptyATableThatWasUsedOrHasOtherRows) {
  SetUpTables();
  ExpectOk(Run(v1::PHASE_MARK_USED));
  EXPECT_EQ(server_.tables["stock"].mark, TableMark::kUsed);
  const v1::PhaseDone reset = Run(v1::PHASE_RESET);
  ExpectOk(reset);
  EXPECT_FALSE(reset.tables(0).filled());
  EXPECT_EQ(reset.tables(0).max_key(), 0U);
  EXPECT_TRUE(server_.tables["stock"].rows.empty());
  ExpectOk(Fill(1, 99));
  ExpectOk(MarkFilled());
  EXPECT_FALSE(Run(v1::PHASE_PREPARE).tables(0).filled());  // a row is missing
}

TEST_F(PhasesTest, DropATableOfAnotherSchema) {
  SetUpTables();
  server_.changes.clear();
  workload_.mutable_tables(0)->mutable_columns(2)->set_type("varchar(41)");
  EXPECT_NE(ErrorOf(Run(v1::PHASE_PREPARE)), "");  // not before it is reset
  SetUpTables();
  EXPECT_EQ(server_.Count("drop stock"), 1);
  EXPECT_EQ(server_.Count("create stock"), 1);
  EXPECT_EQ(server_.tables["stock"].rows.size(), 100U);
}

TEST_F(PhasesTest, DropAForeignTableOnlyWhenItIsNamed) {
  for (const char* name : {"stock", "test.stock"}) {
    server_.Reset();
    server_.tables["stock"] = {false, 0, TableMark::kEmpty, 0, {}};
    v1::RunPhase order = Order(v1::PHASE_RESET);
    order.add_allow_destroy("other.stock");
    EXPECT_NE(ErrorOf(Run(order)), "");
    EXPECT_TRUE(server_.changes.empty());
    order.add_allow_destroy(name);
    ExpectOk(Run(order));
    EXPECT_FALSE(server_.tables.contains("stock"));
  }
}

TEST_F(PhasesTest, NeverCreateFillOrDropATableUsedAsItIs) {
  workload_.mutable_tables(0)->set_existing(v1::EXISTING_USE);
  // It is not there: an error, not a table.
  ExpectOk(Run(v1::PHASE_RESET));
  EXPECT_NE(ErrorOf(Run(v1::PHASE_PREPARE)), "");
  EXPECT_EQ(server_.Count("create stock"), 0);
  // It is there, with and without a mark.
  for (const bool marked : {false, true}) {
    server_.Reset();
    server_.tables["stock"] = {marked, 1, TableMark::kUsed, 1, {{5, {"5", "1", "a", "b"}}}};
    ExpectOk(Run(v1::PHASE_RESET));
    const v1::PhaseDone prepared = Run(v1::PHASE_PREPARE);
    ExpectOk(prepared);
    EXPECT_TRUE(prepared.tables(0).used_as_is());
    EXPECT_NE(ErrorOf(Fill()), "");
    ExpectOk(Run(v1::PHASE_MARK_FILLED));
    ExpectOk(Run(v1::PHASE_MARK_USED));
    ExpectOk(Run(v1::PHASE_CLEANUP));
    for (const std::string& change : server_.changes) {
      EXPECT_EQ(change.find("stock"), std::string::npos) << change;
    }
    EXPECT_EQ(server_.tables["stock"].rows.size(), 1U);
  }
}

TEST_F(PhasesTest, ResetNeverChangesNothing) {
  workload_.set_reset(v1::RESET_NEVER);
  EXPECT_NE(ErrorOf(Run(v1::PHASE_PREPARE)), "");  // nothing is there
  for (const bool marked : {false, true}) {
    server_.Reset();
    server_.tables["stock"] = {marked, 1, TableMark::kFilled, 1, {{5, {"5", "1", "a", "b"}}}};
    server_.tables["orders"] = {marked, 1, TableMark::kUsed, 0, {}};
    EXPECT_NE(ErrorOf(Run(v1::PHASE_RESET)), "");
    const v1::PhaseDone prepared = Run(v1::PHASE_PREPARE);
    ExpectOk(prepared);
    EXPECT_EQ(prepared.tables(0).max_key(), 5U);
    EXPECT_NE(ErrorOf(Fill()), "");
    EXPECT_TRUE(server_.changes.empty());
    EXPECT_EQ(server_.tables["stock"].rows.size(), 1U);
  }
}

TEST_F(PhasesTest, ATableUsedForAnotherSpecIsAsNoSpecSays) {
  SetUpTables();
  v1::Workload first = workload_;
  workload_.set_reset(v1::RESET_NEVER);
  workload_.mutable_tables(0)->mutable_columns(2)->set_type("varchar(41)");
  ExpectOk(Run(v1::PHASE_PREPARE));
  ExpectOk(Run(v1::PHASE_MARK_FILLED));  // may not claim that
  EXPECT_EQ(server_.tables["stock"].mark, TableMark::kFilled);
  ExpectOk(Run(v1::PHASE_MARK_USED));
  // Neither this spec nor the first takes it for its own.
  workload_.set_reset(v1::RESET_RUN);
  EXPECT_NE(ErrorOf(Run(v1::PHASE_PREPARE)), "");
  workload_ = first;
  EXPECT_NE(ErrorOf(Run(v1::PHASE_PREPARE)), "");
  EXPECT_TRUE(server_.tables["stock"].marked);
}

TEST_F(PhasesTest, CleanUpDropsOnlyWhatIsMarked) {
  SetUpTables();
  ExpectOk(Run(v1::PHASE_CLEANUP));
  EXPECT_TRUE(server_.tables.empty());
  ExpectOk(Run(v1::PHASE_CLEANUP));
}

TEST_F(PhasesTest, FillInSharesGivesTheRowsOfOne) {
  SetUpTables();
  const auto whole = server_.tables["stock"].rows;
  ExpectOk(Run(v1::PHASE_MARK_USED));
  ExpectOk(Run(v1::PHASE_RESET));
  ExpectOk(Fill(1, 34));
  ExpectOk(Fill(35, 66));
  EXPECT_EQ(server_.tables["stock"].rows, whole);
}

TEST_F(PhasesTest, FillTellsWhatWentWrong) {
  EXPECT_NE(ErrorOf(Fill()), "");  // no such table
  ExpectOk(Run(v1::PHASE_PREPARE));
  EXPECT_NE(ErrorOf(Fill(~std::uint64_t{0}, 1)), "");
  EXPECT_NE(ErrorOf(Fill(1, ~std::uint64_t{0})), "");
  EXPECT_NE(ErrorOf(Fill(load::kMaxKey, 2)), "");
  server_.inserts_until_error = 1;
  const std::string error = ErrorOf(Fill(1, 100'000));
  EXPECT_NE(error.find("stock"), std::string::npos) << error;
  server_.connect_error = Unavailable("refused");
  EXPECT_NE(ErrorOf(Fill()), "");
}

TEST_F(PhasesTest, PreflightChecksBeforeItConnects) {
  server_.connect_error = Unavailable("refused");
  v1::PhaseDone done = Run(v1::PHASE_PREFLIGHT);
  ExpectOk(done);
  EXPECT_EQ(done.warnings(0), "sql: mind the gap");
  v1::RunPhase order = Order(v1::PHASE_PREFLIGHT);
  order.set_connect(true);
  EXPECT_NE(ErrorOf(Run(order)).find("refused"), std::string::npos);
  server_.connect_error = absl::OkStatus();
  order.mutable_workload()->mutable_load()->set_sessions(5'000);
  done = Run(order);
  ExpectOk(done);
  EXPECT_EQ(done.server(0).value(), "fake");
  ASSERT_EQ(done.warnings_size(), 2);
  EXPECT_EQ(done.warnings(1), "sql: raise max_connections");
  EXPECT_EQ(server_.asked_operations, 2U);
  server_.check_error = InvalidArgument("no such option");
  EXPECT_NE(ErrorOf(Run(order)).find("sql: no such option"), std::string::npos);
}

TEST_F(PhasesTest, PreflightSaysWhereAPipelineDoesNotApply) {
  workload_.mutable_load()->set_pipeline(3);
  const auto warns = [&](const std::string& target) {
    v1::RunPhase order = Order(v1::PHASE_PREFLIGHT);
    order.set_target(target);
    const v1::PhaseDone done = Run(order);
    return std::any_of(done.warnings().begin(), done.warnings().end(), [](const std::string& text) {
      return text.find("so load.pipeline 3 does not apply to it") != std::string::npos;
    });
  };
  EXPECT_TRUE(warns("sql"));
  EXPECT_FALSE(warns("hs"));
  workload_.mutable_load()->set_pipeline(1);
  EXPECT_FALSE(warns("sql"));
}

TEST_F(PhasesTest, OperationsAreNoMatterOfATargetThatOnlyOwnsTables) {
  workload_.add_operations()->mutable_scan()->set_table("stock");
  workload_.mutable_operations()->rbegin()->set_name("range");
  EXPECT_NE(ErrorOf(Run(v1::PHASE_PREFLIGHT)).find("cannot scan"), std::string::npos);
  for (v1::Target& target : *workload_.mutable_targets()) {
    if (target.name() == "sql") target.set_load(false);
  }
  ExpectOk(Run(v1::PHASE_PREFLIGHT));
}

TEST_F(PhasesTest, TargetsWithoutTablesAreRefused) {
  v1::RunPhase order = Order(v1::PHASE_PREPARE);
  order.set_target("hs");
  EXPECT_NE(ErrorOf(Run(order)).find("tables_of"), std::string::npos);
}

TEST_F(PhasesTest, OrdersOfAnyContentEndWithAnAnswer) {
  MessageMutator mutator(7);
  for (int i = 0; i < 2'000; ++i) {
    server_.Reset();
    v1::RunPhase order = Order(static_cast<v1::Phase>(mutator.Below(10)));
    v1::KeyShare* share = order.add_shares();
    share->set_table("stock");
    share->set_first(1);
    share->set_count(10);
    for (std::uint64_t changes = mutator.Below(4); changes > 0; --changes) mutator.Mutate(&order);
    // A share of a million million rows is no crash, but no unit test either.
    for (v1::KeyShare& each : *order.mutable_shares()) {
      if (each.count() < load::kMaxKey)
        each.set_count(std::min<std::uint64_t>(each.count(), 3'000));
    }
    const v1::Phase phase = order.phase();
    EXPECT_EQ(Run(order).phase(), phase);
  }
}

TEST_F(PhasesTest, AStoppedPhaseSaysSo) {
  ExpectOk(Run(v1::PHASE_PREPARE));
  v1::RunPhase order = Order(v1::PHASE_FILL);
  v1::KeyShare* share = order.add_shares();
  share->set_table("stock");
  share->set_first(1);
  share->set_count(load::kMaxKey);
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<v1::PhaseDone> result;
  PhaseRunner runner(2);
  runner.Start(order, nullptr, [&](v1::FromAgent message) {
    // It goes on for ever, so it is told to stop once it has said how far it is.
    if (message.has_progress()) runner.Stop();
    if (!message.has_phase_done()) return;
    const std::lock_guard lock(mutex);
    result = message.phase_done();
    ended.notify_one();
  });
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return result.has_value(); });
  EXPECT_EQ(result->status().code(), static_cast<int>(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace cavalry::agent
