// What the driver refuses before the run, and what it warns of.
#include "drivers/cassandra/statement_check.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/drivers/cassandra/test_tables.h"

namespace cavalry::drivers::cassandra {
namespace {

std::string Refusal(const OperationPlan& plan, const StatementOptions& options = {}) {
  return StatusText(CheckOperation(options, plan));
}

void ExpectRefusal(const OperationPlan& plan, std::string_view part,
                   const StatementOptions& options = {}) {
  const std::string text = Refusal(plan, options);
  EXPECT_TRUE(text.starts_with("cassandra: operation it")) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CassandraCheck, KindsThatCassandraHasNot) {
  const TableSchema user = UserTable();
  ExpectRefusal(MakePlan(OperationKind::kIncrement, &user, {2}), "counters only");
  ExpectRefusal(MakePlan(OperationKind::kBegin, nullptr), "steps instead of transaction");
  ExpectRefusal(MakePlan(OperationKind::kCommit, nullptr), "no transactions");
  ExpectRefusal(MakePlan(OperationKind::kRollback, nullptr), "no transactions");
  ExpectRefusal(MakePlan(OperationKind::kResetConnection, nullptr), "shared by all sessions");
  ExpectRefusal(MakePlan(OperationKind::kChangeUser, nullptr), "shared by all sessions");
}

TEST(CassandraCheck, ServerValuesAndReturning) {
  const TableSchema user = UserTable();
  OperationPlan update = MakePlan(OperationKind::kUpdate, &user, {1, 3});
  update.server_values = {"", "now()"};
  ExpectRefusal(update, "column born: its value is now(), which is SQL and not CQL");
  update.server_values = {"", ""};
  EXPECT_EQ(Refusal(update), "");
  update.returning = true;
  ExpectRefusal(update, "returning");
}

TEST(CassandraCheck, Scans) {
  const TableSchema lines = LinesTable();
  OperationPlan good = MakePlan(OperationKind::kScan, &lines, {0});
  good.scan.columns = {1, 2};
  EXPECT_EQ(Refusal(good), "");
  const std::pair<std::function<void(OperationPlan*)>, std::string_view> faults[] = {
      {[](OperationPlan* plan) { plan->scan.index = "by_item"; }, "a scan of index by_item"},
      {[](OperationPlan* plan) { plan->scan.columns = {}; }, "at least one column"},
      {[](OperationPlan* plan) { plan->scan.columns = {2}; }, "first columns in their order"},
      {[](OperationPlan* plan) {
         plan->scan.columns = {1, 2, 0, 3};
       },
       "first columns"},
      {[](OperationPlan* plan) { plan->scan.offset = 5; }, "offset 5: CQL cannot skip"},
      {[](OperationPlan* plan) { plan->scan.limit = 0; }, "limit is 0"},
      {[](OperationPlan* plan) { plan->scan.comparison = Comparison::kNotEqual; }, "by ne"},
      {[](OperationPlan* plan) {
         plan->scan.columns = {1};
         plan->scan.comparison = Comparison::kLess;
       },
       "rising order of their tokens"},
      {[](OperationPlan* plan) { plan->scan.in = {1}; }, "comparison: eq only"},
      {[](OperationPlan* plan) { plan->columns = {}; }, "at least one column"},
      {[](OperationPlan* plan) {
         plan->scan.filters = {{3, Comparison::kEqual, true, "", false}};
       },
       "filter paid: CQL does not compare with NULL"},
      {[](OperationPlan* plan) {
         plan->scan.filters = {{3, Comparison::kNotEqual, false, "1", false}};
       },
       "filter paid: CQL does not compare by ne"},
      {[](OperationPlan* plan) {
         plan->scan.filters = {{3, Comparison::kEqual, false, "1", true}};
       },
       "ends_scan"},
      {[](OperationPlan* plan) {
         plan->scan.filters = {{2, Comparison::kEqual, false, "1 OR", false}};
       },
       "filter line: \"1 OR\" is no int"}};
  for (const auto& [spoil, part] : faults) {
    OperationPlan plan = good;
    spoil(&plan);
    ExpectRefusal(plan, part);
  }
}

TEST(CassandraCheck, Inserts) {
  const TableSchema lines = LinesTable();
  ExpectRefusal(MakePlan(OperationKind::kInsert, &lines, {0, 1}),
                "the key column line is not listed");
  TableSchema user = UserTable();
  user.columns[0].auto_increment = true;
  ExpectRefusal(MakePlan(OperationKind::kInsert, &user, {1}), "Cassandra numbers no rows");
  // With a value it is a column as any other.
  OperationPlan insert = MakePlan(OperationKind::kInsert, &user, {0, 1});
  EXPECT_EQ(Refusal(insert), "");
  insert.batch = 5;
  EXPECT_EQ(Refusal(insert), "");
  StatementOptions options;
  options.conditional = true;
  ExpectRefusal(insert, "must stay in one partition", options);
  insert.batch = 65'536;
  ExpectRefusal(insert, "65536 rows");
}

TEST(CassandraCheck, KeysAndColumns) {
  const TableSchema lines = LinesTable();
  ExpectRefusal(MakePlan(OperationKind::kUpdate, &lines, {0}), "column item is part of the key");
  ExpectRefusal(MakePlan(OperationKind::kUpdate, &lines), "at least one column");
  OperationPlan reads = MakePlan(OperationKind::kMultiRead, &lines, {3});
  EXPECT_EQ(Refusal(reads), "");
  reads.batch = 2;
  ExpectRefusal(reads, "no list of keys of several columns");
  ExpectRefusal(MakePlan(OperationKind::kRead, &lines), "at least one column");
}

TEST(CassandraCheck, NativeStatements) {
  OperationPlan native = MakePlan(OperationKind::kNative, nullptr);
  ExpectRefusal(native, "is empty");
  native.statement = " ; -- nothing";
  ExpectRefusal(native, "is empty");
  native.statement = "SELECT 'a";
  ExpectRefusal(native, "does not end");
  native.statement = "SELECT a FROM t WHERE b=? AND c='?'";
  ExpectRefusal(native, "1 question marks, but 0 parameters");
  native.parameters = 1;
  EXPECT_EQ(Refusal(native), "");
}

TEST(CassandraCheck, NamesOfTables) {
  TableSchema user = UserTable();
  EXPECT_TRUE(CheckTable(user).ok());
  user.name = "user-2";
  EXPECT_NE(StatusText(CheckTable(user)).find("\"user-2\""), std::string::npos);
  user.name = std::string(49, 'x');
  EXPECT_FALSE(CheckTable(user).ok());
}

std::vector<std::string> Warnings(const OperationPlan& plan, bool conditional = false) {
  StatementOptions options;
  options.conditional = conditional;
  EXPECT_EQ(Refusal(plan, options), "");
  std::vector<std::string> warnings;
  AddWarnings(options, plan, &warnings);
  return warnings;
}

TEST(CassandraWarnings, WritesWithoutConditionsAlwaysSucceed) {
  const TableSchema user = UserTable();
  for (const OperationPlan& plan :
       {MakePlan(OperationKind::kInsert, &user, {0, 1, 2, 3}),
        MakePlan(OperationKind::kUpdate, &user, {1}), MakePlan(OperationKind::kDelete, &user)}) {
    const std::vector<std::string> warnings = Warnings(plan);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("counts as ok, where SQL"), std::string::npos) << warnings[0];
    EXPECT_TRUE(Warnings(plan, true).empty());
  }
}

TEST(CassandraWarnings, ColumnsWithoutDefaults) {
  const TableSchema user = UserTable();
  const auto warnings = Warnings(MakePlan(OperationKind::kInsert, &user, {0}), true);
  ASSERT_EQ(warnings.size(), 1U);
  // Name and born are null in SQL, too.
  EXPECT_TRUE(warnings[0].ends_with("no defaults: Age")) << warnings[0];
}

TEST(CassandraWarnings, ScansAreNotThoseOfSql) {
  const TableSchema user = UserTable();
  OperationPlan scan = MakePlan(OperationKind::kScan, &user, {0});
  scan.scan.columns = {0};
  ASSERT_EQ(Warnings(scan).size(), 1U);
  EXPECT_NE(Warnings(scan)[0].find("by the token (a hash) of id"), std::string::npos);
  scan.scan.filters = {{1, Comparison::kEqual, false, "x", false}};
  ASSERT_EQ(Warnings(scan).size(), 2U);
  EXPECT_NE(Warnings(scan)[1].find("ALLOW FILTERING"), std::string::npos);
  scan.scan.filters = {};
  scan.scan.comparison = Comparison::kEqual;
  EXPECT_TRUE(Warnings(scan).empty());
}

TEST(CassandraWarnings, IndexesAreNotMade) {
  TableSchema user = UserTable();
  user.indexes = {{"by_name", {1}, true}};
  std::vector<std::string> warnings;
  AddTableWarnings(user, &warnings);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("index by_name is not made"), std::string::npos);
  EXPECT_NE(warnings[0].find("unique"), std::string::npos);
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
