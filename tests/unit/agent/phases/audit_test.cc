#include "agent/phases/audit.h"

#include <gtest/gtest.h>

#include "agent/plan.h"
#include "tests/unit/agent/fake_driver.h"
#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

using drivers::FakeRow;
using drivers::FakeServer;

// Operations by index: 0 sets qty to the version, 1 sets note to a text of the version, 2 deletes,
// 3 inserts into orders, 4 sets an order's state, 5 sets qty and note.
constexpr char kOperations[] = R"pb(
  reset: RESET_RUN
  operations {
    name: "qty"
    update {
      table: "stock"
      set {
        column: "qty"
        value { new_version {} }
      }
    }
  }
  operations {
    name: "note"
    update {
      table: "stock"
      set {
        column: "note"
        value { pattern: "v{version}" }
      }
    }
  }
  operations {
    name: "del"
    delete { table: "stock" }
  }
  operations {
    name: "add"
    insert { table: "orders" }
  }
  operations {
    name: "state"
    update {
      table: "orders"
      keys { same_as: "add" }
      set {
        column: "state"
        value { new_version {} }
      }
    }
  }
  operations {
    name: "both"
    update {
      table: "stock"
      set {
        column: "qty"
        value { new_version {} }
      }
      set {
        column: "note"
        value { pattern: "w{version}" }
      }
    }
  }
  script {
    steps { operation: "qty" }
    steps { operation: "note" }
    steps { operation: "del" }
    steps { operation: "add" }
    steps { operation: "state" }
    steps { operation: "both" }
  }
)pb";
constexpr std::size_t kStock = 0, kOrders = 1;
constexpr std::uint16_t kQty = 0, kNote = 1, kAdd = 3, kState = 4, kBoth = 5;

class AuditTest : public testing::Test {
 protected:
  AuditTest() : assignment_(With(BaseAssignment(), kOperations)) {
    server_.Reset();
    auto plan = MakeLoadPlan(assignment_, 1, run::LoopKind::kAuto);
    EXPECT_TRUE(plan.ok()) << StatusText(plan.status());
    step_.plan = *std::move(plan);
    step_.ledgers.push_back(std::make_unique<load::Ledger>(2));
    step_.ledgers.push_back(std::make_unique<load::Ledger>(2));
    *order_.mutable_workload() = assignment_.workload();
    FillStock();
  }

  load::Ledger& ledger(std::size_t worker = 0) { return *step_.ledgers[worker]; }

  void FillStock() {
    const auto table = MakeTablePlan(assignment_.workload().tables(0), 42);
    const auto values = MakeGenerator(*table->schema, {0, 1, 2, 3}, table->rules, 42);
    for (std::uint64_t key = 1; key <= 100; ++key) Put("stock", *values, key, 0);
  }

  // Writes the values into the server's row, as if the write had been done there.
  void Put(const std::string& table, const load::RowGenerator& values, std::uint64_t key,
           std::uint64_t version) {
    load::RowBuffer buffer;
    values.Generate(key, version, &buffer);
    FakeRow& row = server_.tables[table].rows[key];
    row.resize(4);
    for (std::size_t i = 0; i < values.columns().size(); ++i) {
      row[values.columns()[i]] = drivers::PrintValue(buffer.values()[i]);
    }
  }
  void Write(std::uint16_t operation, std::uint64_t key, std::uint64_t version) {
    const load::OperationRecipe& recipe = step_.plan->recipes[operation];
    Put(recipe.plan->table->name, *recipe.values, key, version);
  }

  // An update that the ledger knows of, done at the server or not.
  void Update(std::uint16_t operation, std::uint64_t key, std::uint64_t version, bool done = true,
              Outcome outcome = Outcome::kOk) {
    const std::size_t table = operation == kState ? kOrders : kStock;
    ledger().RecordUpdate(table, key, operation, version, outcome, outcome != Outcome::kOk);
    if (done) Write(operation, key, version);
  }
  void Delete(std::uint64_t key, bool done = true, Outcome outcome = Outcome::kOk) {
    ledger().RecordDelete(kStock, key, outcome, outcome != Outcome::kOk);
    if (done) server_.tables["stock"].rows.erase(key);
  }
  void Insert(std::uint64_t key, bool done = true, Outcome outcome = Outcome::kOk) {
    ledger().RecordInsert(kOrders, key, outcome, outcome == Outcome::kTimeout);
    if (done) Write(kAdd, key, 0);
  }

  v1::AuditResult Audit(bool ok = true) {
    v1::AuditResult result;
    const std::atomic<bool> stop{stop_};
    const PhaseContext context{order_, 1, [](std::uint64_t, std::uint64_t, std::string_view) {},
                               stop};
    const auto admin = step_.plan->driver->NewAdmin(Settings());
    const Status status =
        AuditWrites(step_, connected_ ? admin->get() : nullptr, 3, context, &result, patience_);
    EXPECT_EQ(status.ok(), ok) << StatusText(status);
    return result;
  }

  // acknowledged lost stale unexpected wrong unknown unaudited
  static std::string Counts(const v1::AuditResult& result) {
    return fmt::format("a{} l{} s{} x{} w{} u{} n{}", result.acknowledged(), result.lost(),
                       result.stale(), result.unexpected(), result.wrong(), result.unknown(),
                       result.unaudited());
  }
  std::string AuditCounts() { return Counts(Audit()); }

  FakeServer& server_ = FakeServer::Get();
  v1::Assignment assignment_;
  v1::RunPhase order_;
  StepLedger step_;
  bool stop_ = false;
  bool connected_ = true;
  Nanos patience_ = 0;
};

TEST_F(AuditTest, FindsNothingWrongWhereAllIsWell) {
  Update(kQty, 1, 10);
  Update(kQty, 1, 20);
  Update(kNote, 2, 11);
  Delete(3);
  Insert(1);
  Insert(2);
  Update(kState, 2, 12);
  Insert(3, false, Outcome::kRejected);
  EXPECT_EQ(AuditCounts(), "a5 l0 s0 x0 w0 u0 n0");
}

TEST_F(AuditTest, FindsLostWrites) {
  Insert(1, false);
  Update(kQty, 5, 10);
  server_.tables["stock"].rows.erase(5);
  Insert(2);
  Update(kState, 2, 12);
  server_.tables["orders"].rows.erase(2);
  const v1::AuditResult result = Audit();
  EXPECT_EQ(Counts(result), "a3 l3 s0 x0 w0 u0 n0");
  EXPECT_EQ(result.samples(0), "lost stock 5");
  EXPECT_EQ(result.samples(1), "lost orders 2");
}

TEST_F(AuditTest, FindsStaleRows) {
  // As before the last write, before the one before it, and as filled.
  Update(kQty, 1, 10);
  Update(kQty, 1, 20, false);
  Update(kNote, 2, 10);
  Update(kNote, 2, 20, false);
  Update(kNote, 2, 30, false);
  Update(kNote, 3, 10, false);
  Update(kQty, 4, 10, false);
  Delete(5, false);
  EXPECT_EQ(AuditCounts(), "a5 l0 s5 x0 w0 u0 n0");
}

TEST_F(AuditTest, FindsOlderVersionsByTheirNumber) {
  for (std::uint64_t version = 10; version <= 14; ++version) Update(kQty, 1, version, false);
  Write(kQty, 1, 3);  // of a step before
  EXPECT_EQ(AuditCounts(), "a1 l0 s1 x0 w0 u0 n0");
  Write(kQty, 1, 15);  // nobody wrote that yet
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w1 u0 n0");
}

TEST_F(AuditTest, FindsUnexpectedRows) {
  Insert(1, true, Outcome::kRejected);
  Insert(2, true, Outcome::kNotSent);
  EXPECT_EQ(AuditCounts(), "a0 l0 s0 x2 w0 u0 n0");
}

TEST_F(AuditTest, FindsWrongRows) {
  Insert(1);
  server_.tables["orders"].rows[1][1] = "order 2";
  Update(kNote, 2, 10);
  server_.tables["stock"].rows[2][2] = "v1";
  Update(kNote, 3, 10);
  server_.tables["stock"].rows[3][2] = std::nullopt;
  EXPECT_EQ(AuditCounts(), "a3 l0 s0 x0 w3 u0 n0");
}

TEST_F(AuditTest, TakesEitherVersionAfterAnOpenAnswer) {
  for (const bool done : {false, true}) {
    for (const std::uint16_t operation : {kQty, kNote}) {
      const std::uint64_t key = 10U + operation + (done ? 50U : 0U);
      Update(operation, key, 10);
      Update(operation, key, 20, done, Outcome::kTimeout);
    }
  }
  // The acknowledged version is there in two rows, the open one in the other two.
  EXPECT_EQ(AuditCounts(), "a4 l0 s0 x0 w0 u2 n0");
}

TEST_F(AuditTest, AnOpenWriteMayComeAfterALaterOne) {
  Update(kNote, 1, 10);
  Update(kNote, 1, 20, false, Outcome::kBroken);
  Update(kNote, 1, 30);
  Write(kNote, 1, 20);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u1 n0");
  // But an older acknowledged one may not.
  Write(kNote, 1, 10);
  EXPECT_EQ(AuditCounts(), "a1 l0 s1 x0 w0 u0 n0");
}

TEST_F(AuditTest, OpenWritesWithoutAnAcknowledgedOneAreUnknown) {
  Update(kQty, 1, 10, true, Outcome::kTimeout);
  Update(kQty, 2, 10, false, Outcome::kTimeout);
  Delete(3, true, Outcome::kBroken);
  Delete(4, false, Outcome::kBroken);
  Insert(5, true, Outcome::kTimeout);
  Insert(6, false, Outcome::kTimeout);
  EXPECT_EQ(AuditCounts(), "a0 l0 s0 x0 w0 u6 n0");
}

TEST_F(AuditTest, AnOpenDeleteExplainsAnAbsentRow) {
  Update(kQty, 1, 10);
  Delete(1, true, Outcome::kTimeout);
  Update(kQty, 2, 10);
  Delete(2, false, Outcome::kTimeout);
  EXPECT_EQ(AuditCounts(), "a2 l0 s0 x0 w0 u1 n0");
}

TEST_F(AuditTest, ADeletedRowIsGoneWhateverWasWrittenBefore) {
  Update(kQty, 1, 10);
  Delete(1);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  Write(kQty, 1, 10);
  EXPECT_EQ(AuditCounts(), "a1 l0 s1 x0 w0 u0 n0");
}

TEST_F(AuditTest, JudgesTwoOperationsOnDifferentColumnsEach) {
  // The last write is there, the other one is lost.
  Update(kQty, 1, 10, false);
  Update(kNote, 1, 11);
  EXPECT_EQ(AuditCounts(), "a1 l0 s1 x0 w0 u0 n0");
  Write(kQty, 1, 10);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  server_.tables["stock"].rows[1][1] = "99";
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w1 u0 n0");
}

TEST_F(AuditTest, JudgesAColumnByItsLastWriter) {
  Update(kQty, 1, 10);
  Update(kBoth, 1, 11);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  Update(kQty, 1, 12);  // note is still of version 11
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  Update(kNote, 1, 13);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  // As if the last two were lost.
  Write(kBoth, 1, 11);
  EXPECT_EQ(AuditCounts(), "a1 l0 s1 x0 w0 u0 n0");
}

TEST_F(AuditTest, ATornWriteIsWrong) {
  Update(kBoth, 1, 10);
  Update(kBoth, 1, 20);
  server_.tables["stock"].rows[1][1] = "10";  // qty of the older, note of the newer
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w1 u0 n0");
}

TEST_F(AuditTest, OpenWritesOfTwoOperationsMayBothBeDone) {
  Update(kQty, 1, 10);
  Update(kNote, 1, 11);
  Update(kQty, 1, 12, false, Outcome::kTimeout);
  Update(kBoth, 1, 13, false, Outcome::kTimeout);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  Write(kBoth, 1, 13);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u1 n0");
  Write(kQty, 1, 12);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u1 n0");
}

TEST_F(AuditTest, ChecksTheOtherColumnsOfAnInsertedAndUpdatedRow) {
  Insert(1);
  Update(kState, 1, 10);
  server_.tables["orders"].rows[1][1] = "other";
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w1 u0 n0");
  Write(kAdd, 1, 0);  // as inserted: the update is lost
  EXPECT_EQ(AuditCounts(), "a1 l0 s1 x0 w0 u0 n0");
}

TEST_F(AuditTest, AnUpdateProvesAnInsertWithAnOpenAnswer) {
  Insert(1, true, Outcome::kTimeout);
  Update(kState, 1, 10);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w0 u0 n0");
  server_.tables["orders"].rows.clear();
  EXPECT_EQ(AuditCounts(), "a1 l1 s0 x0 w0 u0 n0");
}

TEST_F(AuditTest, RowsNotOfOurMakingHaveNoFormerState) {
  order_.mutable_workload()->set_reset(v1::RESET_NEVER);
  Update(kNote, 1, 10, false);
  EXPECT_EQ(AuditCounts(), "a1 l0 s0 x0 w1 u0 n0");
}

TEST_F(AuditTest, SumsUpWorkersAndWhatTheyCouldNotKeep) {
  Update(kQty, 1, 10);
  ledger(1).RecordUpdate(kStock, 2, kQty, 11, Outcome::kOk, false);
  Write(kQty, 2, 11);
  ledger(1).CountUnaudited();
  EXPECT_EQ(AuditCounts(), "a2 l0 s0 x0 w0 u0 n1");
}

TEST_F(AuditTest, NamesSomeKeysOfEachKind) {
  for (std::uint64_t key = 1; key <= 5; ++key) {
    Insert(key, false);
    Delete(key, false);
  }
  const v1::AuditResult result = Audit();
  EXPECT_EQ(Counts(result), "a10 l5 s5 x0 w0 u0 n0");
  EXPECT_EQ(result.samples_size(), 6);
}

class CutOffAudit : public AuditTest {
 protected:
  // 1,300 acknowledged keys, 100 of them inserted and then updated, and some without an answer.
  void WriteMany() {
    for (std::uint64_t key = 1; key <= 1'200; ++key) Insert(key);
    for (std::uint64_t key = 1; key <= 100; ++key) Update(kState, key, key);
    for (std::uint64_t key = 1; key <= 100; ++key) Update(kQty, key, 1'000 + key);
    for (std::uint64_t key = 2'000; key <= 2'050; ++key) Insert(key, false, Outcome::kTimeout);
  }
};

TEST_F(CutOffAudit, CountsTheRestAsUnauditedOnce) {
  WriteMany();
  for (int batches = 0; batches < 5; ++batches) {
    server_.reads_until_error = batches;
    const v1::AuditResult result = Audit(batches >= 4);
    EXPECT_EQ(result.acknowledged() + result.unaudited(), 1'300U) << batches;
    EXPECT_EQ(result.lost() + result.wrong() + result.stale(), 0U);
    if (batches == 0) {
      EXPECT_EQ(result.acknowledged(), 0U);
    }
    if (batches == 4) {
      EXPECT_EQ(Counts(result), "a1300 l0 s0 x0 w0 u51 n0");
    }
  }
}

TEST_F(CutOffAudit, GoesOnWhenTheServerComesBack) {
  WriteMany();
  server_.reads_until_error = 1;
  server_.comes_back = true;
  patience_ = 10 * kSecond;
  EXPECT_EQ(Counts(Audit()), "a1300 l0 s0 x0 w0 u51 n0");
  EXPECT_EQ(server_.connects, 3);
}

TEST_F(CutOffAudit, DoesNotWaitForAServerWhenItIsToStop) {
  WriteMany();
  server_.reads_until_error = 1;
  patience_ = 3600 * kSecond;
  stop_ = true;
  const v1::AuditResult result = Audit(false);
  EXPECT_EQ(result.acknowledged() + result.unaudited(), 1'300U);
}

TEST_F(CutOffAudit, WithoutAConnectionNothingIsAudited) {
  WriteMany();
  connected_ = false;
  EXPECT_EQ(Counts(Audit()), "a0 l0 s0 x0 w0 u0 n1300");
}

TEST_F(CutOffAudit, StopsOnRequest) {
  WriteMany();
  stop_ = true;
  EXPECT_EQ(Counts(Audit(false)), "a0 l0 s0 x0 w0 u0 n1300");
}

TEST_F(CutOffAudit, RefusesAnotherSpecThanTheSteps) {
  WriteMany();
  order_.mutable_workload()->mutable_tables(0)->mutable_columns(2)->set_type("varchar(9)");
  EXPECT_EQ(Audit(false).unaudited(), 1'300U);
  order_.clear_workload();
  EXPECT_EQ(Audit(false).unaudited(), 1'300U);
}

}  // namespace
}  // namespace cavalry::agent
