// The cassandra driver against a real server, named by CAVALRY_CASSANDRA_HOST and
// CAVALRY_CASSANDRA_PORT (9042 when absent). Its tables are in a keyspace of their own, which is
// dropped at the end.
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/cassandra_driver.h"
#include "drivers/cassandra/cluster.h"
#include "drivers/cassandra/murmur3.h"
#include "drivers/cassandra/target_options.h"
#include "drivers/cassandra/token_ring.h"
#include "drivers/cassandra/value_format.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::string_view kKeyspace = "cavalry_it";

using Texts = std::vector<std::optional<std::string>>;

Texts Copy(std::span<const Field> fields) {
  Texts texts;
  for (const Field& field : fields) {
    if (field.is_null) {
      texts.emplace_back();
    } else {
      texts.emplace_back(field.text);
    }
  }
  return texts;
}

Column MakeColumn(std::string name, std::string_view type, bool nullable = true) {
  Column column;
  column.name = std::move(name);
  column.type = ParseColumnType(type).value();
  column.nullable = nullable;
  return column;
}

TableSchema MakeTable(std::string name, std::vector<Column> columns) {
  TableSchema table;
  table.name = std::move(name);
  table.columns = std::move(columns);
  table.engine = "InnoDB";
  table.schema_hash = 0x1234;
  return table;
}

class Cassandra : public testing::Test {
 protected:
  void SetUp() override {
    const char* const host = std::getenv("CAVALRY_CASSANDRA_HOST");
    if (host == nullptr || *host == '\0') {
      GTEST_SKIP() << "CAVALRY_CASSANDRA_HOST names no server: see deploy/sandbox start cassandra";
    }
    const char* const port = std::getenv("CAVALRY_CASSANDRA_PORT");
    settings_.Add({"contact_points", host, false, ""});
    settings_.Add({"port", port == nullptr ? "9042" : port, false, ""});
    settings_.Add({"keyspace", std::string(kKeyspace), false, ""});
    admin_ = Connect();
    ASSERT_EQ(Native("DROP KEYSPACE IF EXISTS cavalry_it"), "");
  }

  void TearDown() override {
    if (admin_ == nullptr) return;
    EXPECT_EQ(Native("DROP KEYSPACE IF EXISTS cavalry_it"), "");
  }

  std::unique_ptr<Admin> Connect() const {
    auto admin = GetDriver().NewAdmin(settings_);
    EXPECT_TRUE(admin.ok()) << StatusText(admin.status());
    if (!admin.ok()) return nullptr;
    EXPECT_EQ(StatusText((*admin)->Connect()), "");
    return *std::move(admin);
  }

  std::string Native(std::string_view cql) const {
    return StatusText(admin_->RunNative(cql).status());
  }

  TableInfo Describe(const TableSchema& table) const {
    const auto info = admin_->Describe(table);
    EXPECT_TRUE(info.ok()) << StatusText(info.status());
    return info.value_or(TableInfo{});
  }

  // Rows by key, of all columns.
  std::map<std::uint64_t, Texts> Read(const TableSchema& table, std::vector<std::uint64_t> keys) {
    std::vector<std::uint32_t> columns(table.columns.size());
    std::iota(columns.begin(), columns.end(), 0U);
    std::map<std::uint64_t, Texts> rows;
    const Status status = admin_->ReadRows(
        table, keys, columns,
        [&](std::uint64_t key, std::span<const Field> row) { rows[key] = Copy(row); });
    EXPECT_EQ(StatusText(status), "");
    return rows;
  }

  Cluster Open() const {
    auto options = ReadOptions(settings_);
    EXPECT_TRUE(options.ok());
    auto cluster = OpenCluster(*options, {options->codec, nullptr, 10 * kSecond, 30 * kSecond});
    EXPECT_TRUE(cluster.ok()) << StatusText(cluster.status());
    return *std::move(cluster);
  }

  Settings settings_;
  std::unique_ptr<Admin> admin_;
};

TEST_F(Cassandra, ATableIsMadeFilledMarkedEmptiedAndDropped) {
  constexpr std::uint64_t kRows = 3'000;
  TableSchema table =
      MakeTable("user", {MakeColumn("id", "int", false), MakeColumn("Name", "varchar(20)")});
  table.rows = kRows;
  EXPECT_FALSE(Describe(table).exists);
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  EXPECT_EQ(StatusText(admin_->CheckColumns(table)), "");
  TableInfo info = Describe(table);
  EXPECT_TRUE(info.exists && info.marked && info.same_schema);
  EXPECT_FALSE(info.filled);
  EXPECT_EQ(info.rows, 0U);
  std::vector<Value> values;
  for (std::uint64_t id = 1; id <= kRows; ++id) {
    values.push_back(Value::Unsigned(id));
    values.push_back(Value::Text("some name"));
  }
  ASSERT_EQ(StatusText(admin_->InsertRows(table, values)), "");
  ASSERT_EQ(StatusText(admin_->Mark(table, TableMark::kFilled)), "");
  info = Describe(table);
  EXPECT_TRUE(info.filled);
  EXPECT_EQ(info.rows, kRows);
  EXPECT_EQ(info.max_key, kRows);
  EXPECT_EQ(Read(table, {1, kRows, kRows + 1}).size(), 2U);
  ASSERT_EQ(StatusText(admin_->Mark(table, TableMark::kUsed)), "");
  EXPECT_FALSE(Describe(table).filled);
  table.schema_hash = 7;
  EXPECT_FALSE(Describe(table).same_schema);
  EXPECT_EQ(Describe(table).rows, kRows);
  table.schema_hash = 0x1234;
  ASSERT_EQ(StatusText(admin_->Truncate(table)), "");
  info = Describe(table);
  EXPECT_TRUE(info.marked);
  EXPECT_EQ(info.rows, 0U);
  ASSERT_EQ(StatusText(admin_->Drop(table)), "");
  EXPECT_FALSE(Describe(table).exists);
  // Once more, with the session's statements prepared for the table that is gone.
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  EXPECT_EQ(StatusText(admin_->InsertRows(table, std::span(values).first(2))), "");
  EXPECT_EQ(Read(table, {1}).size(), 1U);
}

TEST_F(Cassandra, AllTypesReadBackAsWritten) {
  const TableSchema table =
      MakeTable("types", {MakeColumn("id", "bigint", false), MakeColumn("t", "tinyint"),
                          MakeColumn("s", "smallint"),       MakeColumn("m", "mediumint unsigned"),
                          MakeColumn("i", "int unsigned"),   MakeColumn("b", "bigint unsigned"),
                          MakeColumn("flag", "boolean"),     MakeColumn("f", "float"),
                          MakeColumn("d", "double"),         MakeColumn("price", "decimal(15,2)"),
                          MakeColumn("c", "char(5)"),        MakeColumn("v", "varchar(20)"),
                          MakeColumn("x", "text"),           MakeColumn("j", "json"),
                          MakeColumn("bin", "varbinary(9)"), MakeColumn("day", "date"),
                          MakeColumn("clock", "time"),       MakeColumn("made", "datetime"),
                          MakeColumn("seen", "timestamp"),   MakeColumn("y", "year")});
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  EXPECT_EQ(StatusText(admin_->CheckColumns(table)), "");
  const std::string_view bytes("\0'\xff\n", 4);
  std::vector<Value> values = {Value::Integer(1),
                               Value::Integer(-128),
                               Value::Integer(-32768),
                               Value::Unsigned(16777215),
                               Value::Unsigned(4294967295),
                               Value::Unsigned(18446744073709551615U),
                               Value::Integer(1),
                               Value::Text("1.5"),
                               Value::Text("-2.25"),
                               Value::Text("-999.90"),
                               Value::Text("abc"),
                               Value::Text("it's \xc3\xa9"),
                               Value::Text(""),
                               Value::Text("{\"a\": 1}"),
                               Value::Binary(bytes),
                               Value::Text("1969-12-31"),
                               Value::Text("23:59:59"),
                               Value::Text("2026-01-31 12:00:00"),
                               Value::Text("1970-01-01 00:00:01"),
                               Value::Integer(2026)};
  const std::size_t width = table.columns.size();
  ASSERT_EQ(values.size(), width);
  // The second row has NULL in all but the key.
  values.push_back(Value::Integer(2));
  values.resize(2 * width);
  ASSERT_EQ(StatusText(admin_->InsertRows(table, values)), "");
  const auto rows = Read(table, {1, 2});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.at(1), Texts({"1",
                               "-128",
                               "-32768",
                               "16777215",
                               "4294967295",
                               "18446744073709551615",
                               "1",
                               "1.5",
                               "-2.25",
                               "-999.90",
                               "abc",
                               "it's \xc3\xa9",
                               "",
                               "{\"a\": 1}",
                               std::string(bytes),
                               "1969-12-31",
                               "23:59:59",
                               "2026-01-31 12:00:00",
                               "1970-01-01 00:00:01",
                               "2026"}));
  Texts nulls(width);
  nulls[0] = "2";
  EXPECT_EQ(rows.at(2), nulls);
  // The same as text, which must come to the same.
  OperationPlan insert;
  insert.kind = OperationKind::kInsert;
  insert.table = &table;
  insert.columns.resize(width);
  std::iota(insert.columns.begin(), insert.columns.end(), 0U);
  StatementOptions options;
  options.keyspace = std::string(kKeyspace);
  values[0] = Value::Integer(3);
  ByteBuffer text;
  ASSERT_TRUE(AppendText(PlanStatement(options, insert),
                         {&insert, {}, std::span(values).first(width), nullptr}, text));
  ASSERT_EQ(Native(text.view()), "");
  Texts first = rows.at(1);
  first[0] = "3";
  EXPECT_EQ(Read(table, {3})[3], first);
}

TEST_F(Cassandra, RowsAreFoundByAKeyOfSeveralColumns) {
  TableSchema table =
      MakeTable("lines", {MakeColumn("item", "varchar(10)", false),
                          MakeColumn("order", "bigint", false), MakeColumn("n", "int")});
  table.key_columns = {1, 0};
  table.key_is_number = false;
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  EXPECT_EQ(StatusText(admin_->CheckColumns(table)), "");
  const std::vector<Value> values = {Value::Text("a"), Value::Integer(7), Value::Integer(1),
                                     Value::Text("b"), Value::Integer(7), Value::Null()};
  ASSERT_EQ(StatusText(admin_->InsertRows(table, values)), "");
  EXPECT_EQ(Describe(table).rows, 2U);
  const std::array<Value, 2> key = {Value::Integer(7), Value::Text("b")};
  const std::array<std::uint32_t, 2> columns = {2, 0};
  Texts row;
  auto found = admin_->ReadRow(table, key, columns, [&](auto fields) { row = Copy(fields); });
  ASSERT_TRUE(found.ok()) << StatusText(found.status());
  EXPECT_TRUE(*found);
  EXPECT_EQ(row, Texts({std::nullopt, "b"}));
  const std::array<Value, 2> other = {Value::Integer(8), Value::Text("b")};
  found = admin_->ReadRow(table, other, columns, [](auto) { ADD_FAILURE(); });
  ASSERT_TRUE(found.ok()) << StatusText(found.status());
  EXPECT_FALSE(*found);
}

TEST_F(Cassandra, ATableThatIsNotOursIsLeftAlone) {
  const TableSchema table =
      MakeTable("theirs", {MakeColumn("id", "int", false), MakeColumn("n", "bigint")});
  ASSERT_EQ(Native("CREATE KEYSPACE cavalry_it WITH replication = {'class': 'SimpleStrategy', "
                   "'replication_factor': 1}"),
            "");
  ASSERT_EQ(Native("CREATE TABLE cavalry_it.theirs (id int PRIMARY KEY, n text)"), "");
  ASSERT_EQ(Native("INSERT INTO cavalry_it.theirs (id, n) VALUES (1, 'x')"), "");
  const TableInfo info = Describe(table);
  EXPECT_TRUE(info.exists);
  EXPECT_FALSE(info.marked);
  const std::array<Value, 2> row = {Value::Integer(2), Value::Integer(2)};
  for (const Status& status : {admin_->Mark(table, TableMark::kFilled), admin_->Truncate(table),
                               admin_->Drop(table), admin_->InsertRows(table, row)}) {
    EXPECT_NE(StatusText(status).find("was not created by cavalry"), std::string::npos)
        << StatusText(status);
  }
  const std::string fault = StatusText(admin_->CheckColumns(table));
  EXPECT_NE(fault.find("column \"n\" is text, not bigint"), std::string::npos) << fault;
  EXPECT_EQ(admin_->RunNative("SELECT * FROM cavalry_it.theirs").value_or(0), 1U);
  EXPECT_EQ(StatusText(admin_->Drop(table, true)), "");
}

TEST_F(Cassandra, TokensAreTheServers) {
  constexpr std::int64_t kKeys = 1'000;
  TableSchema table = MakeTable("pairs", {MakeColumn("k", "int", false), MakeColumn("t", "text")});
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  ASSERT_EQ(Native("CREATE TABLE cavalry_it.keys (a int, b text, c blob, PRIMARY KEY ((a, b)))"),
            "");
  ASSERT_EQ(Native("CREATE TABLE cavalry_it.blobs (c blob PRIMARY KEY)"), "");
  Cluster cluster = Open();
  const auto key_bytes = [](CqlType type, const Value& value) {
    ByteBuffer out;
    std::string_view why;
    EXPECT_TRUE(AppendValue(type, value, out, &why)) << why;
    return std::string(out.view().substr(4));
  };
  std::map<std::int64_t, std::int64_t> ints;  // key to token, as computed here
  std::map<std::string, std::int64_t> pairs, blobs;
  std::vector<Value> values;
  std::vector<std::string> texts;
  for (std::int64_t key = 0; key < kKeys; ++key) {
    // Lengths around blocks of 16, bytes from 0x80 on.
    std::string text(static_cast<std::size_t>(key % 40) + 1, static_cast<char>(0x80 + key % 128));
    text[0] = static_cast<char>('a' + key % 26);
    text += std::to_string(key);
    texts.push_back(std::move(text));
  }
  for (std::int64_t key = 0; key < kKeys; ++key) {
    const Value number = Value::Integer(key * 2'654'435 - 1'000'000'000);
    ints[number.integer] = Murmur3Token(key_bytes(CqlType::kInt, number));
    values.push_back(number);
  }
  ASSERT_EQ(StatusText(cluster.session->QueryAll("INSERT INTO cavalry_it.pairs (k) VALUES (?)",
                                                 values, 1, {}, Consistency::kOne, 128)),
            "");
  values.clear();
  for (std::int64_t key = 0; key < kKeys; ++key) {
    const std::string& text = texts[static_cast<std::size_t>(key)];
    blobs[text] = Murmur3Token(text);
    values.push_back(Value::Binary(text));
  }
  ASSERT_EQ(StatusText(cluster.session->QueryAll("INSERT INTO cavalry_it.blobs (c) VALUES (?)",
                                                 values, 1, {}, Consistency::kOne, 128)),
            "");
  values.clear();
  std::vector<std::string> names;
  for (std::int64_t key = 0; key < kKeys; ++key) names.push_back("n" + std::to_string(key));
  for (std::int64_t key = 0; key < kKeys; ++key) {
    const std::string& name = names[static_cast<std::size_t>(key)];
    ByteBuffer bytes;
    EXPECT_TRUE(AppendKeyPart(key_bytes(CqlType::kInt, Value::Integer(key)), bytes));
    EXPECT_TRUE(AppendKeyPart(name, bytes));
    pairs[name] = Murmur3Token(bytes.view());
    values.push_back(Value::Integer(key));
    values.push_back(Value::Text(name));
  }
  ASSERT_EQ(StatusText(cluster.session->QueryAll("INSERT INTO cavalry_it.keys (a,b) VALUES (?,?)",
                                                 values, 2, {}, Consistency::kOne, 128)),
            "");
  const auto compare = [&](std::string_view cql, auto expected) {
    std::size_t rows = 0;
    const auto status = cluster.session->Query(cql, [&](std::span<const Field> fields) {
      ++rows;
      EXPECT_EQ(std::to_string(expected(fields[1].text)), fields[0].text);
    });
    EXPECT_TRUE(status.ok()) << StatusText(status.status());
    EXPECT_EQ(rows, static_cast<std::size_t>(kKeys)) << cql;
  };
  compare("SELECT token(k), k FROM cavalry_it.pairs",
          [&](std::string_view text) { return ints.at(std::stoll(std::string(text))); });
  compare("SELECT token(c), c FROM cavalry_it.blobs",
          [&](std::string_view text) { return blobs.at(std::string(text)); });
  compare("SELECT token(a,b), b FROM cavalry_it.keys",
          [&](std::string_view text) { return pairs.at(std::string(text)); });
}

TEST_F(Cassandra, TheClusterIsDescribed) {
  const TableSchema table = MakeTable("one", {MakeColumn("id", "int", false)});
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  const Cluster cluster = Open();
  EXPECT_TRUE(cluster.topology.routes());
  EXPECT_TRUE(cluster.topology.has_keyspace);
  EXPECT_EQ(cluster.topology.replication.strategy, Replication::Strategy::kSimple);
  ASSERT_GE(cluster.topology.nodes.size(), 1U);
  EXPECT_FALSE(cluster.topology.nodes[0].ring.tokens.empty());
  EXPECT_FALSE(cluster.datacenter.empty());
  const auto variables = admin_->ServerVariables();
  ASSERT_TRUE(variables.ok()) << StatusText(variables.status());
  std::map<std::string, std::string> by_name(variables->begin(), variables->end());
  EXPECT_EQ(by_name["release_version"], cluster.topology.release_version);
  EXPECT_NE(by_name["replication"].find("replication_factor"), std::string::npos);
  EXPECT_NE(by_name["nodes"], "");
  if (MajorVersion(cluster.topology.release_version) >= 4) {
    EXPECT_NE(by_name["commitlog_sync"], "");
    const auto counters = admin_->Counters();
    ASSERT_TRUE(counters.ok()) << StatusText(counters.status());
    std::map<std::string, std::uint64_t> counted(counters->begin(), counters->end());
    EXPECT_GT(counted["ReadStage.completed_tasks"], 0U);
    EXPECT_TRUE(admin_->Limits(10, 1, 1000).value_or(std::vector<std::string>{"x"}).empty());
    EXPECT_EQ(admin_->Limits(10, 1, 1U << 31).value_or(std::vector<std::string>{}).size(), 1U);
  }
}

TEST_F(Cassandra, ADatacenterThatIsNotThereIsSaid) {
  settings_.Add({"datacenter", "atlantis", false, ""});
  auto admin = GetDriver().NewAdmin(settings_);
  ASSERT_TRUE(admin.ok());
  const std::string text = StatusText((*admin)->Connect());
  EXPECT_NE(text.find("no datacenter \"atlantis\""), std::string::npos) << text;
}

TEST_F(Cassandra, TheAdminGoesOnAfterAnError) {
  EXPECT_NE(Native("SELECT * FROM cavalry_it.nothing"), "");
  EXPECT_NE(Native("SELEC"), "");
  EXPECT_EQ(admin_->RunNative("SELECT key FROM system.local").value_or(0), 1U);
}

// The load's own way: a factory's router and codecs, one channel to each endpoint.
TEST_F(Cassandra, EveryOperationDoesWhatItSays) {
  TableSchema table =
      MakeTable("user", {MakeColumn("id", "int", false), MakeColumn("name", "varchar(20)")});
  ASSERT_EQ(StatusText(admin_->Create(table)), "");
  for (const bool prepared : {true, false}) {
    Settings settings = settings_;
    settings.Add({"statements", prepared ? "prepared" : "text", false, ""});
    settings.Add({"conditional", "true", false, ""});
    ASSERT_EQ(Native("TRUNCATE cavalry_it.user"), "");
    const auto make = [&](OperationKind kind, std::vector<std::uint32_t> columns) {
      OperationPlan plan;
      plan.name = std::string(OperationKindName(kind));
      plan.kind = kind;
      plan.table = &table;
      plan.columns = std::move(columns);
      return plan;
    };
    enum { kInsert, kRead, kUpdate, kDelete, kMulti, kScan, kNative };
    std::vector<OperationPlan> plans = {
        make(OperationKind::kInsert, {0, 1}), make(OperationKind::kRead, {1}),
        make(OperationKind::kUpdate, {1}),    make(OperationKind::kDelete, {}),
        make(OperationKind::kMultiRead, {0}), make(OperationKind::kScan, {0}),
        make(OperationKind::kNative, {})};
    plans[kMulti].batch = 2;
    plans[kScan].scan.columns = {0};
    plans[kNative].table = nullptr;
    plans[kNative].statement = "SELECT name FROM cavalry_it.user WHERE id=?";
    plans[kNative].parameters = 1;
    for (std::uint32_t i = 0; i < plans.size(); ++i) plans[i].index = i;
    ASSERT_EQ(StatusText(GetDriver().Check(settings, plans)), "");
    ClientConfig config;
    config.settings = &settings;
    config.operations = &plans;
    auto made = GetDriver().NewClientFactory(config);
    ASSERT_TRUE(made.ok()) << StatusText(made.status());
    const auto& factory = *std::get<std::unique_ptr<CodecFactory>>(*made);
    const auto router = factory.NewRouter();
    const std::array<Value, 2> row = {Value::Integer(1), Value::Text("Ann")};
    const Operation insert{&plans[kInsert], {}, row, nullptr};
    auto channel =
        BlockingChannel::Open(factory.endpoints()[router->First(insert)],
                              factory.NewCodec(router->First(insert)), 10 * kSecond, 10 * kSecond);
    ASSERT_TRUE(channel.ok()) << StatusText(channel.status());
    const auto run = [&](const Operation& operation) {
      const OpResult result = (*channel)->Run(operation);
      EXPECT_TRUE(result.outcome == Outcome::kOk || result.outcome == Outcome::kMiss ||
                  result.outcome == Outcome::kRejected)
          << operation.plan->name << ": " << result.code << ' ' << result.text;
      return result;
    };
    const Key one(Value::Integer(1)), two(Value::Integer(2));
    EXPECT_EQ(run(insert).outcome, Outcome::kOk);
    EXPECT_EQ(run(insert).outcome, Outcome::kRejected);
    EXPECT_EQ(run({&plans[kRead], one, {}, nullptr}).outcome, Outcome::kOk);
    EXPECT_EQ(run({&plans[kRead], two, {}, nullptr}).outcome, Outcome::kMiss);
    const Value name = Value::Text("it's");
    EXPECT_EQ(run({&plans[kUpdate], one, {&name, 1}, nullptr}).outcome, Outcome::kOk);
    EXPECT_EQ(run({&plans[kUpdate], two, {&name, 1}, nullptr}).outcome, Outcome::kMiss);
    const std::array<Value, 2> keys = {Value::Integer(1), Value::Integer(2)};
    EXPECT_EQ(run({&plans[kMulti], Key(keys), {}, nullptr}).rows, 1U);
    EXPECT_EQ(run({&plans[kScan], one, {}, nullptr}).rows, 1U);
    const Value id = Value::Integer(1);
    EXPECT_EQ(run({&plans[kNative], {}, {&id, 1}, nullptr}).rows, 1U);
    EXPECT_EQ(Read(table, {1})[1], Texts({"1", "it's"}));
    EXPECT_EQ(run({&plans[kDelete], one, {}, nullptr}).outcome, Outcome::kOk);
    EXPECT_EQ(run({&plans[kDelete], one, {}, nullptr}).outcome, Outcome::kMiss);
  }
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
