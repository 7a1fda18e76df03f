// What surprises people who come from SQL, as a real MariaDB does it: the driver's warnings and
// messages say so beforehand.
#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "drivers/handlersocket/handlersocket_driver.h"
#include "tests/integration/handlersocket_fixture.h"

namespace cavalry::drivers::handlersocket {
namespace {

std::string Quoted(const Target& target) { return "`" + target.table().name + "`"; }

std::vector<std::string> WarningsOf(Target& target) {
  return GetDriver().Warnings(target.settings(), target.plans());
}

bool Mention(const std::vector<std::string>& warnings, std::string_view what) {
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
    return warning.find(what) != std::string::npos;
  });
}

// Case C29: a list with another comparison than = gives the row next to each value.
TEST_F(HandlerSocketServerTest, AListGivesWhatTheWarningsSay) {
  const auto target = CreateTarget({MakeColumn("id", "int")});
  target->plans().clear();
  target->AddPlan(OperationKind::kScan, {0});
  sql_->Run("INSERT INTO " + Quoted(*target) + " VALUES (10), (11), (20), (21)");
  struct Case {
    Comparison comparison;
    std::vector<std::uint64_t> in;
    std::uint32_t limit;
    std::vector<Row> rows;
    std::string warning;
  };
  const Case cases[] = {
      {Comparison::kEqual, {10, 20, 99}, 3, {{"10"}, {"20"}}, ""},
      {Comparison::kEqual, {99, 98}, 2, {}, ""},
      {Comparison::kGreater, {10, 20}, 2, {{"11"}, {"21"}}, "the first one above it"},
      {Comparison::kLess, {11, 21}, 2, {{"10"}, {"20"}}, "the first one below it"},
      {Comparison::kEqual, {10, 20}, 1, {{"10"}}, "limit 1 is below the 2 values"}};
  for (const Case& one : cases) {
    OperationPlan& plan = target->plans()[0];
    plan.scan.columns = {0};
    plan.scan.comparison = one.comparison;
    plan.scan.in = one.in;
    plan.scan.limit = one.limit;
    target->factory();
    Client client = target->Connect(OperationKind::kScan);
    Operation scan = target->Make(plan);
    scan.key = Value::Integer(1);
    const Done done = client.Run(scan);
    EXPECT_EQ(done.visited, one.rows);
    EXPECT_EQ(done.outcome, one.rows.empty() ? Outcome::kMiss : Outcome::kOk);
    const std::vector<std::string> warnings = WarningsOf(*target);
    EXPECT_EQ(warnings.size(), one.warning.empty() ? 0U : 1U);
    EXPECT_TRUE(one.warning.empty() || Mention(warnings, one.warning)) << one.warning;
  }
}

TEST_F(HandlerSocketServerTest, AMultiReadGivesEachKeyOnce) {
  const auto target = CreateTarget({MakeColumn("id", "int"), MakeColumn("v", "varchar(5)")});
  sql_->Run("INSERT INTO " + Quoted(*target) + " VALUES (1,'a'), (2,'b'), (4,'d')");
  target->plans().clear();
  target->AddPlan(OperationKind::kMultiRead, {1}).batch = 5;
  Client client = target->Connect(OperationKind::kMultiRead);
  std::vector<Value> keys;
  for (const int key : {4, 3, 1, 1, 9}) keys.push_back(Value::Integer(key));
  Operation read = target->Make(target->plans()[0]);
  read.key = Key(std::span<const Value>(keys));
  const Done done = client.Run(read);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"d"}, {"a"}, {"a"}}));
}

// Case C31: what an insert leaves out is not what SQL would put there, and Warnings names it.
TEST_F(HandlerSocketServerTest, UnlistedColumnsGetWhatTheWarningsSay) {
  struct Unlisted {
    Column column;
    std::string default_sql;
    std::string stored;
    std::string warned;  // empty: as in SQL, no word about it
  };
  const std::vector<Unlisted> columns = {
      {MakeColumn("seven", "int"), "7", "7", ""},
      {MakeColumn("word", "varchar(9)"), "'abc'", "abc", ""},
      {MakeColumn("day", "date"), "'2024-02-29'", "2024-02-29", ""},
      {MakeColumn("none", "int", true), "NULL", "0", "instead of NULL: none, nothing"},
      {MakeColumn("nothing", "varchar(9)", true), "", "", "instead of NULL: none, nothing"},
      {MakeColumn("must", "int"), "", "0", "where SQL would refuse the row: must"},
      {MakeColumn("made", "datetime"), "CURRENT_TIMESTAMP", "0000-00-00 00:00:00",
       "not run: made (CURRENT_TIMESTAMP)"}};
  std::string definition = "(id INT PRIMARY KEY";
  std::vector<Column> all = {MakeColumn("id", "int")};
  for (const Unlisted& one : columns) {
    definition += fmt::format(", `{}` {} {}", one.column.name, one.column.type.sql,
                              one.column.nullable ? "NULL" : "NOT NULL");
    if (!one.default_sql.empty()) definition += " DEFAULT " + one.default_sql;
    all.push_back(one.column);
    all.back().default_sql = one.default_sql;
  }
  const auto target = CreateTarget(definition + ") ENGINE=InnoDB CHARSET=utf8mb4", all);
  target->plans().clear();
  target->AddPlan(OperationKind::kInsert, {0});
  const std::vector<std::string> warnings = WarningsOf(*target);
  EXPECT_EQ(warnings.size(), 3U);
  Client writer = target->Connect(OperationKind::kInsert);
  for (int id = 1; id <= 10; ++id) {
    Operation insert = target->Make(target->plans()[0]);
    const std::vector<Value> values = {Value::Integer(id)};
    insert.values = values;
    EXPECT_EQ(writer.Run(insert).outcome, Outcome::kOk);
  }
  const std::vector<Row> stored = sql_->Select("SELECT * FROM " + Quoted(*target));
  ASSERT_EQ(stored.size(), 10U);
  for (const Row& row : stored) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(row[i + 1], columns[i].stored) << columns[i].column.name;
      if (columns[i].warned.empty()) {
        EXPECT_FALSE(Mention(warnings, columns[i].column.name)) << columns[i].column.name;
      } else {
        EXPECT_TRUE(Mention(warnings, columns[i].warned)) << columns[i].column.name;
      }
    }
  }
}

TEST_F(HandlerSocketServerTest, OnUpdateIsNotRun) {
  const auto target = CreateTarget(
      "(id INT PRIMARY KEY, v INT NOT NULL, at DATETIME NOT NULL DEFAULT '2001-02-03 04:05:06' ON "
      "UPDATE CURRENT_TIMESTAMP)",
      {MakeColumn("id", "int"), MakeColumn("v", "int"), MakeColumn("at", "datetime")});
  target->table().columns[2].default_sql = "'2001-02-03 04:05:06' ON UPDATE CURRENT_TIMESTAMP";
  target->plans().clear();
  target->AddPlan(OperationKind::kUpdate, {1});
  EXPECT_TRUE(Mention(WarningsOf(*target), "does not run ON UPDATE of column at"));
  sql_->Run("INSERT INTO " + Quoted(*target) + " (id, v) VALUES (1, 1)");
  Client writer = target->Connect(OperationKind::kUpdate);
  Operation update = target->Make(target->plans()[0]);
  update.key = Value::Integer(1);
  const std::vector<Value> values = {Value::Integer(2)};
  update.values = values;
  EXPECT_EQ(writer.Run(update).outcome, Outcome::kOk);
  EXPECT_EQ(sql_->Select("SELECT v, at FROM " + Quoted(*target)),
            (std::vector<Row>{{"2", "2001-02-03 04:05:06"}}));
}

// There is no test of a view: the plugin of MariaDB 10.11 ends the server when it opens one.
TEST_F(HandlerSocketServerTest, ATableWithoutAnyIndexIsRefusedWithAReason) {
  const auto bare = CreateTarget("(id INT NOT NULL, v INT NOT NULL)",
                                 {MakeColumn("id", "int"), MakeColumn("v", "int")});
  for (const OperationKind kind : {OperationKind::kRead, OperationKind::kInsert}) {
    const Client client = bare->Connect(kind);
    EXPECT_EQ(client.state(), ConnectionState::kFailed);
    EXPECT_EQ(client.error().severity, Severity::kFatal);
    EXPECT_NE(client.error().text.find("has no primary key"), std::string::npos)
        << client.error().text;
  }
}

TEST_F(HandlerSocketServerTest, APartitionedTableIsUsedAsAWhole) {
  const auto target = CreateTarget(
      "(id INT PRIMARY KEY, name VARCHAR(25) NOT NULL) ENGINE=InnoDB PARTITION BY HASH(id) "
      "PARTITIONS 4",
      {MakeColumn("id", "int"), MakeColumn("name", "varchar(25)")});
  Client writer = target->Connect(OperationKind::kInsert);
  Client reader = target->Connect(OperationKind::kRead);
  for (int id = 1; id <= 20; ++id) {
    const std::vector<Value> row = {Value::Integer(id), Value::Text("x")};
    EXPECT_EQ(writer.Run(target->Add(row)).outcome, Outcome::kOk);
    EXPECT_EQ(reader.Run(target->Find(id)).outcome, Outcome::kOk);
  }
  EXPECT_EQ(sql_->Select("SELECT COUNT(*) FROM " + Quoted(*target)), (std::vector<Row>{{"20"}}));
}

// A deadlock undoes the whole batch, also the lines that were acknowledged: only reading back
// tells.
TEST_F(HandlerSocketServerTest, ADeadlockUndoesWhatItsBatchAcknowledged) {
  const auto target = CreateTarget({MakeColumn("id", "int"), MakeColumn("v", "int")});
  sql_->Run("INSERT INTO " + Quoted(*target) + " SELECT seq, 0 FROM seq_1_to_2000");
  Client writer = target->Connect(OperationKind::kUpdate);
  // SQL holds row 1 and has changed much, so that it is not the one to be rolled back.
  sql_->Run("BEGIN");
  sql_->Run("UPDATE " + Quoted(*target) + " SET v = 1 WHERE id = 1 OR id > 100");
  const std::vector<Value> values = {Value::Integer(7)};
  auto answers = std::async(std::launch::async, [&] {
    return writer.Run({target->Change(2, values), target->Change(1, values)});
  });
  // Once it waits for row 1, it holds row 2. Asked more often than each tenth of a second, the
  // server would repeat its first answer.
  Sql watcher;
  while (watcher.Select("SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
             .empty()) {
    if (answers.wait_for(std::chrono::milliseconds(150)) == std::future_status::ready) break;
  }
  sql_->Run("UPDATE " + Quoted(*target) + " SET v = 1 WHERE id = 2");
  sql_->Run("COMMIT");
  const std::vector<Done> done = answers.get();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].outcome, Outcome::kOk) << "acknowledged, and undone all the same";
  EXPECT_EQ(done[1].outcome, Outcome::kRejected);
  EXPECT_EQ(done[1].code, "1 149");
  EXPECT_TRUE(done[1].retryable);
  EXPECT_FALSE(done[1].outcome_unknown);
  EXPECT_EQ(sql_->Select("SELECT v FROM " + Quoted(*target) + " WHERE id <= 2"),
            (std::vector<Row>{{"1"}, {"1"}}));
}

// Case C34: somebody holds the write lock for longer than the server waits for it.
TEST_F(HandlerSocketServerTest, AHeldWriteLockRejectsAfterTheServersWait) {
  const int wait = std::stoi(*sql_->Select("SELECT @@handlersocket_wrlock_timeout")[0][0]);
  const auto target = CreateTarget({MakeColumn("id", "int"), MakeColumn("v", "int")});
  Client writer = target->Connect(OperationKind::kInsert);
  const auto insert = [&](int id) {
    const std::vector<Value> row = {Value::Integer(id), Value::Integer(0)};
    return writer.Run(target->Add(row));
  };
  int acknowledged = insert(1).outcome == Outcome::kOk ? 1 : 0;
  EXPECT_EQ(sql_->Select("SELECT GET_LOCK('handlersocket_wr', 10)"), (std::vector<Row>{{"1"}}));
  const Nanos begin = MonotonicNow();
  const Done done = insert(2);
  const Nanos took = MonotonicNow() - begin;
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.code, "1 lock_tables");
  EXPECT_EQ(done.severity, Severity::kNormal);
  EXPECT_FALSE(done.outcome_unknown);
  EXPECT_GE(took, (wait - 1) * kSecond);
  EXPECT_LT(took, (wait + 5) * kSecond);
  sql_->Run("DO RELEASE_LOCK('handlersocket_wr')");
  // The connection goes on.
  for (const int id : {3, 4}) acknowledged += insert(id).outcome == Outcome::kOk ? 1 : 0;
  EXPECT_EQ(acknowledged, 3);
  EXPECT_EQ(sql_->Select("SELECT COUNT(*) FROM " + Quoted(*target)), (std::vector<Row>{{"3"}}));
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
