// The HandlerSocket driver against a real MariaDB, its writes looked at over SQL.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fakes/stub_server.h"
#include "tests/integration/handlersocket_fixture.h"

namespace cavalry::drivers::handlersocket {
namespace {

using std::string_literals::operator""s;

std::vector<Column> NamesColumns() {
  return {MakeColumn("id", "int"), MakeColumn("name", "varchar(25)"),
          MakeColumn("note", "varchar(40)", true)};
}

std::string Quoted(const Target& target) { return "`" + target.table().name + "`"; }

TEST_F(HandlerSocketServerTest, DoesEveryOperation) {
  const auto target = CreateTarget(NamesColumns());
  Client reader = target->Connect(OperationKind::kRead);
  Client writer = target->Connect(OperationKind::kInsert);
  ASSERT_EQ(reader.state(), ConnectionState::kReady) << reader.error().text;
  ASSERT_EQ(writer.state(), ConnectionState::kReady) << writer.error().text;

  EXPECT_EQ(reader.Run(target->Find(7)).outcome, Outcome::kMiss);
  const std::vector<Value> row = {Value::Integer(7), Value::Text("seven"), Value::Null()};
  Done done = writer.Run(target->Add(row));
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  // Acknowledged on the write port is visible on the read port at once.
  done = reader.Run(target->Find(7));
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"7", "seven", std::nullopt}}));

  const std::vector<Value> changed = {Value::Text("sept"), Value::Text("sieben äöü")};
  EXPECT_EQ(writer.Run(target->Change(7, changed)).rows, 1U);
  // The same values again still count as a change.
  EXPECT_EQ(writer.Run(target->Change(7, changed)).outcome, Outcome::kOk);
  EXPECT_EQ(writer.Run(target->Change(8, changed)).outcome, Outcome::kMiss);
  const std::vector<Row> expected = {{"7", "sept", "sieben äöü"}};
  EXPECT_EQ(reader.Run(target->Find(7)).visited, expected);
  EXPECT_EQ(sql_->Select("SELECT * FROM " + Quoted(*target)), expected);

  EXPECT_EQ(writer.Run(target->Drop(7)).outcome, Outcome::kOk);
  EXPECT_EQ(writer.Run(target->Drop(7)).outcome, Outcome::kMiss);
  EXPECT_EQ(reader.Run(target->Find(7)).outcome, Outcome::kMiss);
  EXPECT_TRUE(sql_->Select("SELECT * FROM " + Quoted(*target)).empty());
}

TEST_F(HandlerSocketServerTest, PipelinesInOrder) {
  const auto target = CreateTarget({MakeColumn("id", "int"), MakeColumn("v", "text")});
  constexpr int kRows = 300;
  std::vector<std::string> texts;
  for (int i = 0; i < kRows; ++i)
    texts.push_back(std::string(static_cast<std::size_t>(i * 7), 'x'));
  std::vector<std::vector<Value>> rows;
  std::vector<Operation> adds;
  std::vector<Operation> finds;
  for (int i = 0; i < kRows; ++i) {
    rows.push_back({Value::Integer(i), Value::Text(texts[static_cast<std::size_t>(i)])});
  }
  for (int i = 0; i < kRows; ++i) {
    adds.push_back(target->Add(rows[static_cast<std::size_t>(i)]));
    finds.push_back(target->Find(kRows - i));  // the first one is not there
  }
  Client writer = target->Connect(OperationKind::kInsert);
  Client reader = target->Connect(OperationKind::kRead);
  const std::vector<Done> added = writer.Run(adds);
  ASSERT_EQ(added.size(), adds.size());
  for (const Done& done : added) EXPECT_EQ(done.outcome, Outcome::kOk) << done.text;
  const std::vector<Done> found = reader.Run(finds);
  ASSERT_EQ(found.size(), finds.size());
  EXPECT_EQ(found[0].outcome, Outcome::kMiss);
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_EQ(found[i].ticket, i);
    ASSERT_EQ(found[i].visited.size(), 1U);
    EXPECT_EQ(found[i].visited[0][0], std::to_string(kRows - static_cast<int>(i)));
    EXPECT_EQ(found[i].visited[0][1], texts[kRows - i]);
  }
}

// Case C27: writes on the read port stop with a text that names the option.
TEST_F(HandlerSocketServerTest, AWriteOnTheReadPortIsFatalAndSaysWhy) {
  const auto target = CreateTarget(NamesColumns());
  target->Set("write_port", std::getenv("CAVALRY_HANDLERSOCKET_PORT"));
  target->Set("write_secret", std::getenv("CAVALRY_HANDLERSOCKET_SECRET"));
  Client writer = target->Connect(OperationKind::kInsert);
  ASSERT_EQ(writer.state(), ConnectionState::kReady) << writer.error().text;
  const std::vector<Value> row = {Value::Integer(1), Value::Text("a"), Value::Null()};
  const std::vector<Value> changed = {Value::Text("b"), Value::Null()};
  for (const Operation& operation :
       {target->Add(row), target->Change(1, changed), target->Drop(1)}) {
    const Done done = writer.Run(operation);
    EXPECT_EQ(done.outcome, Outcome::kRejected);
    EXPECT_EQ(done.severity, Severity::kFatal);
    EXPECT_FALSE(done.outcome_unknown);
    EXPECT_EQ(done.code, "2 readonly");
    EXPECT_NE(done.text.find("write_port"), std::string::npos) << done.text;
  }
  EXPECT_TRUE(sql_->Select("SELECT * FROM " + Quoted(*target)).empty());
}

// Case C28: NULL, the empty text and every byte arrive as they are and come back so.
TEST_F(HandlerSocketServerTest, NullAndOddBytesAreKept) {
  const auto target =
      CreateTarget({MakeColumn("id", "int"), MakeColumn("v", "varbinary(300)", true)});
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::vector<std::optional<std::string>> inputs = {
      std::nullopt,    "",     "\0"s, "\x01", "\n", "\t",       "\r", all, "\x01\x40",
      "a\0b\x02\x0f"s, "\r\n", "Q",   "/",    " ",  "trailing "};
  std::vector<std::vector<Value>> rows;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    rows.push_back({Value::Integer(static_cast<std::int64_t>(i)),
                    inputs[i] ? Value::Binary(*inputs[i]) : Value::Null()});
  }
  const auto expect_stored = [&](std::size_t id, const std::optional<std::string>& value) {
    std::string hex;
    for (const char c : value.value_or("")) {
      hex += fmt::format("{:02X}", static_cast<unsigned char>(c));
    }
    const auto stored = sql_->Select(
        fmt::format("SELECT HEX(v), v IS NULL FROM {} WHERE id = {}", Quoted(*target), id));
    const std::optional<std::string> text = value ? std::optional(hex) : std::nullopt;
    EXPECT_EQ(stored, (std::vector<Row>{{text, value ? "0" : "1"}})) << id;
  };

  Client writer = target->Connect(OperationKind::kInsert);
  Client reader = target->Connect(OperationKind::kRead);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(writer.Run(target->Add(rows[i])).outcome, Outcome::kOk);
    const std::string id = std::to_string(i);
    EXPECT_EQ(reader.Run(target->Find(static_cast<std::int64_t>(i))).visited,
              (std::vector<Row>{{id, inputs[i]}}));
    expect_stored(i, inputs[i]);
  }
  // To NULL and back, and to each of the others.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t next = (i + 1) % inputs.size();
    for (const auto& input : {std::optional<std::string>(), inputs[next]}) {
      const std::vector<Value> values = {input ? Value::Binary(*input) : Value::Null()};
      EXPECT_EQ(writer.Run(target->Change(static_cast<std::int64_t>(i), values)).rows, 1U);
      expect_stored(i, input);
    }
  }
}

TEST_F(HandlerSocketServerTest, EveryTypeIsStoredAsSqlStoresIt) {
  const std::vector<Column> columns = {MakeColumn("id", "bigint unsigned"),
                                       MakeColumn("t", "tinyint"),
                                       MakeColumn("b", "bigint"),
                                       MakeColumn("d", "decimal(15,2)"),
                                       MakeColumn("c", "char(5)"),
                                       MakeColumn("v", "varchar(5)"),
                                       MakeColumn("x", "text"),
                                       MakeColumn("day", "date"),
                                       MakeColumn("at", "datetime")};
  const auto target = CreateTarget(columns);
  const std::string longest(65'535, '\n');  // each byte escaped
  const std::vector<std::vector<Value>> rows = {
      {Value::Unsigned(~std::uint64_t{0}), Value::Integer(-128),
       Value::Integer(std::numeric_limits<std::int64_t>::min()), Value::Text("-9999999999999.99"),
       Value::Text("äöüßé"), Value::Text("\xf0\x9f\x90\x8e\xf0\x9f\x90\x8e"), Value::Text(longest),
       Value::Text("2024-02-29"), Value::Text("2024-12-31 23:59:59")},
      {Value::Unsigned(1), Value::Integer(127),
       Value::Integer(std::numeric_limits<std::int64_t>::max()), Value::Text("0"), Value::Text(""),
       Value::Text("a b  "), Value::Text(""), Value::Text("0001-01-01"),
       Value::Text("9999-12-31 00:00:00")}};
  const std::vector<Row> expected = {
      {"1", "127", "9223372036854775807", "0.00", "", "a b  ", "", "0001-01-01",
       "9999-12-31 00:00:00"},
      {"18446744073709551615", "-128", "-9223372036854775808", "-9999999999999.99", "äöüßé",
       "\xf0\x9f\x90\x8e\xf0\x9f\x90\x8e", longest, "2024-02-29", "2024-12-31 23:59:59"}};
  Client writer = target->Connect(OperationKind::kInsert);
  Client reader = target->Connect(OperationKind::kRead);
  for (const std::vector<Value>& row : rows) {
    EXPECT_EQ(writer.Run(target->Add(row)).outcome, Outcome::kOk);
  }
  EXPECT_EQ(sql_->Select("SELECT * FROM " + Quoted(*target) + " ORDER BY id"), expected);
  EXPECT_EQ(reader.Run(target->Find(1)).visited, std::vector<Row>{expected[0]});
  Operation last = target->Find(0);
  last.key = Value::Unsigned(~std::uint64_t{0});
  EXPECT_EQ(reader.Run(last).visited, std::vector<Row>{expected[1]});
}

TEST_F(HandlerSocketServerTest, ADuplicateKeyIsRejectedAndTheConnectionGoesOn) {
  const auto target = CreateTarget(NamesColumns());
  Client writer = target->Connect(OperationKind::kInsert);
  const std::vector<Value> first = {Value::Integer(1), Value::Text("first"), Value::Null()};
  const std::vector<Value> second = {Value::Integer(1), Value::Text("second"), Value::Null()};
  const std::vector<Value> third = {Value::Integer(2), Value::Text("third"), Value::Null()};
  const std::vector<Done> done =
      writer.Run({target->Add(first), target->Add(second), target->Add(third)});
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(done[0].outcome, Outcome::kOk);
  EXPECT_EQ(done[1].outcome, Outcome::kRejected);
  EXPECT_EQ(done[1].severity, Severity::kNormal);
  EXPECT_FALSE(done[1].outcome_unknown);
  EXPECT_EQ(done[1].code, "1 121");
  EXPECT_EQ(done[2].outcome, Outcome::kOk);
  EXPECT_EQ(sql_->Select("SELECT id, name FROM " + Quoted(*target) + " ORDER BY id"),
            (std::vector<Row>{{"1", "first"}, {"2", "third"}}));
}

TEST_F(HandlerSocketServerTest, AWrongOrMissingSecretIsFatal) {
  const auto target = CreateTarget(NamesColumns());
  for (const char* secret : {"wrong", ""}) {
    target->Set("secret", secret);
    target->Set("write_secret", secret);
    target->factory();
    for (const OperationKind kind : {OperationKind::kRead, OperationKind::kInsert}) {
      const Client client = target->Connect(kind);
      EXPECT_EQ(client.state(), ConnectionState::kFailed);
      EXPECT_EQ(client.error().severity, Severity::kFatal);
      EXPECT_EQ(client.error().code, "3 unauth");
      EXPECT_NE(client.error().text.find("secret: { from: TARGET }"), std::string::npos);
    }
  }
}

TEST_F(HandlerSocketServerTest, WhatIsNotThereIsNamed) {
  const auto target = CreateTarget(NamesColumns());
  const auto refusal = [&] {
    target->factory();
    const Client client = target->Connect(OperationKind::kRead);
    EXPECT_EQ(client.state(), ConnectionState::kFailed);
    EXPECT_EQ(client.error().severity, Severity::kFatal);
    return client.error();
  };
  const std::string database = std::getenv("CAVALRY_MARIADB_DATABASE");
  const std::string table = target->table().name;

  target->table().columns[2].name = "missing";
  Done error = refusal();
  EXPECT_EQ(error.code, "2 fld");
  EXPECT_NE(error.text.find(database + "." + table), std::string::npos) << error.text;
  EXPECT_NE(error.text.find("id, name, missing"), std::string::npos) << error.text;

  target->table().name = "no_such_table";
  error = refusal();
  EXPECT_EQ(error.code, "1 open_table");
  EXPECT_NE(error.text.find(database + ".no_such_table"), std::string::npos) << error.text;

  target->Set("database", "no_such_database");
  error = refusal();
  EXPECT_EQ(error.code, "1 open_table");
  EXPECT_NE(error.text.find("no_such_database"), std::string::npos) << error.text;
}

TEST_F(HandlerSocketServerTest, ATableWithoutPrimaryKeyIsNamed) {
  const std::string table = NewTable();
  sql_->Run("CREATE TABLE `" + table +
            "` (id INT NOT NULL, name VARCHAR(25), note VARCHAR(40), UNIQUE KEY other (id))");
  Target target(table, NamesColumns());
  const Client client = target.Connect(OperationKind::kRead);
  EXPECT_EQ(client.state(), ConnectionState::kFailed);
  EXPECT_EQ(client.error().code, "2 idxnum");
  EXPECT_NE(client.error().text.find(table + " has no primary key"), std::string::npos)
      << client.error().text;
}

TEST_F(HandlerSocketServerTest, AnotherKindOfServerIsToldAtOnce) {
  const auto target = CreateTarget(NamesColumns());
  target->Set("port", std::getenv("CAVALRY_MARIADB_PORT"));
  const Client client = target->Connect(OperationKind::kRead);
  EXPECT_EQ(client.state(), ConnectionState::kFailed);
  EXPECT_EQ(client.error().severity, Severity::kFatal);
  EXPECT_NE(client.error().text.find("HandlerSocket ports?"), std::string::npos)
      << client.error().text;
}

// No real server is needed for one that closes in the middle of an answer.
TEST(HandlerSocketStub, AServerThatClosesLeavesOperationsUnanswered) {
  fakes::StubServer server([](fakes::StubConnection& client) {
    for (int i = 0; i < 2; ++i) client.ReadLine();
    client.Write("0\t1\n0\t1\n");
    for (int i = 0; i < 3; ++i) client.ReadLine();
    client.Write("0\t3\t1\ta\tb\n0\t3\t2\tc");
  });
  Target target("t", NamesColumns());
  target.plans().resize(1);
  target.Set("host", "127.0.0.1");
  target.Set("port", std::to_string(server.port()));
  target.Set("write_port", "9999");
  target.Set("secret", "s");
  target.Set("database", "d");
  Client client = target.Connect(OperationKind::kRead);
  ASSERT_EQ(client.state(), ConnectionState::kReady);
  const std::vector<Done> done = client.Run({target.Find(1), target.Find(2), target.Find(3)});
  EXPECT_EQ(done.size(), 1U);
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(client.state(), ConnectionState::kReady);
  EXPECT_EQ(server.received(0),
            "A\t1\ts\nP\t0\td\tt\tPRIMARY\tid,name,note\n"
            "0\t=\t1\t1\n0\t=\t1\t2\n0\t=\t1\t3\n");
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
