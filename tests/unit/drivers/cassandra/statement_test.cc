// The CQL of every kind of operation, and statements with their values inside.
#include "drivers/cassandra/statement.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/consistency.h"
#include "drivers/cassandra/cql_text.h"
#include "drivers/cassandra/names.h"
#include "tests/unit/drivers/cassandra/test_tables.h"

namespace cavalry::drivers::cassandra {
namespace {

StatementOptions Options() {
  StatementOptions options;
  options.keyspace = "shop";
  options.read = Consistency::kQuorum;
  options.write = Consistency::kTwo;
  return options;
}

StatementPlan Plan(const OperationPlan& operation, const StatementOptions& options = Options()) {
  EXPECT_EQ(StatusText(CheckOperation(options, operation)), "");
  return PlanStatement(options, operation);
}

std::string Text(const StatementPlan& plan, const Operation& operation) {
  ByteBuffer out;
  out.Append("<");
  if (!AppendText(plan, operation, out)) {
    EXPECT_EQ(out.view(), "<");
    return "refused";
  }
  return std::string(out.view().substr(1));
}

using Routing = std::vector<std::uint32_t>;

TEST(Statement, ReadsByTheKey) {
  const TableSchema user = UserTable();
  const OperationPlan operation = MakePlan(OperationKind::kRead, &user, {1, 2});
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql, "SELECT name,\"Age\" FROM shop.user WHERE id=?");
  EXPECT_TRUE(plan.reads);
  EXPECT_FALSE(plan.conditional);
  EXPECT_EQ(plan.consistency, Consistency::kQuorum);
  ASSERT_EQ(plan.parameters.size(), 1U);
  EXPECT_EQ(plan.parameters[0].type, CqlType::kInt);
  EXPECT_EQ(plan.routing, Routing({0}));
  ASSERT_EQ(plan.columns.size(), 2U);
  EXPECT_EQ(plan.columns[1].name, "Age");
  const Operation read{&operation, Key(Value::Integer(-7)), {}, nullptr};
  EXPECT_EQ(Text(plan, read), "SELECT name,\"Age\" FROM shop.user WHERE id=-7");
}

TEST(Statement, ReadsByAKeyOfSeveralColumns) {
  const TableSchema lines = LinesTable();
  const OperationPlan operation = MakePlan(OperationKind::kRead, &lines, {3});
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql, "SELECT paid FROM shop.\"Lines\" WHERE \"order\"=? AND line=? AND item=?");
  EXPECT_EQ(plan.routing, Routing({0}));
  const std::array<Value, 3> key = {Value::Integer(5), Value::Integer(2), Value::Text("it's ?")};
  const Operation read{&operation, Key(key), {}, nullptr};
  EXPECT_EQ(Text(plan, read),
            "SELECT paid FROM shop.\"Lines\" WHERE \"order\"=5 AND line=2 AND item='it''s ?'");
}

TEST(Statement, ReadsManyByAList) {
  const TableSchema user = UserTable();
  OperationPlan operation = MakePlan(OperationKind::kMultiRead, &user, {0});
  operation.batch = 3;
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql, "SELECT id FROM shop.user WHERE id IN (?,?,?)");
  ASSERT_EQ(plan.parameters.size(), 3U);
  EXPECT_EQ(plan.parameters[2].index, 2U);
  EXPECT_EQ(plan.routing, Routing({0}));
  EXPECT_FALSE(plan.is_batch);
}

TEST(Statement, ScansByTokenFromOneColumn) {
  const TableSchema user = UserTable();
  OperationPlan operation = MakePlan(OperationKind::kScan, &user, {0, 1});
  operation.scan.columns = {0};
  operation.scan.limit = 10;
  EXPECT_EQ(Plan(operation).cql,
            "SELECT id,name FROM shop.user WHERE token(id)>=token(?) LIMIT 10");
  EXPECT_EQ(Plan(operation).routing, Routing({0}));
  operation.scan.comparison = Comparison::kGreater;
  EXPECT_EQ(Plan(operation).cql, "SELECT id,name FROM shop.user WHERE token(id)>token(?) LIMIT 10");
  operation.scan.comparison = Comparison::kEqual;
  EXPECT_EQ(Plan(operation).cql, "SELECT id,name FROM shop.user WHERE id=? LIMIT 10");
  operation.scan.in = {4, 5};
  const StatementPlan in = Plan(operation);
  EXPECT_EQ(in.cql, "SELECT id,name FROM shop.user WHERE id IN (4,5) LIMIT 10");
  EXPECT_TRUE(in.parameters.empty());
  EXPECT_TRUE(in.routing.empty());
}

TEST(Statement, ScansWithinAPartitionBothWays) {
  const TableSchema lines = LinesTable();
  OperationPlan operation = MakePlan(OperationKind::kScan, &lines, {0});
  operation.scan.columns = {1, 2};
  EXPECT_EQ(Plan(operation).cql,
            "SELECT item FROM shop.\"Lines\" WHERE \"order\"=? AND line>=? LIMIT 100");
  operation.scan.comparison = Comparison::kLess;
  EXPECT_EQ(Plan(operation).cql,
            "SELECT item FROM shop.\"Lines\" WHERE \"order\"=? AND line<? ORDER BY line DESC "
            "LIMIT 100");
  operation.scan.columns = {1, 2, 0};
  operation.scan.comparison = Comparison::kGreater;
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql,
            "SELECT item FROM shop.\"Lines\" WHERE \"order\"=? AND (line,item)>(?,?) LIMIT 100");
  ASSERT_EQ(plan.parameters.size(), 3U);
  EXPECT_EQ(plan.parameters[2].index, 2U);
  EXPECT_EQ(plan.parameters[2].type, CqlType::kText);
  operation.scan.comparison = Comparison::kEqual;
  EXPECT_EQ(Plan(operation).cql,
            "SELECT item FROM shop.\"Lines\" WHERE \"order\"=? AND line=? AND item=? LIMIT 100");
  operation.scan.in = {1, 2};
  EXPECT_EQ(Plan(operation).cql,
            "SELECT item FROM shop.\"Lines\" WHERE \"order\" IN (1,2) AND line=? AND item=? "
            "LIMIT 100");
  EXPECT_EQ(Plan(operation).parameters[0].index, 1U);
}

TEST(Statement, FiltersAreLiteralsOfTheColumnsType) {
  const TableSchema user = UserTable();
  OperationPlan operation = MakePlan(OperationKind::kScan, &user, {0});
  operation.scan.columns = {0};
  operation.scan.filters = {{1, Comparison::kEqual, false, "O'Neil?", false},
                            {2, Comparison::kLess, false, "30", false},
                            {3, Comparison::kGreaterEqual, false, "1970-01-02", false}};
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql,
            "SELECT id FROM shop.user WHERE token(id)>=token(?) AND name='O''Neil?' AND "
            "\"Age\"<30 AND born>=2147483649 LIMIT 100 ALLOW FILTERING");
  const Operation scan{&operation, Key(Value::Integer(1)), {}, nullptr};
  EXPECT_NE(Text(plan, scan).find("token(1) AND name='O''Neil?' AND"), std::string::npos);
}

TEST(Statement, Inserts) {
  const TableSchema user = UserTable();
  OperationPlan operation = MakePlan(OperationKind::kInsert, &user, {1, 0, 3});
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql, "INSERT INTO shop.user (name,id,born) VALUES (?,?,?)");
  EXPECT_EQ(plan.consistency, Consistency::kTwo);
  EXPECT_FALSE(plan.reads);
  EXPECT_EQ(plan.routing, Routing({1}));
  const std::array<Value, 3> row = {Value::Text("a'b"), Value::Integer(3), Value::Null()};
  const Operation insert{&operation, {}, row, nullptr};
  EXPECT_EQ(Text(plan, insert), "INSERT INTO shop.user (name,id,born) VALUES ('a''b',3,NULL)");
}

TEST(Statement, ConditionsAreAtTheEnd) {
  StatementOptions options = Options();
  options.conditional = true;
  const TableSchema user = UserTable();
  const OperationPlan insert = MakePlan(OperationKind::kInsert, &user, {0, 1});
  EXPECT_EQ(Plan(insert, options).cql,
            "INSERT INTO shop.user (id,name) VALUES (?,?) IF NOT EXISTS");
  EXPECT_TRUE(Plan(insert, options).conditional);
  const OperationPlan update = MakePlan(OperationKind::kUpdate, &user, {1});
  EXPECT_EQ(Plan(update, options).cql, "UPDATE shop.user SET name=? WHERE id=? IF EXISTS");
  EXPECT_TRUE(Plan(update, options).conditional);
  const OperationPlan remove = MakePlan(OperationKind::kDelete, &user);
  EXPECT_EQ(Plan(remove, options).cql, "DELETE FROM shop.user WHERE id=? IF EXISTS");
  EXPECT_TRUE(Plan(remove, options).conditional);
}

TEST(Statement, ABatchIsTheStatementOfOneRow) {
  const TableSchema user = UserTable();
  OperationPlan operation = MakePlan(OperationKind::kInsert, &user, {0, 1});
  operation.batch = 2;
  StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql, "INSERT INTO shop.user (id,name) VALUES (?,?)");
  EXPECT_TRUE(plan.is_batch);
  EXPECT_FALSE(plan.logged);
  const std::array<Value, 4> rows = {Value::Integer(1), Value::Text("a"), Value::Integer(2),
                                     Value::Text("b")};
  const Operation insert{&operation, {}, rows, nullptr};
  EXPECT_EQ(Text(plan, insert),
            "BEGIN UNLOGGED BATCH INSERT INTO shop.user (id,name) VALUES (1,'a'); INSERT INTO "
            "shop.user (id,name) VALUES (2,'b'); APPLY BATCH");
  StatementOptions options = Options();
  options.logged_batches = true;
  plan = Plan(operation, options);
  EXPECT_TRUE(plan.logged);
  EXPECT_EQ(Text(plan, insert).substr(0, 12), "BEGIN BATCH ");
}

TEST(Statement, UpdatesAndDeletes) {
  const TableSchema lines = LinesTable();
  const OperationPlan update = MakePlan(OperationKind::kUpdate, &lines, {3});
  const StatementPlan plan = Plan(update);
  EXPECT_EQ(plan.cql, "UPDATE shop.\"Lines\" SET paid=? WHERE \"order\"=? AND line=? AND item=?");
  EXPECT_EQ(plan.routing, Routing({1}));
  EXPECT_EQ(plan.parameters[0].source, Parameter::Source::kValue);
  EXPECT_EQ(plan.parameters[1].source, Parameter::Source::kKey);
  const std::array<Value, 3> key = {Value::Integer(5), Value::Integer(2), Value::Text("x")};
  const std::array<Value, 1> paid = {Value::Integer(1)};
  EXPECT_EQ(Text(plan, {&update, Key(key), paid, nullptr}),
            "UPDATE shop.\"Lines\" SET paid=true WHERE \"order\"=5 AND line=2 AND item='x'");
  const OperationPlan remove = MakePlan(OperationKind::kDelete, &lines);
  EXPECT_EQ(Plan(remove).cql, "DELETE FROM shop.\"Lines\" WHERE \"order\"=? AND line=? AND item=?");
}

TEST(Statement, NativeOnesAreTakenAsTheyAre) {
  OperationPlan operation = MakePlan(OperationKind::kNative, nullptr);
  operation.statement =
      "select '?', \"a?\" /* ? */ from t where a=? and b=? -- ?\n and c=$$?$$ and d=?";
  operation.parameters = 3;
  const StatementPlan plan = Plan(operation);
  EXPECT_EQ(plan.cql, operation.statement);
  EXPECT_TRUE(plan.reads);
  EXPECT_EQ(plan.consistency, Consistency::kQuorum);
  const std::array<Value, 3> values = {Value::Unsigned(18446744073709551615U), Value::Text("it's"),
                                       Value::Binary("\x01\xff")};
  EXPECT_EQ(Text(plan, {&operation, {}, values, nullptr}),
            "select '?', \"a?\" /* ? */ from t where a=18446744073709551615 and b='it''s' -- ?\n "
            "and c=$$?$$ and d=0x01ff");
  operation.statement = "/* select */ INSERT INTO t (a,b,c) VALUES (?,?,?)";
  EXPECT_EQ(Plan(operation).consistency, Consistency::kTwo);
}

TEST(Statement, TheFirstWordTellsWhatItIs) {
  EXPECT_TRUE(LookAtCql("-- create\n select 1").is_select);
  EXPECT_FALSE(LookAtCql("selection").is_select);
  for (const std::string_view cql : {"CREATE TABLE t (a int)", "; alter table t", "Drop TABLE t"}) {
    EXPECT_TRUE(LookAtCql(cql).is_schema) << cql;
  }
  for (const std::string_view cql : {"SELECT 1", "INSERT INTO created", "TRUNCATE t", ""}) {
    EXPECT_FALSE(LookAtCql(cql).is_schema) << cql;
  }
}

TEST(Statement, LiteralsAreOfTheirType) {
  TableSchema table;
  table.name = "t";
  table.columns = {MakeColumn("id", "bigint unsigned"), MakeColumn("data", "varbinary(9)"),
                   MakeColumn("price", "decimal(9,2)"), MakeColumn("at", "time"),
                   MakeColumn("made", "datetime"),      MakeColumn("rate", "double")};
  const OperationPlan operation = MakePlan(OperationKind::kInsert, &table, {0, 1, 2, 3, 4, 5});
  const StatementPlan plan = Plan(operation);
  const std::array<Value, 6> row = {Value::Unsigned(18446744073709551615U),
                                    Value::Binary("'\n"),
                                    Value::Text("-12.50"),
                                    Value::Text("00:00:01"),
                                    Value::Text("1970-01-01 00:00:02"),
                                    Value::Text("1.5e3")};
  EXPECT_EQ(Text(plan, {&operation, {}, row, nullptr}),
            "INSERT INTO shop.t (id,data,price,at,made,rate) VALUES "
            "(18446744073709551615,0x270a,-12.50,1000000000,2000,1.5e3)");
  // What could be taken for more than a number never gets out.
  const std::array<Value, 6> bad = {Value::Unsigned(1),      Value::Binary(""),
                                    Value::Text("1); DROP"), Value::Text("00:00:01"),
                                    Value::Null(),           Value::Null()};
  EXPECT_EQ(Text(plan, {&operation, {}, bad, nullptr}), "refused");
}

TEST(Statement, SqlTypesBecomeCqlTypes) {
  const std::pair<std::string_view, std::string_view> types[] = {{"tinyint", "tinyint"},
                                                                 {"tinyint unsigned", "smallint"},
                                                                 {"smallint", "smallint"},
                                                                 {"boolean", "boolean"},
                                                                 {"smallint unsigned", "int"},
                                                                 {"mediumint unsigned", "int"},
                                                                 {"int", "int"},
                                                                 {"int unsigned", "bigint"},
                                                                 {"bigint", "bigint"},
                                                                 {"bigint unsigned", "varint"},
                                                                 {"decimal(5,2)", "decimal"},
                                                                 {"float", "float"},
                                                                 {"double", "double"},
                                                                 {"char(3)", "text"},
                                                                 {"varchar(3)", "text"},
                                                                 {"text", "text"},
                                                                 {"json", "text"},
                                                                 {"binary(3)", "blob"},
                                                                 {"varbinary(3)", "blob"},
                                                                 {"blob", "blob"},
                                                                 {"date", "date"},
                                                                 {"time", "time"},
                                                                 {"datetime", "timestamp"},
                                                                 {"timestamp", "timestamp"},
                                                                 {"year", "int"}};
  for (const auto& [sql, cql] : types) {
    EXPECT_EQ(CqlTypeName(CqlTypeOf(ParseColumnType(sql).value())), cql) << sql;
  }
}

TEST(Statement, OptionsComeFromTheSettings) {
  const StatementOptions defaults = StatementOptions::FromSettings({});
  EXPECT_EQ(defaults.read, Consistency::kLocalOne);
  EXPECT_EQ(defaults.serial, Consistency::kSerial);
  EXPECT_TRUE(defaults.prepared);
  EXPECT_EQ(defaults.page_size, 5000U);
  Settings settings;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"keyspace", "k"},
                                                        {"consistency.read", "local_quorum"},
                                                        {"consistency.write", "any"},
                                                        {"consistency.serial", "local_serial"},
                                                        {"statements", "text"},
                                                        {"conditional", "true"},
                                                        {"logged_batches", "true"},
                                                        {"page_size", "7"}}) {
    settings.Add({name, value, false, ""});
  }
  const StatementOptions options = StatementOptions::FromSettings(settings);
  EXPECT_EQ(options.keyspace, "k");
  EXPECT_EQ(options.read, Consistency::kLocalQuorum);
  EXPECT_EQ(options.write, Consistency::kAny);
  EXPECT_EQ(options.serial, Consistency::kLocalSerial);
  EXPECT_FALSE(options.prepared);
  EXPECT_TRUE(options.conditional);
  EXPECT_TRUE(options.logged_batches);
  EXPECT_EQ(options.page_size, 7U);
}

TEST(Names, AreQuotedWhenCqlWouldTakeThemOtherwise) {
  EXPECT_EQ(QuotedName("user_id2"), "user_id2");
  EXPECT_EQ(QuotedName("C_NAME"), "\"C_NAME\"");
  EXPECT_EQ(QuotedName("order"), "\"order\"");
  EXPECT_EQ(QuotedName("2x"), "\"2x\"");
  EXPECT_EQ(QuotedName("_x"), "\"_x\"");
  EXPECT_EQ(QuotedName("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(QuotedName(""), "\"\"");
  for (const std::string_view word : {"add", "replace", "select", "token", "where", "with"}) {
    EXPECT_EQ(QuotedName(word).front(), '"') << word;
  }
  EXPECT_EQ(QuotedText("it's"), "'it''s'");
}

TEST(Consistency, AnAuditSeesWhatWasAcknowledged) {
  using enum Consistency;
  for (const Consistency write : {kAny, kOne, kTwo, kThree, kLocalOne}) {
    EXPECT_EQ(AuditLevel(kLocalOne, write), kAll);
  }
  EXPECT_EQ(AuditLevel(kOne, kQuorum), kQuorum);
  EXPECT_EQ(AuditLevel(kOne, kEachQuorum), kQuorum);
  EXPECT_EQ(AuditLevel(kOne, kLocalQuorum), kLocalQuorum);
  EXPECT_EQ(AuditLevel(kOne, kAll), kOne);
  EXPECT_EQ(AuditLevel(kAll, kQuorum), kAll);
  for (std::uint16_t level = 0; level <= 10; ++level) {
    const auto one = static_cast<Consistency>(level);
    EXPECT_EQ(ParseConsistency(ConsistencyName(one)), one);
  }
  EXPECT_FALSE(ParseConsistency("most"));
}

TEST(Consistency, RowsAreReadBackAtThatLevel) {
  StatementOptions options;
  options.keyspace = "k";
  options.conditional = true;
  options.write = Consistency::kQuorum;
  const StatementOptions audit = AuditOptions(options);
  EXPECT_EQ(audit.read, Consistency::kQuorum);
  EXPECT_EQ(audit.write, Consistency::kQuorum);
  EXPECT_FALSE(audit.conditional);
  EXPECT_EQ(audit.keyspace, "k");
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
