// Every form of request against a real MariaDB, its rows looked at over SQL.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/integration/handlersocket_fixture.h"

namespace cavalry::drivers::handlersocket {
namespace {

std::string Quoted(const Target& target) { return "`" + target.table().name + "`"; }

// A table of order lines, (id, line) its key, by_name and by_code its further indexes.
class HandlerSocketFormsTest : public HandlerSocketServerTest {
 protected:
  void SetUp() override {
    HandlerSocketServerTest::SetUp();
    if (IsSkipped()) return;
    target_ = CreateTarget(
        "(id INT, line SMALLINT, name VARCHAR(20) NOT NULL, qty INT NULL, code INT NOT NULL, "
        "PRIMARY KEY (id, line), KEY by_name (name, qty), UNIQUE KEY by_code (code)) ENGINE=InnoDB "
        "CHARSET=utf8mb4",
        {MakeColumn("id", "int"), MakeColumn("line", "smallint"), MakeColumn("name", "varchar(20)"),
         MakeColumn("qty", "int", true), MakeColumn("code", "int")});
    target_->table().key_columns = {0, 1};
    target_->table().indexes = {{.name = "by_name", .columns = {2, 3}, .unique = false},
                                {.name = "by_code", .columns = {4}, .unique = true}};
    target_->plans().clear();
    sql_->Run("INSERT INTO " + Quoted(*target_) +
              " VALUES (1,1,'bolt',5,101), (1,2,'nut',NULL,102), (2,1,'nut',7,103), "
              "(2,2,'nut',9,104), (3,1,'screw',0,105)");
  }

  OperationPlan& AddScan(Comparison comparison, std::vector<std::uint32_t> from) {
    OperationPlan& plan = target_->AddPlan(OperationKind::kScan, {0, 1});
    plan.scan.columns = std::move(from);
    plan.scan.comparison = comparison;
    return plan;
  }

  // What the operation, the only one, comes to.
  Done Run(const std::vector<Value>& key, const std::vector<Value>& values = {}) {
    target_->factory();
    Client client = target_->Connect(target_->plans()[0].kind);
    EXPECT_EQ(client.state(), ConnectionState::kReady) << client.error().text;
    Operation operation = target_->Make(target_->plans()[0]);
    operation.key = Key(std::span<const Value>(key));
    operation.values = values;
    return client.Run(operation);
  }

  std::vector<Row> Select(const std::string& what) {
    return sql_->Select(fmt::format(fmt::runtime(what), Quoted(*target_)));
  }

  std::unique_ptr<Target> target_;
};

TEST_F(HandlerSocketFormsTest, ReadsByAKeyOfSeveralColumns) {
  target_->AddPlan(OperationKind::kRead, {2, 3});
  EXPECT_EQ(Run({Value::Integer(1), Value::Integer(2)}).visited,
            (std::vector<Row>{{"nut", std::nullopt}}));
  EXPECT_EQ(Run({Value::Integer(3), Value::Integer(2)}).outcome, Outcome::kMiss);
}

TEST_F(HandlerSocketFormsTest, ReadsSeveralKeysOfSeveralColumns) {
  target_->AddPlan(OperationKind::kMultiRead, {4}).batch = 3;
  const Done done = Run({Value::Integer(1), Value::Integer(1), Value::Integer(9), Value::Integer(9),
                         Value::Integer(3), Value::Integer(1)});
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 2U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"101"}, {"105"}}));
}

TEST_F(HandlerSocketFormsTest, ScansThePrimaryKeyBothWays) {
  const std::pair<Comparison, std::vector<Row>> cases[] = {
      {Comparison::kEqual, {{"2", "1"}, {"2", "2"}}},
      {Comparison::kGreater, {{"3", "1"}}},
      {Comparison::kGreaterEqual, {{"2", "1"}, {"2", "2"}, {"3", "1"}}},
      {Comparison::kLess, {{"1", "2"}, {"1", "1"}}},
      {Comparison::kLessEqual, {{"2", "2"}, {"2", "1"}, {"1", "2"}, {"1", "1"}}}};
  for (const auto& [comparison, rows] : cases) {
    target_->plans().clear();
    AddScan(comparison, {0});
    EXPECT_EQ(Run({Value::Integer(2)}).visited, rows) << static_cast<int>(comparison);
  }
  target_->plans().clear();
  AddScan(Comparison::kGreaterEqual, {0, 1});
  EXPECT_EQ(Run({Value::Integer(2), Value::Integer(2)}).visited,
            (std::vector<Row>{{"2", "2"}, {"3", "1"}}));
}

TEST_F(HandlerSocketFormsTest, LimitAndOffsetCountRows) {
  OperationPlan& plan = AddScan(Comparison::kGreaterEqual, {0});
  plan.scan.limit = 2;
  plan.scan.offset = 1;
  EXPECT_EQ(Run({Value::Integer(1)}).visited, (std::vector<Row>{{"1", "2"}, {"2", "1"}}));
  plan.scan.limit = 1'000'000;
  EXPECT_EQ(Run({Value::Integer(1)}).rows, 4U);
  EXPECT_EQ(Run({Value::Integer(4)}).outcome, Outcome::kMiss);
}

TEST_F(HandlerSocketFormsTest, ScansAnIndexByItsName) {
  AddScan(Comparison::kEqual, {2}).scan.index = "by_name";
  EXPECT_EQ(Run({Value::Text("nut")}).visited,
            (std::vector<Row>{{"1", "2"}, {"2", "1"}, {"2", "2"}}));
  // As the column's collation has it.
  EXPECT_EQ(Run({Value::Text("NUT ")}).rows, 3U);
  target_->plans()[0].scan.columns = {2, 3};
  EXPECT_EQ(Run({Value::Text("nut"), Value::Integer(9)}).visited, (std::vector<Row>{{"2", "2"}}));
  EXPECT_EQ(Run({Value::Text("nut"), Value::Null()}).visited, (std::vector<Row>{{"1", "2"}}));
  target_->plans()[0].scan.index = "by_nobody";
  target_->factory();
  const Client client = target_->Connect(OperationKind::kScan);
  EXPECT_EQ(client.state(), ConnectionState::kFailed);
  EXPECT_NE(client.error().text.find("has no index by_nobody"), std::string::npos)
      << client.error().text;
}

TEST_F(HandlerSocketFormsTest, FiltersSkipRowsOrEndTheScan) {
  OperationPlan& plan = AddScan(Comparison::kGreaterEqual, {0});
  const auto keys_with = [&](std::vector<Filter> filters) {
    plan.scan.filters = std::move(filters);
    std::string keys;
    for (const Row& row : Run({Value::Integer(0)}).visited) keys += *row[0] + *row[1] + " ";
    return keys;
  };
  EXPECT_EQ(keys_with({{.column = 2, .value = "nut"}}), "12 21 22 ");
  EXPECT_EQ(keys_with({{.column = 2, .comparison = Comparison::kNotEqual, .value = "nut"}}),
            "11 31 ");
  EXPECT_EQ(keys_with({{.column = 3, .comparison = Comparison::kGreater, .value = "5"}}), "21 22 ");
  EXPECT_EQ(keys_with({{.column = 3, .comparison = Comparison::kGreaterEqual, .value = "5"}}),
            "11 21 22 ");
  EXPECT_EQ(keys_with({{.column = 3, .is_null = true, .value = ""}}), "12 ");
  EXPECT_EQ(
      keys_with({{.column = 3, .comparison = Comparison::kNotEqual, .is_null = true, .value = ""}}),
      "11 21 22 31 ");
  // NULL is less than any value: what Warnings tells.
  EXPECT_EQ(keys_with({{.column = 3, .comparison = Comparison::kLess, .value = "5"}}), "12 31 ");
  EXPECT_EQ(keys_with({{.column = 2, .value = "nut"}, {.column = 3, .value = "9"}}), "22 ");
  EXPECT_EQ(keys_with({{.column = 2, .value = "nut", .ends_scan = true}}), "");
  EXPECT_EQ(
      keys_with(
          {{.column = 2, .comparison = Comparison::kLess, .value = "screw", .ends_scan = true}}),
      "11 12 21 22 ");
  EXPECT_EQ(
      keys_with(
          {{.column = 0, .comparison = Comparison::kLessEqual, .value = "2", .ends_scan = true},
           {.column = 1, .value = "2"}}),
      "12 22 ");
}

TEST_F(HandlerSocketFormsTest, ABatchOfRowsIsOneOperation) {
  target_->AddPlan(OperationKind::kInsert, {0, 1, 2, 3, 4}).batch = 3;
  std::vector<Value> rows;
  for (int line = 1; line <= 3; ++line) {
    for (const Value& value : {Value::Integer(10), Value::Integer(line), Value::Text("rivet"),
                               Value::Null(), Value::Integer(200 + line)}) {
      rows.push_back(value);
    }
  }
  Done done = Run({}, rows);
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 3U);
  EXPECT_EQ(Select("SELECT line, code FROM {} WHERE id = 10 ORDER BY line"),
            (std::vector<Row>{{"1", "201"}, {"2", "202"}, {"3", "203"}}));
  // The second row is a duplicate: the others are done all the same.
  for (int line = 0; line < 3; ++line) {
    rows[static_cast<std::size_t>(line) * 5] = Value::Integer(line == 1 ? 10 : 11);
    rows[static_cast<std::size_t>(line) * 5 + 4] = Value::Integer(300 + line);
  }
  done = Run({}, rows);
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.code, "1 121");
  EXPECT_TRUE(done.outcome_unknown);
  EXPECT_EQ(Select("SELECT line FROM {} WHERE id = 11 ORDER BY line"),
            (std::vector<Row>{{"1"}, {"3"}}));
}

TEST_F(HandlerSocketFormsTest, AnUpdateReturnsTheRowAsItWas) {
  target_->AddPlan(OperationKind::kUpdate, {2, 3}).returning = true;
  const std::vector<Value> key = {Value::Integer(1), Value::Integer(2)};
  const Done done = Run(key, {Value::Text("washer"), Value::Integer(1)});
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"nut", std::nullopt}}));
  EXPECT_EQ(Select("SELECT name, qty FROM {} WHERE id = 1 AND line = 2"),
            (std::vector<Row>{{"washer", "1"}}));
  EXPECT_EQ(Run({Value::Integer(1), Value::Integer(9)}, {Value::Text("washer"), Value::Integer(1)})
                .outcome,
            Outcome::kMiss);
}

TEST_F(HandlerSocketFormsTest, ADeleteReturnsTheRowAsItWas) {
  target_->AddPlan(OperationKind::kDelete, {}).returning = true;
  const std::vector<Value> key = {Value::Integer(3), Value::Integer(1)};
  const Done done = Run(key);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"3", "1", "screw", "0", "105"}}));
  EXPECT_EQ(Run(key).outcome, Outcome::kMiss);
  EXPECT_EQ(Select("SELECT COUNT(*) FROM {}"), (std::vector<Row>{{"4"}}));
}

TEST_F(HandlerSocketFormsTest, IncrementsStopAtZeroAndSkipNull) {
  OperationPlan& plan = target_->AddPlan(OperationKind::kIncrement, {3});
  const std::vector<Value> bolt = {Value::Integer(1), Value::Integer(1)};
  const std::vector<Value> none = {Value::Integer(1), Value::Integer(2)};
  const auto qty = [&](int line) {
    return Select(fmt::format("SELECT qty FROM {{}} WHERE id = 1 AND line = {}", line))[0][0];
  };
  plan.amount = 4;
  EXPECT_EQ(Run(bolt).rows, 1U);
  EXPECT_EQ(qty(1), "9");
  plan.amount = -9;
  EXPECT_EQ(Run(bolt).outcome, Outcome::kOk);
  EXPECT_EQ(qty(1), "0");
  plan.amount = 3;
  plan.returning = true;
  Done done = Run(bolt);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"0"}}));
  EXPECT_EQ(qty(1), "3");
  // Crossing zero leaves the row: a miss, but for one that returns it.
  plan.amount = -4;
  done = Run(bolt);
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"3"}}));
  plan.returning = false;
  EXPECT_EQ(Run(bolt).outcome, Outcome::kMiss);
  EXPECT_EQ(qty(1), "3");
  // A NULL stays one, and the row counts.
  EXPECT_EQ(Run(none).outcome, Outcome::kOk);
  EXPECT_EQ(qty(2), std::nullopt);
  // Beyond the range it stops without an error: what Warnings tells.
  plan.amount = 3'000'000'000;
  EXPECT_EQ(Run(bolt).outcome, Outcome::kOk);
  EXPECT_EQ(qty(1), "2147483647");
  EXPECT_EQ(Run({Value::Integer(9), Value::Integer(9)}).outcome, Outcome::kMiss);
}

// Case C32: the server's numbers are in the answers, each once.
TEST_F(HandlerSocketServerTest, InsertsWithoutANumberTellTheOnesTheyGot) {
  const auto target =
      CreateTarget("(id BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20) NOT NULL) ENGINE=InnoDB",
                   {MakeColumn("id", "bigint"), MakeColumn("v", "varchar(20)")});
  target->table().columns[0].auto_increment = true;
  target->plans().clear();
  target->AddPlan(OperationKind::kInsert, {1});
  target->AddPlan(OperationKind::kInsert, {0, 1});
  const CodecFactory& factory = target->factory();
  constexpr int kClients = 4;
  constexpr int kDepth = 16;
  const std::vector<Value> value = {Value::Text("x")};
  std::set<std::string> told;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(factory, 0));
  }
  Operation insert = target->Make(target->plans()[0]);
  insert.values = value;
  for (int left = 1000; left > 0;) {
    for (const auto& client : clients) {
      const int count = std::min(left, kDepth);
      left -= count;
      const auto done =
          client->Run(std::vector<Operation>(static_cast<std::size_t>(count), insert));
      for (const Done& one : done) {
        EXPECT_EQ(one.outcome, Outcome::kOk);
        told.insert(std::to_string(one.insert_id));
      }
    }
  }
  EXPECT_EQ(told.size(), 1000U);
  std::set<std::string> stored;
  for (const Row& row : sql_->Select("SELECT id FROM " + Quoted(*target))) stored.insert(*row[0]);
  EXPECT_EQ(told, stored);
  // A number that was given is none of the server's.
  const std::vector<Value> row = {Value::Integer(5000), Value::Text("x")};
  Operation numbered = target->Make(target->plans()[1]);
  numbered.values = row;
  EXPECT_EQ(clients[0]->Run(numbered).insert_id, 0U);
}

// Case C54.
TEST_F(HandlerSocketServerTest, AnEmptyTableGivesMissesOnly) {
  const auto target = CreateTarget({MakeColumn("id", "int"), MakeColumn("name", "varchar(25)")});
  Client reader = target->Connect(OperationKind::kRead);
  Client writer = target->Connect(OperationKind::kUpdate);
  const std::vector<Value> values = {Value::Text("x")};
  int misses = 0;
  for (int key = 1; key <= 100; ++key) {
    misses += reader.Run(target->Find(key)).outcome == Outcome::kMiss ? 1 : 0;
    misses += writer.Run(target->Change(key, values)).outcome == Outcome::kMiss ? 1 : 0;
    misses += writer.Run(target->Drop(key)).outcome == Outcome::kMiss ? 1 : 0;
  }
  EXPECT_EQ(misses, 300);
}

// A megabyte of requests whose answers are many times as large.
TEST_F(HandlerSocketServerTest, LargeAnswersArriveWhole) {
  const auto target = CreateTarget({MakeColumn("id", "int"), MakeColumn("v", "mediumtext")});
  const std::string text(1'000'000, 'x');
  OperationPlan& scan = target->AddPlan(OperationKind::kScan, {0, 1});
  scan.scan.columns = {0};
  scan.scan.limit = 1000;
  Client writer = target->Connect(OperationKind::kInsert);
  for (int id = 1; id <= 20; ++id) {
    const std::vector<Value> row = {Value::Integer(id), Value::Text(text)};
    EXPECT_EQ(writer.Run(target->Add(row)).outcome, Outcome::kOk);
  }
  Client reader = target->Connect(OperationKind::kScan);
  Operation all = target->Make(target->plans().back());
  all.key = Value::Integer(1);
  const std::vector<Done> done = reader.Run({all, target->Find(3), all});
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(done[0].rows, 20U);
  EXPECT_EQ(done[0].visited[19][1], text);
  EXPECT_EQ(done[1].rows, 1U);
  EXPECT_EQ(done[2].rows, 20U);
}

// Each type is stored by HandlerSocket as SQL stores it, and comes back as SQL prints it.
TEST_F(HandlerSocketServerTest, FurtherTypesAreStoredAsSqlStoresThem) {
  const auto target = CreateTarget(
      {MakeColumn("id", "int"), MakeColumn("m", "mediumint"),
       MakeColumn("mu", "mediumint unsigned"), MakeColumn("b", "boolean"), MakeColumn("f", "float"),
       MakeColumn("d", "double"), MakeColumn("bi", "binary(4)"), MakeColumn("bl", "blob"),
       MakeColumn("ti", "time"), MakeColumn("ts", "timestamp"), MakeColumn("y", "year"),
       MakeColumn("j", "json"), MakeColumn("mt", "mediumtext"),
       MakeColumn("lb", "longblob", true)});
  const std::string odd("\x00\x01\t\n\xff", 5);
  const std::vector<std::vector<Value>> rows = {
      {Value::Integer(1), Value::Integer(-8'388'608), Value::Integer(16'777'215), Value::Integer(1),
       Value::Text("-1.5"), Value::Text("1e-5"), Value::Binary("ab"), Value::Binary(odd),
       Value::Text("-838:59:59"), Value::Text("2024-02-29 01:02:03"), Value::Unsigned(2155),
       Value::Text("{\"a\": [1, \"\\u00e4\"]}"), Value::Text("äöü"), Value::Null()},
      {Value::Integer(2), Value::Text("8388607"), Value::Text("0"), Value::Integer(0),
       Value::Text("16777216"), Value::Text("-1234567.125"), Value::Binary(""), Value::Binary(""),
       Value::Text("00:00:00"), Value::Text("1970-01-02 00:00:00"), Value::Text("0000"),
       Value::Text("null"), Value::Text(""), Value::Binary(odd)}};
  Client writer = target->Connect(OperationKind::kInsert);
  for (const auto& row : rows) {
    EXPECT_EQ(writer.Run(target->Add(row)).outcome, Outcome::kOk);
  }
  const std::string table = Quoted(*target);
  sql_->Run("CREATE TEMPORARY TABLE as_sql LIKE " + table);
  sql_->Run(
      "INSERT INTO as_sql VALUES (1, -8388608, 16777215, 1, -1.5, 1e-5, 'ab', x'0001090AFF', "
      "'-838:59:59', '2024-02-29 01:02:03', 2155, '{\"a\": [1, \"\\\\u00e4\"]}', 'äöü', NULL), "
      "(2, 8388607, 0, 0, 16777216, -1234567.125, '', '', '00:00:00', '1970-01-02 00:00:00', "
      "'0000', 'null', '', x'0001090AFF')");
  const std::vector<Row> expected = sql_->Select("SELECT * FROM as_sql ORDER BY id");
  EXPECT_EQ(sql_->Select("SELECT * FROM " + table + " ORDER BY id"), expected);
  Client reader = target->Connect(OperationKind::kRead);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(reader.Run(target->Find(static_cast<std::int64_t>(i) + 1)).visited,
              std::vector<Row>{expected[i]});
  }
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
