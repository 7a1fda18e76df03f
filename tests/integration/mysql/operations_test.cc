// Every kind of operation against a real server: by text and prepared statements, without and with
// blocking calls.
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/mysql/any_client.h"

namespace cavalry::drivers::mysql {
namespace {

struct Way {
  const char* name;
  const char* client;
  const char* statements;
};

class OperationsTest : public MysqlTest, public ::testing::WithParamInterface<Way> {
 protected:
  static Settings WaySettings() {
    Settings settings = ServerSettings("tcp", GetParam().statements);
    settings.Add({"client", GetParam().client});
    return settings;
  }
  static bool IsPrepared() { return std::string_view(GetParam().statements) == "prepared"; }
  static bool IsBlocking() { return std::string_view(GetParam().client) == "blocking"; }

  OperationPlan& Add(OperationKind kind, const TableSchema* table = nullptr,
                     std::vector<std::uint32_t> columns = {}) {
    OperationPlan& plan = plans_.emplace_back();
    plan.name = OperationKindName(kind);
    plan.index = static_cast<std::uint32_t>(plans_.size() - 1);
    plan.kind = kind;
    plan.table = table;
    plan.columns = std::move(columns);
    return plan;
  }
  OperationPlan& AddNative(std::string statement, std::uint32_t parameters = 0) {
    OperationPlan& plan = Add(OperationKind::kNative);
    plan.statement = std::move(statement);
    plan.parameters = parameters;
    return plan;
  }
  AnyClient& Connected() {
    client_.emplace(WaySettings(), plans_);
    const Result result = client_->Connect();
    EXPECT_EQ(result.op.outcome, Outcome::kOk) << result.text;
    return *client_;
  }

  std::vector<OperationPlan> plans_ = [] {
    std::vector<OperationPlan> plans;
    plans.reserve(32);  // references to plans stay valid
    return plans;
  }();
  std::optional<AnyClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Ways, OperationsTest,
                         ::testing::Values(Way{"NonblockingText", "nonblocking", "text"},
                                           Way{"NonblockingPrepared", "nonblocking", "prepared"},
                                           Way{"BlockingText", "blocking", "text"},
                                           Way{"BlockingPrepared", "blocking", "prepared"}),
                         [](const auto& param) { return std::string(param.param.name); });

constexpr std::string_view kAbortedConnects =
    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
    "'ABORTED_CONNECTS'";

// Orders by (region, day, id): a key of several columns and types.
TableSchema Orders(std::string name) {
  TestTable table(std::move(name), {{"region", "varchar(20)"},
                                    {"price", "decimal(10,2)"},
                                    {"day", "date"},
                                    {"id", "int"},
                                    {"qty", "int?"},
                                    {"note", "varchar(50)?"}});
  table.schema.key_columns = {0, 2, 3};
  table.schema.key_is_number = false;
  table.schema.indexes = {{"by_price", {1, 3}, false}, {"by_note", {5}, true}};
  return table.schema;
}

TEST_P(OperationsTest, WorksByKeysOfSeveralColumns) {
  TestTable holder("ops_keys", {{"id", "int"}});
  holder.schema = Orders("ops_keys");
  Recreate(holder);
  const TableSchema& table = holder.schema;
  const OperationPlan& insert = Add(OperationKind::kInsert, &table, {0, 1, 2, 3, 4, 5});
  const OperationPlan& read = Add(OperationKind::kRead, &table, {3, 4, 1});
  const OperationPlan& update = Add(OperationKind::kUpdate, &table, {5});
  OperationPlan& increment = Add(OperationKind::kIncrement, &table, {4});
  increment.amount = -3;
  const OperationPlan& remove = Add(OperationKind::kDelete, &table);
  OperationPlan& several = Add(OperationKind::kMultiRead, &table, {0, 3});
  several.batch = 3;
  AnyClient& client = Connected();

  const std::array row = {Value::Text("north'"), Value::Text("12.50"), Value::Text("2026-01-02"),
                          Value::Integer(7),     Value::Integer(10),   Value::Null()};
  std::array other = row;
  other[3] = Value::Integer(8);
  const Result inserted = client.Run(insert, {}, row);
  EXPECT_EQ(inserted.op.outcome, Outcome::kOk) << inserted.text;
  EXPECT_EQ(client.Run(insert, {}, other).op.outcome, Outcome::kOk);

  const std::array key = {row[0], row[2], row[3]};
  const std::array none = {row[0], row[2], Value::Integer(9)};
  RowCollector rows;
  EXPECT_EQ(client.Run(read, Key(key), {}, &rows).op.outcome, Outcome::kOk);
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0], (RowCollector::Row{"7", "10", "12.50"}));
  EXPECT_EQ(client.Run(read, Key(none)).op.outcome, Outcome::kMiss);

  const std::array note = {Value::Text("changed")};
  EXPECT_EQ(client.Run(update, Key(key), note).op.rows, 1u);
  EXPECT_EQ(client.Run(increment, Key(key)).op.outcome, Outcome::kOk);
  EXPECT_EQ(SqlText("SELECT GROUP_CONCAT(id, ' ', qty, ' ', IFNULL(note, '-') ORDER BY id) "
                    "FROM ops_keys"),
            "7 7 changed,8 10 -");

  const std::array keys = {row[0], row[2], Value::Integer(8), row[0], row[2], Value::Integer(7),
                           row[0], row[2], Value::Integer(99)};
  const Result found = client.Run(several, Key(keys));
  EXPECT_EQ(found.op.outcome, Outcome::kOk) << found.text;
  EXPECT_EQ(found.op.rows, 2u);
  const std::array strangers = {none[0], none[1], none[2],
                                none[0], none[1], Value::Integer(98),
                                none[0], none[1], Value::Integer(99)};
  EXPECT_EQ(client.Run(several, Key(strangers)).op.outcome, Outcome::kMiss);

  EXPECT_EQ(client.Run(remove, Key(key)).op.rows, 1u);
  EXPECT_EQ(client.Run(remove, Key(key)).op.outcome, Outcome::kMiss);
  EXPECT_EQ(SqlText("SELECT COUNT(*) FROM ops_keys"), "1");
  EXPECT_EQ(client.Close().op.outcome, Outcome::kOk);
}

TEST_P(OperationsTest, ScansAnIndexInItsOrder) {
  TestTable holder("ops_scan", {{"id", "int"}});
  holder.schema = Orders("ops_scan");
  Recreate(holder);
  Sql("INSERT INTO ops_scan SELECT CONCAT('r', seq DIV 10), seq DIV 4, '2026-01-01' + INTERVAL seq "
      "DAY, seq, seq, IF(seq % 5 = 0, NULL, CONCAT('n', seq)) FROM seq_0_to_99");
  const TableSchema& table = holder.schema;
  // Plans are made first: a client knows those it was made with.
  const auto add = [&](std::string index, std::vector<std::uint32_t> columns, Comparison comparison,
                       std::uint32_t limit, std::uint32_t offset) -> OperationPlan& {
    OperationPlan& plan = Add(OperationKind::kScan, &table, {3});
    plan.scan = {std::move(index), std::move(columns), comparison, limit, offset, {}, {}};
    return plan;
  };
  const OperationPlan& ge = add("by_price", {1, 3}, Comparison::kGreaterEqual, 4, 0);
  const OperationPlan& gt = add("by_price", {1, 3}, Comparison::kGreater, 3, 1);
  const OperationPlan& le = add("by_price", {1, 3}, Comparison::kLessEqual, 5, 0);
  const OperationPlan& lt = add("by_price", {1}, Comparison::kLess, 3, 0);
  const OperationPlan& equal = add("by_price", {1}, Comparison::kEqual, 100, 0);
  const OperationPlan& primary = add("", {0}, Comparison::kEqual, 100, 0);
  OperationPlan& filtered = add("by_price", {1}, Comparison::kGreaterEqual, 100, 0);
  filtered.scan.filters = {{5, Comparison::kEqual, true, "", false},
                           {3, Comparison::kLess, false, "50", false},
                           {0, Comparison::kNotEqual, false, "r\\3", false}};
  OperationPlan& in = add("by_price", {1}, Comparison::kEqual, 100, 0);
  in.scan.in = {3, 5, 77};
  AnyClient& client = Connected();

  const auto ids = [&](const OperationPlan& plan, std::span<const Value> values) {
    RowCollector rows;
    const Result result = client.Run(plan, Key(values), {}, &rows);
    EXPECT_NE(result.op.outcome, Outcome::kRejected) << result.text << client.RequestText();
    EXPECT_EQ(result.op.rows, rows.rows.size());
    std::string text;
    for (const auto& row : rows.rows) text += row[0].value_or("NULL") + " ";
    return text;
  };
  const std::array start = {Value::Text("5"), Value::Integer(22)};
  const std::array price = {Value::Text("5")};
  EXPECT_EQ(ids(ge, start), "22 23 24 25 ");
  EXPECT_EQ(ids(gt, start), "24 25 26 ");
  EXPECT_EQ(ids(le, start), "22 21 20 19 18 ");
  EXPECT_EQ(ids(lt, price), "19 18 17 ");
  EXPECT_EQ(ids(equal, price), "20 21 22 23 ");
  const std::array region = {Value::Text("r9")};
  EXPECT_EQ(ids(primary, region), "90 91 92 93 94 95 96 97 98 99 ");
  EXPECT_EQ(ids(filtered, price), "20 25 30 35 40 45 ");
  EXPECT_EQ(ids(in, price), "12 13 14 15 20 21 22 23 ");
  const std::array beyond = {Value::Text("1000")};
  EXPECT_EQ(client.Run(equal, Key(beyond)).op.outcome, Outcome::kMiss);

  // The server reads a range of the index and sorts nothing.
  std::string sql;
  StatementTemplate(ge).Write({&ge, Key(start), {}, nullptr}, Escaping::kBackslash, &sql);
  std::string plan;
  const Status explained = connection().Query("EXPLAIN " + sql, [&](std::span<const Field> fields) {
    for (const Field& field : fields) plan += std::string(field.text) + "|";
  });
  ASSERT_TRUE(explained.ok()) << explained;
  EXPECT_NE(plan.find("|range|by_price|by_price|"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("filesort"), std::string::npos) << plan;
}

TEST_P(OperationsTest, InsertsBatchesWithNumbersAndValuesOfTheServers) {
  TestTable holder("ops_insert", {{"id", "int"}, {"name", "varchar(20)"}, {"at", "datetime"}});
  holder.schema.columns[0].auto_increment = true;
  Recreate(holder);
  const TableSchema& table = holder.schema;
  OperationPlan& one = Add(OperationKind::kInsert, &table, {1, 2});
  one.server_values = {"", "'2026-05-06' + INTERVAL 1 DAY"};
  OperationPlan& batch = Add(OperationKind::kInsert, &table, {1, 2});
  batch.batch = 3;
  batch.server_values = {"", "now()"};
  OperationPlan& update = Add(OperationKind::kUpdate, &table, {1, 2});
  update.server_values = {"UPPER(name)", ""};
  AnyClient& client = Connected();

  const std::array row = {Value::Text("a"), Value::Null()};
  const Result first = client.Run(one, {}, row);
  EXPECT_EQ(first.op.outcome, Outcome::kOk) << first.text;
  EXPECT_EQ(first.op.insert_id, 1u);
  const std::array rows = {Value::Text("b"), Value::Null(),    Value::Text("c"),
                           Value::Null(),    Value::Text("d"), Value::Null()};
  const Result more = client.Run(batch, {}, rows);
  EXPECT_EQ(more.op.outcome, Outcome::kOk) << more.text;
  EXPECT_EQ(more.op.rows, 3u);
  EXPECT_EQ(more.op.insert_id, 2u);
  const std::array values = {Value::Null(), Value::Text("2000-01-01 00:00:00")};
  EXPECT_EQ(client.Run(update, Value::Unsigned(1), values).op.rows, 1u);
  EXPECT_EQ(SqlText("SELECT GROUP_CONCAT(id, name, ' ', YEAR(at) > 2000 ORDER BY id) "
                    "FROM ops_insert"),
            "1A 0,2b 1,3c 1,4d 1");
}

TEST_P(OperationsTest, NativeStatementsReadAllRowsOfAllResults) {
  Sql("DROP PROCEDURE IF EXISTS ops_native_procedure");
  Sql("CREATE PROCEDURE ops_native_procedure(n INT) BEGIN SELECT seq FROM seq_1_to_5; SELECT 'x' "
      "FROM seq_1_to_3 LIMIT n; SELECT 1 FROM seq_1_to_2; END");
  const OperationPlan& values = AddNative("SELECT ?, '?;', ? /* ? */, ? -- ?\n FROM seq_1_to_2", 3);
  const OperationPlan& call = AddNative("CALL ops_native_procedure(?)", 1);
  const OperationPlan& several = AddNative(
      "SELECT seq FROM seq_1_to_4; SET @ops = ?; SELECT @ops; SELECT ? FROM seq_1_to_2;", 2);
  const OperationPlan& failing = AddNative("SELECT 1; SELECT ops_no_such_column; SELECT 2", 0);
  const OperationPlan& large = AddNative("SELECT seq, REPEAT('x', 300) FROM seq_1_to_50000", 0);
  const OperationPlan& nothing = AddNative("DO 1");
  AnyClient& client = Connected();

  const std::array parameters = {Value::Integer(-5), Value::Text("it's\\"), Value::Null()};
  RowCollector rows;
  const Result valued = client.Run(values, {}, parameters, &rows);
  ASSERT_EQ(valued.op.outcome, Outcome::kOk) << valued.text;
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[1], (RowCollector::Row{"-5", "?;", "it's\\", std::nullopt}));

  const std::array count = {Value::Integer(2)};
  for (int i = 0; i < 2; ++i) {
    const Result called = client.Run(call, {}, count);
    EXPECT_EQ(called.op.outcome, Outcome::kOk) << called.text;
    EXPECT_EQ(called.op.rows, 5u + 2u + 2u);
  }
  rows.rows.clear();
  const std::array two = {Value::Text("a;b"), Value::Integer(9)};
  const Result many = client.Run(several, {}, two, &rows);
  EXPECT_EQ(many.op.outcome, Outcome::kOk) << many.text;
  ASSERT_EQ(rows.rows.size(), 4u + 1u + 2u);
  EXPECT_EQ(rows.rows[4], (RowCollector::Row{"a;b"}));

  const Result failed = client.Run(failing);
  EXPECT_EQ(failed.op.outcome, Outcome::kRejected);
  EXPECT_EQ(failed.code, "1054");
  const Result all = client.Run(large);
  EXPECT_EQ(all.op.outcome, Outcome::kOk) << all.text;
  EXPECT_EQ(all.op.rows, 50'000u);
  EXPECT_GT(all.op.bytes, 15'000'000u);
  EXPECT_EQ(client.Run(nothing).op.outcome, Outcome::kOk);
}

TEST_P(OperationsTest, TransactionsCommitAndRollBack) {
  TestTable holder("ops_transaction", {{"id", "int"}, {"n", "int"}});
  Recreate(holder);
  const OperationPlan& begin = Add(OperationKind::kBegin);
  const OperationPlan& commit = Add(OperationKind::kCommit);
  const OperationPlan& rollback = Add(OperationKind::kRollback);
  const OperationPlan& insert = Add(OperationKind::kInsert, &holder.schema, {0, 1});
  AnyClient& client = Connected();
  for (const OperationPlan* end : {&rollback, &commit}) {
    EXPECT_EQ(client.Run(begin).op.outcome, Outcome::kOk);
    const std::array row = {Value::Integer(end == &commit ? 1 : 2), Value::Integer(0)};
    EXPECT_EQ(client.Run(insert, {}, row).op.outcome, Outcome::kOk);
    EXPECT_EQ(SqlText("SELECT COUNT(*) FROM ops_transaction"), "0");
    EXPECT_EQ(client.Run(*end).op.outcome, Outcome::kOk);
  }
  EXPECT_EQ(SqlText("SELECT GROUP_CONCAT(id) FROM ops_transaction"), "1");
}

TEST_P(OperationsTest, ARenewedSessionHasForgottenItsStateAndPreparesAnew) {
  TestTable holder("ops_renew", {{"id", "int"}, {"n", "int"}});
  Recreate(holder);
  Sql("INSERT INTO ops_renew VALUES (1, 10)");
  const OperationPlan& reset = Add(OperationKind::kResetConnection);
  const OperationPlan& change = Add(OperationKind::kChangeUser);
  const OperationPlan& read = Add(OperationKind::kRead, &holder.schema, {1});
  const OperationPlan& set = AddNative("SET @ops_renew = 5");
  const OperationPlan& get = AddNative("SELECT @ops_renew");
  AnyClient& client = Connected();
  const auto state = [&] {
    RowCollector rows;
    EXPECT_EQ(client.Run(get, {}, {}, &rows).op.rows, 1u);
    return rows.rows.at(0).at(0).value_or("NULL");
  };
  for (const OperationPlan* renew : {&reset, &change}) {
    EXPECT_EQ(client.Run(set).op.outcome, Outcome::kOk);
    EXPECT_EQ(state(), "5");
    const Result renewed = client.Run(*renew);
    EXPECT_EQ(renewed.op.outcome, Outcome::kOk) << renewed.text;
    EXPECT_EQ(renewed.op.reprepared, IsPrepared());
    EXPECT_EQ(client.RequestText(), renew == &reset ? "COM_RESET_CONNECTION" : "COM_CHANGE_USER");
    EXPECT_EQ(state(), "NULL");
    const Result after = client.Run(read, Value::Unsigned(1));
    EXPECT_EQ(after.op.outcome, Outcome::kOk) << after.text;
    EXPECT_FALSE(after.op.reprepared);
  }
  EXPECT_EQ(client.Close().op.outcome, Outcome::kOk);
}

// C28, the side of SQL.
TEST_P(OperationsTest, NullAndEveryByteComeBackAsTheyWere) {
  TestTable holder("ops_bytes", {{"id", "int"}, {"v", "varbinary(300)?"}});
  Recreate(holder);
  const OperationPlan& insert = Add(OperationKind::kInsert, &holder.schema, {0, 1});
  const OperationPlan& read = Add(OperationKind::kRead, &holder.schema, {1});
  const OperationPlan& update = Add(OperationKind::kUpdate, &holder.schema, {1});
  AnyClient& client = Connected();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::array<std::optional<std::string>, 8> values = {
      std::nullopt, "", std::string(1, '\0'), "\x01", "\n", "\t", "\r", all};
  const auto value_of = [](const std::optional<std::string>& text) {
    return text ? Value::Binary(*text) : Value::Null();
  };
  const auto expect = [&](std::int64_t id, const std::optional<std::string>& text) {
    RowCollector rows;
    EXPECT_EQ(client.Run(read, Value::Integer(id), {}, &rows).op.rows, 1u);
    EXPECT_EQ(rows.rows.at(0).at(0), text) << id;
    std::string hex;
    AppendValue(value_of(text), Escaping::kBackslash, &hex);
    EXPECT_EQ(SqlText(fmt::format("SELECT v <=> {} AND (v IS NULL) = {} FROM ops_bytes WHERE "
                                  "id = {}",
                                  hex, text ? 0 : 1, id)),
              "1");
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto id = static_cast<std::int64_t>(i);
    const std::array row = {Value::Integer(id), value_of(values[i])};
    EXPECT_EQ(client.Run(insert, {}, row).op.outcome, Outcome::kOk);
    expect(id, values[i]);
    for (const auto& other :
         {std::optional<std::string>(), values[values.size() - 1 - i], values[i]}) {
      const std::array changed = {value_of(other)};
      EXPECT_EQ(client.Run(update, Value::Integer(id), changed).op.outcome, Outcome::kOk);
      expect(id, other);
    }
  }
}

// C54.
TEST_P(OperationsTest, OperationsOnAnEmptyTableAreMisses) {
  TestTable holder("ops_empty", {{"id", "int"}, {"n", "int"}});
  Recreate(holder);
  const OperationPlan& read = Add(OperationKind::kRead, &holder.schema, {0, 1});
  const OperationPlan& update = Add(OperationKind::kUpdate, &holder.schema, {1});
  const OperationPlan& remove = Add(OperationKind::kDelete, &holder.schema);
  AnyClient& client = Connected();
  const std::array n = {Value::Integer(1)};
  int misses = 0;
  for (std::uint64_t key = 1; key <= 100; ++key) {
    misses += client.Run(read, Value::Unsigned(key)).op.outcome == Outcome::kMiss;
    misses += client.Run(update, Value::Unsigned(key), n).op.outcome == Outcome::kMiss;
    misses += client.Run(remove, Value::Unsigned(key)).op.outcome == Outcome::kMiss;
  }
  EXPECT_EQ(misses, 300);
}

// C19, the driver's part.
TEST_P(OperationsTest, DeadlocksAndLockWaitsMayBeTriedAgain) {
  TestTable holder("ops_deadlock", {{"id", "int"}, {"n", "int"}});
  Recreate(holder);
  Sql("INSERT INTO ops_deadlock VALUES (1, 0), (2, 0)");
  const OperationPlan& begin = Add(OperationKind::kBegin);
  const OperationPlan& rollback = Add(OperationKind::kRollback);
  const OperationPlan& add = Add(OperationKind::kIncrement, &holder.schema, {1});
  const OperationPlan& short_wait = AddNative("SET innodb_lock_wait_timeout = 1");
  const OperationPlan& insert = Add(OperationKind::kInsert, &holder.schema, {0, 1});
  AnyClient& client = Connected();
  AnyClient other(WaySettings(), plans_);
  ASSERT_EQ(other.Connect().op.outcome, Outcome::kOk);

  EXPECT_EQ(client.Run(short_wait).op.outcome, Outcome::kOk);
  EXPECT_EQ(other.Run(begin).op.outcome, Outcome::kOk);
  EXPECT_EQ(other.Run(add, Value::Unsigned(1)).op.outcome, Outcome::kOk);
  const Result waited = client.Run(add, Value::Unsigned(1));
  EXPECT_EQ(waited.code, "1205");
  EXPECT_TRUE(waited.op.retryable);
  EXPECT_FALSE(waited.op.outcome_unknown);
  EXPECT_EQ(waited.op.severity, Severity::kNormal);

  // The victim is the one that has changed less: the other has a row more.
  const std::array row = {Value::Integer(3), Value::Integer(0)};
  EXPECT_EQ(other.Run(insert, {}, row).op.outcome, Outcome::kOk);
  EXPECT_EQ(client.Run(begin).op.outcome, Outcome::kOk);
  EXPECT_EQ(client.Run(add, Value::Unsigned(2)).op.outcome, Outcome::kOk);
  std::thread crossing([&] { other.Run(add, Value::Unsigned(2)); });
  WaitForText(
      "SELECT VARIABLE_VALUE > 0 OR NULL FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME "
      "= 'INNODB_ROW_LOCK_CURRENT_WAITS'");
  const Result victim = client.Run(add, Value::Unsigned(1));
  crossing.join();
  EXPECT_EQ(victim.op.outcome, Outcome::kRejected);
  EXPECT_EQ(victim.code, "1213");
  EXPECT_TRUE(victim.op.retryable);
  EXPECT_EQ(other.Run(rollback).op.outcome, Outcome::kOk);
}

TEST_P(OperationsTest, TellsWhatWasSent) {
  TestTable holder("ops_trace", {{"id", "int"}, {"name", "varchar(20)"}});
  Recreate(holder);
  const OperationPlan& update = Add(OperationKind::kUpdate, &holder.schema, {1});
  AnyClient& client = Connected();
  const std::array name = {Value::Text("it's")};
  client.Run(update, Value::Unsigned(42), name);
  EXPECT_EQ(client.RequestText(),
            IsPrepared() ? R"(UPDATE `ops_trace` SET `name`=? WHERE `id`=? with 'it\'s', 42)"
                         : R"(UPDATE `ops_trace` SET `name`='it\'s' WHERE `id`=42)");
}

// C20.
TEST_P(OperationsTest, StatementsAreLetGoAtTheEnd) {
  TestTable holder("ops_left", {{"id", "int"}, {"n", "int"}});
  Recreate(holder);
  Add(OperationKind::kRead, &holder.schema, {1});
  constexpr std::string_view kCount =
      "SELECT VARIABLE_VALUE{} FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
      "'PREPARED_STMT_COUNT'";
  const std::string before = SqlText(fmt::format(kCount, ""));
  AnyClient& client = Connected();
  EXPECT_EQ(SqlText(fmt::format(kCount, " - " + before)), IsPrepared() ? "1" : "0");
  EXPECT_EQ(client.Close().op.outcome, Outcome::kOk);
  WaitForText(fmt::format(kCount, " <= " + before + " OR NULL"));
}

TEST_P(OperationsTest, ConnectsWithTlsCompressionAndPlugins) {
  const char* ca = std::getenv("CAVALRY_MARIADB_CA");
  if (ca == nullptr || *ca == '\0') GTEST_SKIP() << "the server offers no TLS (CAVALRY_MARIADB_CA)";
  const OperationPlan& cipher =
      AddNative("SHOW SESSION STATUS WHERE Variable_name IN ('Compression', 'Ssl_version')");
  const auto connect = [&](std::vector<Setting> more, RowCollector* rows) {
    Settings settings = WaySettings();
    for (Setting& setting : more) settings.Add(std::move(setting));
    client_.emplace(settings, plans_);
    Result result = client_->Connect();
    if (result.op.outcome == Outcome::kOk && rows != nullptr) client_->Run(cipher, {}, {}, rows);
    return result;
  };
  RowCollector plain;
  EXPECT_EQ(connect({}, &plain).op.outcome, Outcome::kOk);
  EXPECT_EQ(plain.rows,
            (std::vector<RowCollector::Row>{{"Compression", "OFF"}, {"Ssl_version", ""}}));
  RowCollector secret;
  const Result verified = connect({{"tls", "true"}, {"tls.ca", ca}, {"compress", "true"}}, &secret);
  EXPECT_EQ(verified.op.outcome, Outcome::kOk) << verified.text;
  ASSERT_EQ(secret.rows.size(), 2u);
  EXPECT_EQ(secret.rows[0], (RowCollector::Row{"Compression", "ON"}));
  EXPECT_TRUE(secret.rows[1][1]->starts_with("TLSv1.")) << *secret.rows[1][1];
  // The system's authorities do not know ours.
  const Result unknown = connect({{"tls", "true"}}, nullptr);
  EXPECT_EQ(unknown.op.outcome, Outcome::kRejected);
  EXPECT_EQ(unknown.code, "2026") << unknown.text;
  RowCollector unverified;
  const Result loose = connect({{"tls", "true"}, {"tls.verify", "false"}}, &unverified);
  EXPECT_EQ(loose.op.outcome, Outcome::kOk) << loose.text;
  ASSERT_EQ(unverified.rows.size(), 2u);
  EXPECT_NE(unverified.rows[1][1], "");
}

// C22: each session has a connection of its own.
TEST_P(OperationsTest, ManySessionsShareNothing) {
  const OperationPlan& one = AddNative("SELECT 1");
  constexpr std::string_view kConnections =
      "SELECT VARIABLE_VALUE{} FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
      "'CONNECTIONS'";
  const std::string before = SqlText(fmt::format(kConnections, ""));
  std::vector<std::unique_ptr<AnyClient>> clients;
  for (int i = 0; i < 25; ++i) {
    clients.push_back(std::make_unique<AnyClient>(WaySettings(), plans_));
    ASSERT_EQ(clients.back()->Connect().op.outcome, Outcome::kOk);
  }
  int ok = 0;
  for (int i = 0; i < 400; ++i) {
    for (const auto& client : clients) ok += client->Run(one).op.outcome == Outcome::kOk;
  }
  EXPECT_EQ(ok, 10'000);
  EXPECT_EQ(SqlText(fmt::format(kConnections, " - " + before)), "25");
}

// C20.
TEST_P(OperationsTest, TheLimitOfPreparedStatementsIsAnErrorOfTheConnect) {
  auto address =
      ReadServerAddress(With(With(ServerSettings("unix"), "user", "root"), "password", ""));
  ASSERT_TRUE(address.ok()) << address.status();
  AdminConnection root(*address);
  if (!root.Connect().ok()) GTEST_SKIP() << "no root who may set max_prepared_stmt_count";
  if (!IsPrepared()) GTEST_SKIP() << "nothing is prepared";
  const auto usual = root.QueryText("SELECT @@max_prepared_stmt_count");
  ASSERT_TRUE(usual.ok() && *usual);
  ASSERT_TRUE(root.Execute("SET GLOBAL max_prepared_stmt_count = 10").ok());
  AddNative("SELECT 1");
  int connected = 0;
  int refused = 0;
  {
    std::vector<std::unique_ptr<AnyClient>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<AnyClient>(WaySettings(), plans_));
      const Result result = clients.back()->Connect();
      connected += result.op.outcome == Outcome::kOk;
      if (result.code != "1461") continue;
      ++refused;
      EXPECT_EQ(result.op.outcome, Outcome::kRejected);
      EXPECT_EQ(result.op.severity, Severity::kReconnect);
      EXPECT_NE(result.text.find("raise max_prepared_stmt_count"), std::string::npos);
    }
  }
  EXPECT_EQ(connected, 10);
  EXPECT_EQ(refused, 10);
  EXPECT_TRUE(root.Execute("SET GLOBAL max_prepared_stmt_count = " + **usual).ok());
  WaitForText(
      "SELECT VARIABLE_VALUE = 0 OR NULL FROM information_schema.GLOBAL_STATUS WHERE "
      "VARIABLE_NAME = 'PREPARED_STMT_COUNT'");
}

// A user who logs in by a plugin. Null with a reason where there can be none.
class PluginUser {
 public:
  explicit PluginUser(const Settings& root) {
    auto address = ReadServerAddress(root);
    EXPECT_TRUE(address.ok()) << address.status();
    admin_ = std::make_unique<AdminConnection>(*address);
    status_ = admin_->Connect();
    if (status_.ok()) {
      status_ = admin_->Execute(
          "CREATE OR REPLACE USER ops_ed25519@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')");
    }
    if (status_.ok()) status_ = admin_->Execute("GRANT ALL ON test.* TO ops_ed25519@'%'");
  }
  ~PluginUser() {
    if (!status_.ok()) return;
    EXPECT_TRUE(admin_->Execute("DROP USER ops_ed25519@'%'").ok());
  }
  const Status& status() const { return status_; }

 private:
  std::unique_ptr<AdminConnection> admin_;
  Status status_;
};

// C25. Before the next test: a plugin that is loaded is not looked for again.
TEST_P(OperationsTest, AMissingPluginIsNamedWithItsFolderAndFatal) {
  const PluginUser user(With(With(ServerSettings("unix"), "user", "root"), "password", ""));
  if (!user.status().ok()) GTEST_SKIP() << "root cannot make the user: " << user.status();
  Settings settings = With(With(WaySettings(), "user", "ops_ed25519"), "password", "secret");
  settings.Add({"plugin_dir", "/nonexistent"});
  client_.emplace(settings, plans_);
  const std::string aborted = SqlText(kAbortedConnects);
  const Nanos begin = MonotonicNow();
  const Result result = client_->Connect();
  EXPECT_LT(MonotonicNow() - begin, 2 * kSecond);
  EXPECT_EQ(result.op.outcome, Outcome::kRejected);
  EXPECT_EQ(result.op.severity, Severity::kFatal);
  EXPECT_NE(result.text.find("client_ed25519"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("/nonexistent"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("as the target's plugin_dir"), std::string::npos) << result.text;
  EXPECT_LE(std::stoi(SqlText(kAbortedConnects)), std::stoi(aborted) + 1);
}

TEST_P(OperationsTest, LogsInByAPlugin) {
  const PluginUser user(With(With(ServerSettings("unix"), "user", "root"), "password", ""));
  if (!user.status().ok()) GTEST_SKIP() << "root cannot make the user: " << user.status();
  client_.emplace(With(With(WaySettings(), "user", "ops_ed25519"), "password", "secret"), plans_);
  const Result result = client_->Connect();
  EXPECT_EQ(result.op.outcome, Outcome::kOk) << result.text;
}

TEST_P(OperationsTest, ABlockingCallEndsAtItsDeadlineOrWhenInterrupted) {
  if (!IsBlocking()) GTEST_SKIP() << "deadlines of non-blocking calls are the worker's";
  const OperationPlan& sleep = AddNative("SELECT SLEEP(20)");
  client_.emplace(WaySettings(), plans_, 300 * kMillisecond);
  AnyClient& client = *client_;
  ASSERT_EQ(client.Connect().op.outcome, Outcome::kOk);
  Nanos begin = MonotonicNow();
  const Result late = client.Run(sleep);
  Nanos took = MonotonicNow() - begin;
  EXPECT_EQ(late.op.outcome, Outcome::kTimeout);
  EXPECT_EQ(late.op.severity, Severity::kReconnect);
  EXPECT_GE(took, 300 * kMillisecond);
  EXPECT_LT(took, 2 * kSecond);
  // The connection can be made anew.
  ASSERT_EQ(client.Connect().op.outcome, Outcome::kOk);

  client_.emplace(WaySettings(), plans_, 30 * kSecond);
  ASSERT_EQ(client_->Connect().op.outcome, Outcome::kOk);
  std::thread interrupting([&] {
    WaitForText("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(20)'");
    client_->blocking()->Interrupt();
  });
  begin = MonotonicNow();
  EXPECT_EQ(client_->Run(sleep).op.outcome, Outcome::kBroken);
  EXPECT_LT(MonotonicNow() - begin, 15 * kSecond);
  interrupting.join();
  EXPECT_EQ(client_->Connect().op.outcome, Outcome::kBroken);
}

}  // namespace
}  // namespace cavalry::drivers::mysql
