// The client against a real server: every operation, by text and prepared statements, over TCP and
// the Unix socket, with values at their limits.
#include <poll.h>

#include <array>
#include <string>

#include "tests/integration/mysql/fixture.h"

namespace cavalry::drivers::mysql {
namespace {

struct Route {
  const char* name;
  const char* transport;
  const char* statements;
};

class ClientTest : public MysqlTest, public ::testing::WithParamInterface<Route> {
 protected:
  static Settings RouteSettings() {
    return ServerSettings(GetParam().transport, GetParam().statements);
  }
  // A connected client, or a failed test.
  static std::unique_ptr<PollableClient> Connected(Sessions* sessions) {
    auto client = sessions->New();
    const Result result(Drive(client.get(), client->StartConnect()));
    EXPECT_EQ(result.op.outcome, Outcome::kOk) << result.text;
    return client;
  }
};

INSTANTIATE_TEST_SUITE_P(Routes, ClientTest,
                         ::testing::Values(Route{"TcpText", "tcp", "text"},
                                           Route{"TcpPrepared", "tcp", "prepared"},
                                           Route{"UnixText", "unix", "text"},
                                           Route{"UnixPrepared", "unix", "prepared"}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(ClientTest, InsertsReadsUpdatesAndDeletesByKey) {
  const TestTable table("client_basic", {{"id", "int"}, {"name", "varchar(40)"}, {"n", "bigint"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);

  const std::array values = {Value::Integer(7), Value::Text("seven"), Value::Integer(-70)};
  const Result inserted = RunOperation(client.get(), table.plans[1], Value::Null(), values);
  EXPECT_EQ(inserted.op.outcome, Outcome::kOk) << inserted.text;
  EXPECT_EQ(inserted.op.rows, 1u);

  RowCollector rows;
  const Result read = RunOperation(client.get(), table.plans[0], Value::Unsigned(7), {}, &rows);
  EXPECT_EQ(read.op.outcome, Outcome::kOk) << read.text;
  EXPECT_EQ(read.op.rows, 1u);
  EXPECT_EQ(read.op.bytes, 1u + 5u + 3u);
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0], (RowCollector::Row{"7", "seven", "-70"}));

  // Without a visitor rows are counted all the same.
  EXPECT_EQ(RunOperation(client.get(), table.plans[0], Value::Unsigned(7)).op.rows, 1u);

  const std::array changed = {Value::Text("SEVEN"), Value::Integer(71)};
  EXPECT_EQ(RunOperation(client.get(), table.plans[2], Value::Unsigned(7), changed).op.outcome,
            Outcome::kOk);
  EXPECT_EQ(SqlText("SELECT CONCAT(name, n) FROM client_basic WHERE id = 7"), "SEVEN71");
  // To equal values: the row was found, so this is no miss.
  const Result same = RunOperation(client.get(), table.plans[2], Value::Unsigned(7), changed);
  EXPECT_EQ(same.op.outcome, Outcome::kOk);
  EXPECT_EQ(same.op.rows, 1u);

  EXPECT_EQ(RunOperation(client.get(), table.plans[3], Value::Unsigned(7)).op.outcome,
            Outcome::kOk);
  EXPECT_EQ(SqlText("SELECT COUNT(*) FROM client_basic"), "0");
  EXPECT_EQ(Drive(client.get(), client->StartClose()).outcome, Outcome::kOk);
}

TEST_P(ClientTest, ARowThatIsNotThereIsAMissAndADuplicateIsRejected) {
  const TestTable table("client_miss", {{"id", "int"}, {"name", "varchar(40)"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);
  const std::array name = {Value::Text("x")};
  const std::array row = {Value::Integer(1), Value::Text("x")};

  EXPECT_EQ(RunOperation(client.get(), table.plans[0], Value::Unsigned(1)).op.outcome,
            Outcome::kMiss);
  EXPECT_EQ(RunOperation(client.get(), table.plans[2], Value::Unsigned(1), name).op.outcome,
            Outcome::kMiss);
  EXPECT_EQ(RunOperation(client.get(), table.plans[3], Value::Unsigned(1)).op.outcome,
            Outcome::kMiss);
  EXPECT_EQ(RunOperation(client.get(), table.plans[1], Value::Null(), row).op.outcome,
            Outcome::kOk);

  const Result duplicate = RunOperation(client.get(), table.plans[1], Value::Null(), row);
  EXPECT_EQ(duplicate.op.outcome, Outcome::kRejected);
  EXPECT_EQ(duplicate.op.severity, Severity::kNormal);
  EXPECT_FALSE(duplicate.op.outcome_unknown);
  EXPECT_EQ(duplicate.code, "1062");
  EXPECT_NE(duplicate.text.find("Duplicate entry '1'"), std::string::npos) << duplicate.text;
  // The session goes on.
  EXPECT_EQ(RunOperation(client.get(), table.plans[0], Value::Unsigned(1)).op.outcome,
            Outcome::kOk);
}

TEST_P(ClientTest, CarriesEveryTypeAtItsLimits) {
  const TestTable table("client_types", {{"id", "bigint unsigned"},
                                         {"tiny", "tinyint"},
                                         {"small", "smallint unsigned"},
                                         {"big", "bigint"},
                                         {"money", "decimal(15,2)"},
                                         {"code", "char(10)"},
                                         {"name", "varchar(25)?"},
                                         {"raw", "varbinary(255)"},
                                         {"note", "text"},
                                         {"day", "date"},
                                         {"at", "datetime"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);

  std::string raw;
  for (int byte = 0; byte < 255; ++byte) raw.push_back(static_cast<char>(255 - byte));
  std::string ascii;
  for (int byte = 0; byte < 128; ++byte) ascii.push_back(static_cast<char>(byte));
  const std::string note = ascii + "Zoë \xF0\x9F\x90\x8E 騎兵" + std::string(5000, 'n');
  const std::array values = {Value::Unsigned(~std::uint64_t{0}),
                             Value::Integer(-128),
                             Value::Unsigned(65'535),
                             Value::Integer(INT64_MIN),
                             Value::Text("-999.90"),
                             Value::Text("AbC"),
                             Value::Null(),
                             Value::Binary(raw),
                             Value::Text(note),
                             Value::Text("2026-02-28"),
                             Value::Text("1999-12-31 23:59:59")};
  const Result inserted = RunOperation(client.get(), table.plans[1], Value::Null(), values);
  ASSERT_EQ(inserted.op.outcome, Outcome::kOk) << inserted.text;

  RowCollector rows;
  const Result read =
      RunOperation(client.get(), table.plans[0], Value::Unsigned(~std::uint64_t{0}), {}, &rows);
  ASSERT_EQ(read.op.outcome, Outcome::kOk) << read.text;
  ASSERT_EQ(rows.rows.size(), 1u);
  const RowCollector::Row expected = {"18446744073709551615",
                                      "-128",
                                      "65535",
                                      "-9223372036854775808",
                                      "-999.90",
                                      "AbC",
                                      std::nullopt,
                                      raw,
                                      note,
                                      "2026-02-28",
                                      "1999-12-31 23:59:59"};
  EXPECT_EQ(rows.rows[0], expected);
  std::uint64_t bytes = 0;
  for (const auto& field : expected) bytes += field ? field->size() : 0;
  EXPECT_EQ(read.op.bytes, bytes);
  // Once more: the buffers have grown by then.
  EXPECT_EQ(
      RunOperation(client.get(), table.plans[0], Value::Unsigned(~std::uint64_t{0}), {}, &rows)
          .op.rows,
      1u);
  EXPECT_EQ(rows.rows[1], expected);
}

TEST_P(ClientTest, EmptyTextsAndNullsAreKeptApart) {
  const TestTable table("client_null", {{"id", "int"}, {"name", "varchar(25)?"}, {"n", "int?"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);
  const std::array empty = {Value::Integer(1), Value::Text(""), Value::Integer(0)};
  const std::array null = {Value::Integer(2), Value::Null(), Value::Null()};
  const std::array again = {Value::Integer(3), Value::Text("again"), Value::Integer(3)};
  EXPECT_EQ(RunOperation(client.get(), table.plans[1], Value::Null(), empty).op.outcome,
            Outcome::kOk);
  EXPECT_EQ(RunOperation(client.get(), table.plans[1], Value::Null(), null).op.outcome,
            Outcome::kOk);
  EXPECT_EQ(RunOperation(client.get(), table.plans[1], Value::Null(), again).op.outcome,
            Outcome::kOk);

  RowCollector rows;
  for (const std::uint64_t key : {1, 2, 3}) {
    EXPECT_EQ(RunOperation(client.get(), table.plans[0], Value::Unsigned(key), {}, &rows).op.rows,
              1u);
  }
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[0], (RowCollector::Row{"1", "", "0"}));
  EXPECT_EQ(rows.rows[1], (RowCollector::Row{"2", std::nullopt, std::nullopt}));
  EXPECT_EQ(rows.rows[2], (RowCollector::Row{"3", "again", "3"}));
}

TEST_P(ClientTest, ValuesMayChangeKindFromOneOperationToTheNext) {
  const TestTable table("client_kinds", {{"id", "int"}, {"n", "bigint unsigned"}, {"t", "text"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);
  const std::array number = {Value::Integer(1), Value::Unsigned(~std::uint64_t{0}),
                             Value::Text("a")};
  const std::string long_text(50'000, 'x');
  const std::array text = {Value::Integer(2), Value::Text("12"), Value::Text(long_text)};
  const std::array binary = {Value::Integer(3), Value::Integer(4), Value::Binary("b")};
  std::array last = number;
  last[0] = Value::Integer(4);
  for (const auto& row : {number, text, binary, last}) {
    const Result result = RunOperation(client.get(), table.plans[1], Value::Null(), row);
    EXPECT_EQ(result.op.outcome, Outcome::kOk) << result.text;
  }
  EXPECT_EQ(SqlText("SELECT GROUP_CONCAT(CONCAT(n, LEFT(t, 1)) ORDER BY id) FROM client_kinds"),
            "18446744073709551615a,12x,4b,18446744073709551615a");
}

TEST_P(ClientTest, ATooLongValueIsRejectedNotCut) {
  const TestTable table("client_long", {{"id", "int"}, {"name", "varchar(3)"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);
  const std::array row = {Value::Integer(1), Value::Text("four")};
  const Result result = RunOperation(client.get(), table.plans[1], Value::Null(), row);
  EXPECT_EQ(result.op.outcome, Outcome::kRejected);
  EXPECT_EQ(result.code, "1406");
}

TEST_P(ClientTest, ATableThatWentAwayIsFatal) {
  const TestTable table("client_gone", {{"id", "int"}, {"name", "varchar(3)"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);
  Sql("DROP TABLE client_gone");
  const Result result = RunOperation(client.get(), table.plans[0], Value::Unsigned(1));
  EXPECT_EQ(result.op.outcome, Outcome::kRejected);
  EXPECT_EQ(result.op.severity, Severity::kFatal);
  EXPECT_EQ(result.code, "1146");
}

TEST_P(ClientTest, AConnectionKilledInMidOperationIsOfNoFurtherUse) {
  const TestTable table("client_kill", {{"id", "int"}, {"name", "varchar(30)"}});
  Recreate(table);
  Sql("INSERT INTO client_kill VALUES (1, 'x')");
  Sessions sessions(RouteSettings(), table.plans);
  const auto client = Connected(&sessions);
  Sql("LOCK TABLES client_kill WRITE");
  const std::array name = {Value::Text("y")};
  Operation update{&table.plans[2], Value::Unsigned(1), name, nullptr};
  const PollStep step = client->Start(update);
  ASSERT_FALSE(step.done);
  RootSql("KILL CONNECTION " +
          WaitForText("SELECT ID FROM information_schema.PROCESSLIST WHERE "
                      "STATE LIKE 'Waiting for%' AND INFO LIKE '%client\\_kill%'"));
  const Result result(Drive(client.get(), step));
  // The server may have got its last words through, or just have closed.
  EXPECT_TRUE(result.code == "2013" || result.code == "1927") << result.code;
  EXPECT_EQ(result.op.outcome, result.code == "1927" ? Outcome::kRejected : Outcome::kBroken);
  EXPECT_EQ(result.op.severity, Severity::kReconnect);
  EXPECT_TRUE(result.op.outcome_unknown);
  Sql("UNLOCK TABLES");

  EXPECT_EQ(Drive(client.get(), client->StartConnect()).outcome, Outcome::kOk);
  EXPECT_EQ(RunOperation(client.get(), table.plans[0], Value::Unsigned(1)).op.outcome,
            Outcome::kOk);
}

TEST_P(ClientTest, DestroyedInMidOperationItLetsGoAtOnce) {
  const TestTable table("client_abandon", {{"id", "int"}, {"name", "varchar(30)"}});
  Recreate(table);
  Sql("INSERT INTO client_abandon VALUES (1, 'x')");
  Sessions sessions(RouteSettings(), table.plans);
  auto client = Connected(&sessions);
  Sql("LOCK TABLES client_abandon WRITE");
  const std::array name = {Value::Text("y")};
  Operation update{&table.plans[2], Value::Unsigned(1), name, nullptr};
  EXPECT_FALSE(client->Start(update).done);
  client.reset();  // waits for the lock on the server's side; must not wait here
  Sql("UNLOCK TABLES");
}

TEST_P(ClientTest, DestroyedInMidConnectItLetsGoAtOnce) {
  const TestTable table("client_basic", {{"id", "int"}, {"name", "varchar(40)"}, {"n", "bigint"}});
  Recreate(table);
  Sessions sessions(RouteSettings(), table.plans);
  // After so many of its steps; a connect takes fewer than 40.
  for (int steps = 0; steps < 40; ++steps) {
    auto client = sessions.New();
    PollStep step = client->StartConnect();
    for (int i = 0; i < steps && !step.done; ++i) {
      pollfd waiting{step.wait.fd, step.wait.events, 0};
      ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
      step = client->Continue(waiting.revents, false);
    }
    if (step.done) return;
  }
  FAIL() << "the connect never ended";
}

// ---- Connects that the server refuses

class ConnectTest : public MysqlTest {
 protected:
  static Result ConnectWith(Settings settings, const TestTable& table) {
    Sessions sessions(std::move(settings), table.plans);
    const auto client = sessions.New();
    return Result(Drive(client.get(), client->StartConnect()));
  }
  const TestTable table_{"client_connect", {{"id", "int"}, {"name", "varchar(3)"}}};
};

TEST_F(ConnectTest, AWrongPasswordIsFatal) {
  const Result result = ConnectWith(With(ServerSettings(), "password", "wrong"), table_);
  EXPECT_EQ(result.op.outcome, Outcome::kRejected);
  EXPECT_EQ(result.op.severity, Severity::kFatal);
  EXPECT_EQ(result.code, "1045");
  EXPECT_NE(result.text.find("Access denied"), std::string::npos) << result.text;
}

TEST_F(ConnectTest, ADatabaseThatIsNotThereIsFatal) {
  // 1044 for a user that may not know of it.
  const Result result = ConnectWith(With(ServerSettings(), "database", "no_such_db"), table_);
  EXPECT_EQ(result.op.severity, Severity::kFatal);
  EXPECT_TRUE(result.code == "1049" || result.code == "1044") << result.code;
}

TEST_F(ConnectTest, AMissingTableIsFatalWhenItsStatementsArePrepared) {
  Sql("DROP TABLE IF EXISTS client_connect");
  const Result result = ConnectWith(ServerSettings("tcp", "prepared"), table_);
  EXPECT_EQ(result.op.severity, Severity::kFatal);
  EXPECT_EQ(result.code, "1146");
}

TEST_F(ConnectTest, AMissingColumnIsFatalWhenItsStatementsArePrepared) {
  Recreate(table_);
  Sql("ALTER TABLE client_connect DROP COLUMN name");
  const Result result = ConnectWith(ServerSettings("tcp", "prepared"), table_);
  EXPECT_EQ(result.op.severity, Severity::kFatal);
  EXPECT_EQ(result.code, "1054");
}

TEST_F(ConnectTest, ASocketThatIsNotThereIsNotSent) {
  const Result result =
      ConnectWith(With(ServerSettings("unix"), "socket", "/no/such.sock"), table_);
  EXPECT_EQ(result.op.outcome, Outcome::kNotSent);
  EXPECT_EQ(result.code, "2002");
  EXPECT_NE(result.text.find("No such file"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace cavalry::drivers::mysql
