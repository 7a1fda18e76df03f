// Every logical operation ends in the same class on every back-end, and counts what it should. What
// one cannot do is refused before the run, by a sentence that names the operation.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/contract/drivers/fixture.h"

namespace cavalry::driver_contract {
namespace {

class OperationsTest : public ContractTest {
 protected:
  // A table of numbers and texts with rows 1..count, "row <id>" and id * 10.
  TestTable& Filled(std::int64_t count) {
    TestTable& table = NewTable({{"id", "bigint"}, {"name", "varchar(40)"}, {"n", "int"}});
    table.PlanTheFour();
    Client& client = NewClient(table);
    for (std::int64_t id = 1; id <= count; ++id) {
      const std::string name = "row " + std::to_string(id);
      const std::vector<Value> row = {Value::Integer(id), Value::Text(name),
                                      Value::Integer(id * 10)};
      const Done done = client.Run(table.Insert(row));
      EXPECT_EQ(done.outcome, Outcome::kOk) << done;
    }
    return table;
  }

  // That the driver refuses the table's plans and names this one.
  void ExpectRefused(TestTable& table, std::uint32_t plan) {
    const std::string why = Refusal(table);
    EXPECT_NE(why.find(table.plan(plan).name), std::string::npos) << "'" << why << "'";
  }
};

TEST_P(OperationsTest, TheDriverTellsWhichKindsItKnows) {
  const std::vector<OperationKind>& kinds = driver().operations();
  const auto knows = [&](OperationKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  for (const auto kind : {OperationKind::kRead, OperationKind::kMultiRead, OperationKind::kInsert,
                          OperationKind::kUpdate, OperationKind::kDelete}) {
    EXPECT_TRUE(knows(kind)) << drivers::OperationKindName(kind);
  }
  EXPECT_EQ(knows(OperationKind::kScan), can().scan);
  EXPECT_EQ(knows(OperationKind::kIncrement), can().increment);
  for (const auto kind :
       {OperationKind::kBegin, OperationKind::kCommit, OperationKind::kRollback}) {
    EXPECT_EQ(knows(kind), can().transactions) << drivers::OperationKindName(kind);
  }
}

TEST_P(OperationsTest, ReadsCountRowsAndBytesAndMissWhatIsNotThere) {
  TestTable& table = Filled(3);
  Client& client = NewClient(table);
  const Done found = client.Run(table.Read(2));
  EXPECT_EQ(found.outcome, Outcome::kOk) << found;
  EXPECT_EQ(found.row_count, 1U);
  EXPECT_GE(found.bytes, 5U);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0], (Row{"2", "row 2", "20"}));
  EXPECT_TRUE(found.code.empty() && found.text.empty()) << found;
  for (const std::int64_t absent : {4, 0, -2}) {
    const Done missed = client.Run(table.Read(absent));
    EXPECT_EQ(missed.outcome, Outcome::kMiss) << missed;
    EXPECT_EQ(missed.row_count, 0U);
    EXPECT_TRUE(missed.rows.empty());
    EXPECT_TRUE(missed.code.empty() && missed.text.empty()) << missed;
  }
}

TEST_P(OperationsTest, ReadsGiveTheColumnsAskedForInTheirOrder) {
  TestTable& table = Filled(2);
  table.plan(0).columns = {2, 0};
  Client& client = NewClient(table);
  EXPECT_EQ(client.Run(table.Read(2)).rows.at(0), (Row{"20", "2"}));
  table.plan(0).columns = {1};
  EXPECT_EQ(NewClient(table).Run(table.Read(1)).rows.at(0), (Row{"row 1"}));
}

TEST_P(OperationsTest, MultiReadsCountTheKeysFound) {
  TestTable& table = Filled(5);
  const std::uint32_t many = table.Plan(OperationKind::kMultiRead);
  table.plan(many).batch = 4;
  Client& client = NewClient(table);
  const auto read = [&](std::vector<Value> keys) {
    return client.Run(table.Make(OperationKind::kMultiRead, Key(keys)));
  };
  Done done = read({Value::Integer(5), Value::Integer(77), Value::Integer(1), Value::Integer(3)});
  EXPECT_EQ(done.outcome, Outcome::kOk) << done;
  EXPECT_EQ(done.row_count, 3U);
  std::set<std::string> names;
  for (const Row& row : done.rows) names.insert(row.at(1).value_or(""));
  EXPECT_EQ(names, (std::set<std::string>{"row 1", "row 3", "row 5"}));
  done = read({Value::Integer(77), Value::Integer(78), Value::Integer(79), Value::Integer(80)});
  EXPECT_EQ(done.outcome, Outcome::kMiss) << done;
  EXPECT_EQ(done.row_count, 0U);
}

TEST_P(OperationsTest, InsertsOfARowThatIsThere) {
  TestTable& table = Filled(1);
  Client& client = NewClient(table);
  const std::vector<Value> row = {Value::Integer(1), Value::Text("again"), Value::Integer(7)};
  const Done done = client.Run(table.Insert(row));
  EXPECT_EQ(done.severity, Severity::kNormal) << done;
  EXPECT_FALSE(done.outcome_unknown);
  const Row now = client.Run(table.Read(1)).rows.at(0);
  if (can().rejects_duplicates) {
    EXPECT_EQ(done.outcome, Outcome::kRejected) << done;
    EXPECT_FALSE(done.code.empty());
    EXPECT_EQ(now, (Row{"1", "row 1", "10"}));
  } else {
    EXPECT_EQ(done.outcome, Outcome::kOk) << done;
    EXPECT_EQ(now, (Row{"1", "again", "7"}));
  }
}

TEST_P(OperationsTest, BatchesOfRows) {
  TestTable& table = NewTable({{"id", "bigint"}, {"v", "varchar(10)"}});
  table.PlanTheFour();
  table.plan(1).batch = 3;
  const std::string refused = Refusal(table);
  if (!refused.empty()) {
    // With conditions, rows of several partitions cannot go together.
    EXPECT_TRUE(back_end().kind == "cassandra" && can().rejects_duplicates) << refused;
    return ExpectRefused(table, 1);
  }
  Client& client = NewClient(table);
  const std::vector<Value> rows = {Value::Integer(1), Value::Text("a"),  Value::Integer(2),
                                   Value::Text("b"),  Value::Integer(3), Value::Text("c")};
  const Done done = client.Run(table.Insert(rows));
  EXPECT_EQ(done.outcome, Outcome::kOk) << done;
  EXPECT_EQ(done.row_count, 3U);
  EXPECT_EQ(client.Run(table.Read(3)).rows.at(0), (Row{"3", "c"}));
}

TEST_P(OperationsTest, UpdatesChangeOneRow) {
  TestTable& table = Filled(2);
  Client& client = NewClient(table);
  const std::vector<Value> values = {Value::Text("changed"), Value::Integer(-5)};
  // To what it is already it is no miss either.
  for (int i = 0; i < 2; ++i) {
    const Done done = client.Run(table.Update(2, values));
    EXPECT_EQ(done.outcome, Outcome::kOk) << done;
    EXPECT_EQ(done.row_count, 1U);
  }
  EXPECT_EQ(client.Run(table.Read(2)).rows.at(0), (Row{"2", "changed", "-5"}));
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0), (Row{"1", "row 1", "10"}));
  const Done absent = client.Run(table.Update(3, values));
  if (can().tells_absent_rows) {
    EXPECT_EQ(absent.outcome, Outcome::kMiss) << absent;
    EXPECT_EQ(absent.row_count, 0U);
    EXPECT_EQ(client.Run(table.Read(3)).outcome, Outcome::kMiss);
  } else {
    EXPECT_EQ(absent.outcome, Outcome::kOk) << absent;
    EXPECT_EQ(client.Run(table.Read(3)).rows.at(0), (Row{"3", "changed", "-5"}));
  }
}

TEST_P(OperationsTest, UpdatesOfSomeColumnsLeaveTheOthers) {
  TestTable& table = Filled(1);
  if (driver().replaces_rows()) {
    // The agent gives such a driver all columns.
    EXPECT_EQ(table.plan(2).columns.size(), 2U);
    return;
  }
  table.plan(2).columns = {2};
  Client& client = NewClient(table);
  const std::vector<Value> values = {Value::Integer(123)};
  EXPECT_EQ(client.Run(table.Update(1, values)).outcome, Outcome::kOk);
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0), (Row{"1", "row 1", "123"}));
}

TEST_P(OperationsTest, DeletesRemoveOneRow) {
  TestTable& table = Filled(2);
  Client& client = NewClient(table);
  const Done done = client.Run(table.Delete(1));
  EXPECT_EQ(done.outcome, Outcome::kOk) << done;
  EXPECT_EQ(done.row_count, 1U);
  EXPECT_EQ(client.Run(table.Read(1)).outcome, Outcome::kMiss);
  EXPECT_EQ(client.Run(table.Read(2)).outcome, Outcome::kOk);
  const Done again = client.Run(table.Delete(1));
  EXPECT_EQ(again.outcome, can().tells_absent_rows ? Outcome::kMiss : Outcome::kOk) << again;
  // The key can be used again.
  const std::vector<Value> row = {Value::Integer(1), Value::Text("new"), Value::Integer(0)};
  EXPECT_EQ(client.Run(table.Insert(row)).outcome, Outcome::kOk);
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0), (Row{"1", "new", "0"}));
}

TEST_P(OperationsTest, Scans) {
  TestTable& table = Filled(20);
  const std::uint32_t scan = table.Plan(OperationKind::kScan);
  table.plan(scan).scan.columns = {0};
  table.plan(scan).scan.limit = 5;
  if (!can().scan) return ExpectRefused(table, scan);
  Client& client = NewClient(table);
  const auto from = [&](std::int64_t id) {
    return client.Run(table.Make(OperationKind::kScan, Value::Integer(id)));
  };
  Done done = from(7);
  EXPECT_EQ(done.outcome, Outcome::kOk) << done;
  EXPECT_GE(done.bytes, done.row_count);
  EXPECT_EQ(done.row_count, done.rows.size());
  ASSERT_FALSE(done.rows.empty());
  EXPECT_EQ(done.rows[0].at(1), "row 7");
  std::set<std::string> ids;
  for (const Row& row : done.rows) {
    EXPECT_EQ(row.at(1), "row " + row.at(0).value_or(""));
    ids.insert(row.at(0).value_or(""));
  }
  EXPECT_EQ(ids.size(), done.rows.size()) << "a row twice";
  EXPECT_LE(ids.size(), 5U);
  if (!can().ordered_scan) return;
  EXPECT_EQ(ids, (std::set<std::string>{"7", "8", "9", "10", "11"}));
  EXPECT_EQ(from(19).row_count, 2U);
  done = from(21);
  EXPECT_EQ(done.outcome, Outcome::kMiss) << done;
  EXPECT_EQ(done.row_count, 0U);
}

TEST_P(OperationsTest, Increments) {
  TestTable& table = NewTable({{"id", "bigint"}, {"n", "int"}});
  table.PlanTheFour();
  const std::uint32_t up = table.Plan(OperationKind::kIncrement);
  table.plan(up).amount = 5;
  if (!can().increment) return ExpectRefused(table, up);
  const std::uint32_t down = table.Plan(OperationKind::kIncrement);
  table.plan(down).amount = -3;
  const auto settings = back_end().increment_settings;
  Client& client = NewClient(table, settings != nullptr ? settings() : ServerSettings());
  const std::vector<Value> row = {Value::Integer(1), Value::Integer(98)};
  ASSERT_EQ(client.Run(table.Insert(row)).outcome, Outcome::kOk);
  const auto add = [&](std::uint32_t plan, std::int64_t id) {
    return client.Run({.plan = &table.plan(plan), .key = Value::Integer(id)});
  };
  const Done done = add(up, 1);
  EXPECT_EQ(done.outcome, Outcome::kOk) << done;
  EXPECT_EQ(done.row_count, 1U);
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0), (Row{"1", "103"}));
  EXPECT_EQ(add(down, 1).outcome, Outcome::kOk);
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0), (Row{"1", "100"}));
  EXPECT_EQ(add(up, 2).outcome, Outcome::kMiss);
}

TEST_P(OperationsTest, KeysOfSeveralColumnsAndOfTexts) {
  TestTable& table =
      NewTable({{"v", "varchar(20)"}, {"town", "varchar(20)"}, {"id", "int"}}, {1, 2});
  table.PlanTheFour();
  Client& client = NewClient(table);
  const auto run = [&](OperationKind kind, const std::string& town, std::int64_t id,
                       std::string_view v = {}) {
    const std::vector<Value> key = {Value::Text(town), Value::Integer(id)};
    std::vector<Value> values;
    if (kind == OperationKind::kInsert) values = {Value::Text(v), key[0], key[1]};
    if (kind == OperationKind::kUpdate) values = {Value::Text(v)};
    return client.Run(table.Make(kind, Key(key), values));
  };
  ASSERT_EQ(run(OperationKind::kInsert, "Bern", 1, "one").outcome, Outcome::kOk);
  ASSERT_EQ(run(OperationKind::kInsert, "Bern", 12, "two").outcome, Outcome::kOk);
  ASSERT_EQ(run(OperationKind::kInsert, "Bern1", 2, "three").outcome, Outcome::kOk);
  EXPECT_EQ(run(OperationKind::kRead, "Bern", 12).rows.at(0), (Row{"two", "Bern", "12"}));
  EXPECT_EQ(run(OperationKind::kRead, "Bern1", 2).rows.at(0), (Row{"three", "Bern1", "2"}));
  EXPECT_EQ(run(OperationKind::kRead, "Bern", 2).outcome, Outcome::kMiss);
  EXPECT_EQ(run(OperationKind::kUpdate, "Bern", 1, "changed").outcome, Outcome::kOk);
  EXPECT_EQ(run(OperationKind::kRead, "Bern", 1).rows.at(0).at(0), "changed");
  EXPECT_EQ(run(OperationKind::kRead, "Bern", 12).rows.at(0).at(0), "two");
  EXPECT_EQ(run(OperationKind::kDelete, "Bern", 1).outcome, Outcome::kOk);
  EXPECT_EQ(run(OperationKind::kRead, "Bern", 1).outcome, Outcome::kMiss);
  EXPECT_EQ(run(OperationKind::kDelete, "Bern", 12).outcome, Outcome::kOk);
  EXPECT_EQ(run(OperationKind::kRead, "Bern1", 2).outcome, Outcome::kOk);
  EXPECT_EQ(run(OperationKind::kDelete, "Bern1", 2).outcome, Outcome::kOk);
}

TEST_P(OperationsTest, Transactions) {
  TestTable& table = Filled(1);
  const std::uint32_t begin = table.Plan(OperationKind::kBegin);
  if (!can().transactions) return ExpectRefused(table, begin);
  table.Plan(OperationKind::kCommit);
  table.Plan(OperationKind::kRollback);
  Client& client = NewClient(table);
  Client& other = NewClient(table);
  const std::vector<Value> values = {Value::Text("changed"), Value::Integer(0)};
  const auto change_and = [&](OperationKind end) {
    EXPECT_EQ(client.Run(table.Make(OperationKind::kBegin)).outcome, Outcome::kOk);
    EXPECT_EQ(client.Run(table.Update(1, values)).outcome, Outcome::kOk);
    EXPECT_EQ(other.Run(table.Read(1)).rows.at(0).at(1), "row 1");
    EXPECT_EQ(client.Run(table.Make(end)).outcome, Outcome::kOk);
  };
  change_and(OperationKind::kRollback);
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0).at(1), "row 1");
  change_and(OperationKind::kCommit);
  EXPECT_EQ(other.Run(table.Read(1)).rows.at(0).at(1), "changed");
}

TEST_P(OperationsTest, ChangesThatGiveTheRowBackAsItWas) {
  TestTable& table = Filled(1);
  table.plan(2).returning = true;
  if (!can().returning) return ExpectRefused(table, 2);
  Client& client = NewClient(table);
  const std::vector<Value> values = {Value::Text("changed"), Value::Integer(0)};
  const Done done = client.Run(table.Update(1, values));
  EXPECT_EQ(done.outcome, Outcome::kOk) << done;
  EXPECT_EQ(done.rows.at(0), (Row{"row 1", "10"}));
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0).at(1), "changed");
}

TEST_P(OperationsTest, ValuesThatTheServerWorksOut) {
  TestTable& table = Filled(1);
  table.plan(2).server_values = {"concat('a', 'b')", ""};
  if (!can().server_values) return ExpectRefused(table, 2);
  Client& client = NewClient(table);
  const std::vector<Value> values = {Value::Null(), Value::Integer(3)};
  EXPECT_EQ(client.Run(table.Update(1, values)).outcome, Outcome::kOk);
  EXPECT_EQ(client.Run(table.Read(1)).rows.at(0), (Row{"1", "ab", "3"}));
}

TEST_P(OperationsTest, NativeStatements) {
  TestTable& table = Filled(1);
  const std::uint32_t native = table.Plan(OperationKind::kNative);
  table.plan(native).statement = back_end().native_statement;
  if (!can().native) {
    table.plan(native).statement = "get key";
    return ExpectRefused(table, native);
  }
  if (back_end().native_statement.empty()) table.plan(native).statement = "get no_such_key_here";
  Client& client = NewClient(table);
  const Done done = client.Run(table.Make(OperationKind::kNative));
  EXPECT_EQ(done.severity, Severity::kNormal) << done;
  if (back_end().native_statement.empty()) {
    EXPECT_EQ(done.outcome, Outcome::kMiss) << done;
  } else {
    EXPECT_EQ(done.outcome, Outcome::kOk) << done;
    EXPECT_EQ(done.row_count, 1U);
  }
}

TEST_P(OperationsTest, ManyInFlightEachGetsItsOwnAnswer) {
  constexpr std::int64_t kRows = 500;
  TestTable& table = NewTable({{"id", "bigint"}, {"v", "varchar(200)"}});
  table.PlanTheFour();
  Client& client = NewClient(table);
  std::vector<std::string> texts;
  std::vector<std::vector<Value>> rows;
  for (std::int64_t id = 0; id < kRows; ++id) {
    texts.push_back(std::string(static_cast<std::size_t>(id) % 190, 'v') + std::to_string(id));
  }
  std::vector<Operation> inserts, reads;
  for (std::int64_t id = 0; id < kRows; ++id) {
    rows.push_back({Value::Integer(id), Value::Text(texts[static_cast<std::size_t>(id)])});
  }
  for (std::int64_t id = 0; id < kRows; ++id) {
    inserts.push_back(table.Insert(rows[static_cast<std::size_t>(id)]));
    // Every other one is not there.
    reads.push_back(table.Read(id));
    reads.push_back(table.Read(kRows + id));
  }
  for (const Done& done : client.RunAll(inserts)) ASSERT_EQ(done.outcome, Outcome::kOk) << done;
  const std::vector<Done> done = client.RunAll(reads);
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (i % 2 != 0) {
      ASSERT_EQ(done[i].outcome, Outcome::kMiss) << done[i];
      continue;
    }
    ASSERT_EQ(done[i].outcome, Outcome::kOk) << done[i];
    ASSERT_EQ(done[i].rows.at(0), (Row{std::to_string(i / 2), texts[i / 2]}));
  }
}

CAVALRY_CONTRACT(OperationsTest);

}  // namespace
}  // namespace cavalry::driver_contract
