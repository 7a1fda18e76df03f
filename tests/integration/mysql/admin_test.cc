// Schema work against a real server: marks, tables that are not ours, locks, rows in and out.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string>

#include "core/base/unique_fd.h"
#include "drivers/mysql/mysql_driver.h"
#include "tests/integration/mysql/fixture.h"

namespace cavalry::drivers::mysql {
namespace {

class AdminTest : public MysqlTest {
 protected:
  static TestTable Customer(std::string name) {
    TestTable table(std::move(name), {{"id", "int"}, {"na`me", "varchar(40)?"}, {"n", "int"}});
    table.schema.rows = 3;
    return table;
  }
  static Status Fill(Admin* admin, const TableSchema& schema) {
    const std::array values = {
        Value::Integer(1),  Value::Text("it's \\ one"), Value::Integer(10), Value::Integer(2),
        Value::Null(),      Value::Integer(20),         Value::Integer(3),  Value::Text("騎兵"),
        Value::Integer(-30)};
    return admin->InsertRows(schema, values);
  }
  TableInfo Described(Admin* admin, const TableSchema& schema) {
    auto info = admin->Describe(schema);
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? *info : TableInfo{};
  }
};

TEST_F(AdminTest, ATableGoesFromNothingToFilledToUsedToEmptyToNothing) {
  const TestTable table = Customer("admin_life");
  Sql("DROP TABLE IF EXISTS admin_life");
  const auto admin = NewAdmin();
  EXPECT_FALSE(Described(admin.get(), table.schema).exists);

  ASSERT_TRUE(admin->Create(table.schema).ok());
  TableInfo info = Described(admin.get(), table.schema);
  EXPECT_TRUE(info.exists && info.marked && info.same_schema);
  EXPECT_FALSE(info.filled);
  EXPECT_EQ(SqlText("SELECT CONCAT(ENGINE, ' ', TABLE_COLLATION) FROM information_schema.TABLES "
                    "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'admin_life'"),
            "InnoDB utf8mb4_bin");

  const Status filled = Fill(admin.get(), table.schema);
  ASSERT_TRUE(filled.ok()) << filled;
  EXPECT_FALSE(Described(admin.get(), table.schema).filled) << "not before it is marked so";
  ASSERT_TRUE(admin->Mark(table.schema, TableMark::kFilled).ok());
  info = Described(admin.get(), table.schema);
  EXPECT_TRUE(info.filled);
  EXPECT_EQ(info.rows, 3u);
  EXPECT_EQ(info.max_key, 3u);

  ASSERT_TRUE(admin->Mark(table.schema, TableMark::kUsed).ok());
  EXPECT_FALSE(Described(admin.get(), table.schema).filled);

  ASSERT_TRUE(admin->Truncate(table.schema).ok());
  info = Described(admin.get(), table.schema);
  EXPECT_TRUE(info.marked);
  EXPECT_FALSE(info.filled);
  EXPECT_EQ(info.rows, 0u);
  EXPECT_EQ(info.max_key, 0u);

  ASSERT_TRUE(admin->Drop(table.schema).ok());
  EXPECT_FALSE(Described(admin.get(), table.schema).exists);
}

TEST_F(AdminTest, FilledMeansSameSchemaAndSameCount) {
  TestTable table = Customer("admin_filled");
  Recreate(table);
  const auto admin = NewAdmin();
  ASSERT_TRUE(Fill(admin.get(), table.schema).ok());
  ASSERT_TRUE(admin->Mark(table.schema, TableMark::kFilled).ok());

  table.schema.schema_hash += 1;
  TableInfo info = Described(admin.get(), table.schema);
  EXPECT_TRUE(info.marked);
  EXPECT_FALSE(info.same_schema || info.filled);
  table.schema.schema_hash -= 1;

  table.schema.rows = 4;
  EXPECT_FALSE(Described(admin.get(), table.schema).filled);
  table.schema.rows = 3;
  EXPECT_TRUE(Described(admin.get(), table.schema).filled);

  Sql("DELETE FROM admin_filled WHERE id = 2");
  EXPECT_FALSE(Described(admin.get(), table.schema).filled);
}

TEST_F(AdminTest, ATableThatCavalryDidNotCreateIsNeverTouched) {
  const TestTable table = Customer("admin_foreign");
  Sql("DROP TABLE IF EXISTS admin_foreign");
  Sql("CREATE TABLE admin_foreign (id INT PRIMARY KEY, `na``me` VARCHAR(40), n INT) "
      "COMMENT='cavalry regiments'");
  Sql("INSERT INTO admin_foreign VALUES (1, 'mine', 1)");
  const auto admin = NewAdmin();
  const TableInfo info = Described(admin.get(), table.schema);
  EXPECT_TRUE(info.exists);
  EXPECT_FALSE(info.marked || info.same_schema || info.filled);

  for (const Status& status :
       {admin->Mark(table.schema, TableMark::kEmpty), admin->Truncate(table.schema),
        admin->Drop(table.schema), Fill(admin.get(), table.schema)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(StatusText(status).find("\"admin_foreign\""), std::string::npos) << status;
    EXPECT_NE(StatusText(status).find("not created by cavalry"), std::string::npos) << status;
  }
  EXPECT_EQ(SqlText("SELECT GROUP_CONCAT(`na``me`) FROM admin_foreign"), "mine");
  EXPECT_EQ(SqlText("SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                    "DATABASE() AND TABLE_NAME = 'admin_foreign'"),
            "cavalry regiments");
  // Unless the user has named it.
  EXPECT_TRUE(admin->Drop(table.schema, /*allow_unmarked=*/true).ok());
}

TEST_F(AdminTest, AViewIsNotATableOfOurs) {
  const TestTable table = Customer("admin_view");
  Sql("DROP TABLE IF EXISTS admin_view");
  Sql("CREATE OR REPLACE VIEW admin_view AS SELECT 1 AS id");
  const auto admin = NewAdmin();
  const TableInfo info = Described(admin.get(), table.schema);
  EXPECT_TRUE(info.exists);
  EXPECT_FALSE(info.marked);
  EXPECT_FALSE(admin->Truncate(table.schema).ok());
  EXPECT_FALSE(admin->Drop(table.schema).ok());
  Sql("DROP VIEW admin_view");
}

TEST_F(AdminTest, NamesWithCaseAndQuotesAreExact) {
  const TestTable table = Customer("admin Na`me'\"\\");
  const auto admin = NewAdmin();
  Sql("DROP TABLE IF EXISTS `admin Na``me'\"\\`");
  ASSERT_TRUE(admin->Create(table.schema).ok());
  EXPECT_TRUE(Described(admin.get(), table.schema).marked);
  if (SqlText("SELECT @@lower_case_table_names") == "0") {
    EXPECT_FALSE(Described(admin.get(), Customer("ADMIN Na`me'\"\\").schema).exists);
  }
  EXPECT_TRUE(admin->Drop(table.schema).ok());
}

TEST_F(AdminTest, RowsComeBackAsTheyWereWritten) {
  const TestTable table = Customer("admin_rows");
  Recreate(table);
  const auto admin = NewAdmin();
  ASSERT_TRUE(Fill(admin.get(), table.schema).ok());

  const std::array<std::uint64_t, 4> keys = {3, 99, 1, 2};
  const std::array<std::uint32_t, 2> columns = {2, 1};
  std::vector<std::string> rows;
  const Status read =
      admin->ReadRows(table.schema, keys, columns, [&](std::uint64_t key, const auto& fields) {
        rows.push_back(fmt::format("{} {} {}", key, fields[0].text,
                                   fields[1].is_null ? "NULL" : fields[1].text));
      });
  ASSERT_TRUE(read.ok()) << read;
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (std::vector<std::string>{"1 10 it's \\ one", "2 20 NULL", "3 -30 騎兵"}));
}

TEST_F(AdminTest, ManyRowsGoInBatches) {
  TestTable table("admin_many", {{"id", "int"}, {"text", "varchar(255)"}});
  Recreate(table);
  const auto admin = NewAdmin();
  constexpr std::int64_t kRows = 12'000;
  const std::string text(200, '\'');  // doubled by escaping: some 5 MB in all
  std::vector<Value> values;
  for (std::int64_t key = 1; key <= kRows; ++key) {
    values.push_back(Value::Integer(key));
    values.push_back(Value::Text(text));
  }
  const Status inserted = admin->InsertRows(table.schema, values);
  ASSERT_TRUE(inserted.ok()) << inserted;
  EXPECT_EQ(SqlText("SELECT CONCAT(COUNT(*), ' ', MIN(LENGTH(text))) FROM admin_many"),
            "12000 200");

  std::vector<std::uint64_t> keys(kRows);
  std::iota(keys.begin(), keys.end(), 1);
  std::uint64_t found = 0;
  const Status read = admin->ReadRows(table.schema, keys, {},
                                      [&](std::uint64_t, std::span<const Field>) { ++found; });
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(found, keys.size());
}

TEST_F(AdminTest, AValueThatDoesNotFitIsAnErrorNotACut) {
  TestTable table("admin_strict", {{"id", "int"}, {"text", "varchar(3)"}});
  Recreate(table);
  const auto admin = NewAdmin();
  const std::array values = {Value::Integer(1), Value::Text("four")};
  const Status status = admin->InsertRows(table.schema, values);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(StatusText(status).find("1406"), std::string::npos) << status;
  EXPECT_EQ(SqlText("SELECT COUNT(*) FROM admin_strict"), "0");
}

TEST_F(AdminTest, AnUnknownEngineIsAnError) {
  TestTable table("admin_engine", {{"id", "int"}});
  table.schema.engine = "NoSuchEngine";
  Sql("DROP TABLE IF EXISTS admin_engine");
  const Status status = NewAdmin()->Create(table.schema);
  EXPECT_NE(StatusText(status).find("NoSuchEngine"), std::string::npos) << status;
}

TEST_F(AdminTest, DdlThatWaitsForALockNamesItsHolder) {
  const TestTable table = Customer("admin_lock");
  Recreate(table);
  Sql("START TRANSACTION");
  SqlText("SELECT COUNT(*) FROM admin_lock");
  const std::string holder = SqlText("SELECT CONNECTION_ID()");
  const Nanos before = MonotonicNow();
  const Status status = NewAdmin()->Truncate(table.schema);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_LT(MonotonicNow() - before, 15 * kSecond);
  const std::string text = StatusText(status);
  EXPECT_NE(text.find("\"admin_lock\" may be held by"), std::string::npos) << text;
  EXPECT_NE(text.find("connection " + holder + " ("), std::string::npos) << text;
  Sql("ROLLBACK");
  const Status again = NewAdmin()->Truncate(table.schema);
  EXPECT_TRUE(again.ok()) << again;
}

TEST_F(AdminTest, DdlThatWaitsForHandlerSocketSaysSo) {
  const char* port = std::getenv("CAVALRY_HANDLERSOCKET_PORT");
  const char* secret = std::getenv("CAVALRY_HANDLERSOCKET_SECRET");
  if (port == nullptr || secret == nullptr) GTEST_SKIP() << "no HandlerSocket in the environment";
  const TestTable table = Customer("admin_hs");
  Recreate(table);
  // An open index keeps the table open.
  UniqueFd socket_fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string request = fmt::format("A\t1\t{}\nP\t0\t{}\tadmin_hs\tPRIMARY\tid\n0\t=\t1\t1\n",
                                          secret, SqlText("SELECT DATABASE()"));
  ASSERT_EQ(send(socket_fd.get(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  std::string answers;
  while (std::count(answers.begin(), answers.end(), '\n') < 3) {
    char byte = 0;
    ASSERT_EQ(recv(socket_fd.get(), &byte, 1, 0), 1) << answers;
    answers.push_back(byte);
  }
  const Status status = NewAdmin()->Drop(table.schema);
  if (status.ok()) return;  // the plugin closes its tables when it has been idle
  EXPECT_NE(StatusText(status).find("HandlerSocket"), std::string::npos) << status;
}

TEST_F(AdminTest, ColumnsOfAnExistingTableAreChecked) {
  const TestTable table = Customer("admin_columns");
  Sql("DROP TABLE IF EXISTS admin_columns");
  const auto admin = NewAdmin();
  EXPECT_NE(StatusText(admin->CheckColumns(table.schema)).find("does not exist"),
            std::string::npos);
  Sql("CREATE TABLE admin_columns (ID BIGINT PRIMARY KEY, `na``me` VARCHAR(100), n INT, extra "
      "TEXT)");
  const Status fits = admin->CheckColumns(table.schema);
  EXPECT_TRUE(fits.ok()) << fits;
  Sql("ALTER TABLE admin_columns DROP COLUMN n, DROP PRIMARY KEY, ADD PRIMARY KEY (id, `na``me`)");
  const std::string text = StatusText(admin->CheckColumns(table.schema));
  EXPECT_NE(text.find("no column \"n\""), std::string::npos) << text;
  EXPECT_NE(text.find("primary key is not the column \"id\" alone"), std::string::npos) << text;
}

TEST_F(AdminTest, CreatesWhatASchemaCanSay) {
  TestTable table("admin_whole", {{"region", "varchar(10)"},
                                  {"id", "bigint unsigned"},
                                  {"flag", "boolean"},
                                  {"f", "float?"},
                                  {"d", "double"},
                                  {"money", "decimal(12,3)"},
                                  {"b", "binary(4)"},
                                  {"vb", "varbinary(20)"},
                                  {"blob_", "mediumblob"},
                                  {"text_", "longtext"},
                                  {"day", "date"},
                                  {"time_", "time"},
                                  {"at", "datetime"},
                                  {"stamp", "timestamp"},
                                  {"year_", "year"},
                                  {"doc", "json"},
                                  {"tiny", "tinyint unsigned"}});
  TableSchema& schema = table.schema;
  schema.key_columns = {0, 1};
  schema.key_is_number = false;
  schema.columns[16].default_sql = "7";
  schema.columns[12].default_sql = "now()";
  schema.columns[12].server_sql = "'2020-02-02' + INTERVAL 1 HOUR";
  schema.indexes = {{"by_day", {10, 1}, false}, {"by_money", {5, 0, 1}, true}};
  schema.collation = "utf8mb4_general_ci";
  schema.row_format = "dynamic";
  schema.partition_by = "HASH(id) PARTITIONS 3";
  const auto admin = NewAdmin();
  Sql("DROP TABLE IF EXISTS admin_whole");
  const Status created = admin->Create(schema);
  ASSERT_TRUE(created.ok()) << created;
  EXPECT_TRUE(Described(admin.get(), schema).same_schema);
  EXPECT_EQ(StatusText(admin->CheckColumns(schema)), "");
  EXPECT_EQ(SqlText("SELECT COUNT(*) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = "
                    "DATABASE() AND TABLE_NAME = 'admin_whole'"),
            "3");
  EXPECT_EQ(SqlText("SELECT GROUP_CONCAT(INDEX_NAME, NON_UNIQUE, COLUMN_NAME ORDER BY INDEX_NAME, "
                    "SEQ_IN_INDEX) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = "
                    "DATABASE() AND TABLE_NAME = 'admin_whole' AND INDEX_NAME <> 'PRIMARY'"),
            "by_day1day,by_day1id,by_money0money,by_money0region,by_money0id");

  const std::array row = {Value::Text("n"),
                          Value::Unsigned(5),
                          Value::Integer(1),
                          Value::Text("1.5"),
                          Value::Text("-2.25"),
                          Value::Text("1.125"),
                          Value::Binary("ab"),
                          Value::Binary("\x01"),
                          Value::Binary("x"),
                          Value::Text("t"),
                          Value::Text("2001-01-01"),
                          Value::Text("10:11:12"),
                          Value::Null(),
                          Value::Text("2001-02-03 04:05:06"),
                          Value::Integer(1999),
                          Value::Text("{\"a\": 1}"),
                          Value::Integer(200)};
  const Status inserted = admin->InsertRows(schema, row);
  ASSERT_TRUE(inserted.ok()) << inserted;
  const std::array columns = {3u, 4u, 5u, 6u, 11u, 12u, 13u, 14u, 15u, 16u};
  std::string fields;
  const auto visit = [&](std::span<const Field> found) {
    for (const Field& field : found) fields += std::string(field.text) + "|";
  };
  const auto found = admin->ReadRow(schema, std::span(row).first(2), columns, visit);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(*found);
  using std::string_literals::operator""s;
  EXPECT_EQ(fields,
            "1.5|-2.25|1.125|ab\0\0|10:11:12|2020-02-02 01:00:00|2001-02-03 04:05:06|1999|"
            "{\"a\": 1}|200|"s);
  const std::array none = {Value::Text("n"), Value::Unsigned(6)};
  EXPECT_FALSE(*admin->ReadRow(schema, none, {}, visit));
  EXPECT_TRUE(*admin->ReadRow(schema, std::span(row).first(2), {}, visit));

  Sql("ALTER TABLE admin_whole DROP PRIMARY KEY, ADD PRIMARY KEY (id)");
  EXPECT_NE(StatusText(admin->CheckColumns(schema)).find("columns \"region\", \"id\" alone"),
            std::string::npos);
}

TEST_F(AdminTest, NativeStatementsAreReadToTheirEnd) {
  const auto admin = NewAdmin();
  EXPECT_EQ(*admin->RunNative("SELECT seq FROM seq_1_to_1000"), 1'000u);
  EXPECT_EQ(*admin->RunNative("SELECT 1; SET @x = 1; SELECT seq FROM seq_1_to_3;"), 4u);
  EXPECT_EQ(*admin->RunNative("DO 1"), 0u);
  const auto failed = admin->RunNative("SELECT 1; SELECT no_such_column; SELECT 2");
  EXPECT_NE(StatusText(failed.status()).find("1054"), std::string::npos) << failed.status();
  EXPECT_EQ(*admin->RunNative("SELECT 1"), 1u);
}

TEST_F(AdminTest, CountersRiseWithWhatIsDone) {
  const auto admin = NewAdmin();
  const auto counter = [&](std::string_view wanted) {
    const auto counters = admin->Counters();
    EXPECT_TRUE(counters.ok()) << counters.status();
    for (const auto& [name, count] : *counters) {
      if (name == wanted) return count;
    }
    ADD_FAILURE() << "no counter " << wanted;
    return std::uint64_t{0};
  };
  for (const char* name : {"Innodb_buffer_pool_reads", "Innodb_data_reads", "Innodb_data_fsyncs",
                           "Innodb_row_lock_waits", "Rows_read", "Com_commit"}) {
    counter(name);
  }
  const std::uint64_t questions = counter("Questions");
  const std::uint64_t sent = counter("Bytes_sent");
  EXPECT_TRUE(admin->RunNative("SELECT REPEAT('x', 100000)").ok());
  EXPECT_GT(counter("Questions"), questions);
  EXPECT_GE(counter("Bytes_sent"), sent + 100'000);
}

TEST_F(AdminTest, AnExistingTableIsCountedWhenItIsToBeUsed) {
  TestTable table("admin_use", {{"id", "int"}});
  table.schema.use_as_is = true;
  Sql("DROP TABLE IF EXISTS admin_use");
  Sql("CREATE TABLE admin_use (id INT PRIMARY KEY)");
  Sql("INSERT INTO admin_use VALUES (5), (7)");
  const TableInfo info = Described(NewAdmin().get(), table.schema);
  EXPECT_EQ(info.rows, 2u);
  EXPECT_EQ(info.max_key, 7u);
  EXPECT_FALSE(info.filled || info.marked);
}

TEST_F(AdminTest, VariablesAreToldAndSecretsAreNot) {
  const auto variables = NewAdmin()->ServerVariables();
  ASSERT_TRUE(variables.ok()) << variables.status();
  bool version = false;
  for (const auto& [name, value] : *variables) {
    version |= name == "version" && !value.empty();
    EXPECT_EQ(name.find("secret"), std::string::npos);
  }
  EXPECT_TRUE(version);
}

TEST_F(AdminTest, LimitsNameTheVariableToRaise) {
  auto admin = GetDriver().NewAdmin(ServerSettings("tcp", "prepared"));
  ASSERT_TRUE(admin.ok() && (*admin)->Connect().ok());
  const auto none = (*admin)->Limits(1);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->empty()) << fmt::format("{}", fmt::join(*none, "\n"));
  const auto all = (*admin)->Limits(10'000'000, 4);
  ASSERT_TRUE(all.ok()) << all.status();
  const std::string text = fmt::format("{}", fmt::join(*all, "\n"));
  for (const char* name :
       {"max_connections is ", "max_prepared_stmt_count is ", "10,000,000 sessions", "40,000,0",
        "table_open_cache is ", "open_files_limit is "}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << " in " << text;
  }
  const auto large = (*admin)->Limits(1, 1, 5'000'000'000);
  ASSERT_TRUE(large.ok());
  ASSERT_EQ(large->size(), 1u);
  EXPECT_NE(large->front().find("5,000,000,000 bytes, but max_allowed_packet is "),
            std::string::npos)
      << large->front();
  // Text statements need no prepared ones.
  const auto plain = NewAdmin()->Limits(10'000'000, 4);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(fmt::format("{}", fmt::join(*plain, "")).find("prepared"), std::string::npos);
}

TEST_F(AdminTest, HandlerSocketsSecretsAreLookedUp) {
  const char* read = std::getenv("CAVALRY_HANDLERSOCKET_SECRET");
  const char* write = std::getenv("CAVALRY_HANDLERSOCKET_WRITE_SECRET");
  if (read == nullptr || write == nullptr) GTEST_SKIP() << "no HandlerSocket in the environment";
  const auto admin = NewAdmin();
  EXPECT_EQ(*admin->LookUpSecret("handlersocket", "secret"), read);
  EXPECT_EQ(*admin->LookUpSecret("handlersocket", "write_secret"), write);
  EXPECT_EQ(admin->LookUpSecret("memcached", "secret").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(AdminTest, ConnectErrorsSayWhatToDo) {
  const auto text = [](const Settings& settings) {
    auto admin = GetDriver().NewAdmin(settings);
    EXPECT_TRUE(admin.ok()) << admin.status();
    return StatusText((*admin)->Connect());
  };
  const std::string password = text(With(ServerSettings(), "password", "wrong"));
  EXPECT_NE(password.find("check user and password"), std::string::npos) << password;
  EXPECT_NE(password.find("1045"), std::string::npos) << password;
  const std::string database = text(With(ServerSettings(), "database", "no_such_db"));
  EXPECT_NE(database.find("no_such_db"), std::string::npos) << database;
  // Port 1 is nobody's.
  const std::string port = text(With(ServerSettings(), "port", "1"));
  EXPECT_NE(port.find("is the server running"), std::string::npos) << port;
}

}  // namespace
}  // namespace cavalry::drivers::mysql
