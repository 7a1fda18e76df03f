// What the driver refuses before the run, and what it warns of.
#include "drivers/handlersocket/plan_check.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/handlersocket/plan_warnings.h"
#include "tests/unit/drivers/handlersocket/conversation.h"
#include "tests/unit/drivers/handlersocket/order_plans.h"

namespace cavalry::drivers::handlersocket {
namespace {

std::string Refusal(const OperationPlan& plan) { return StatusText(CheckOperation(plan)); }

std::vector<std::string> Warnings(const OperationPlan& plan) {
  EXPECT_EQ(Refusal(plan), "");
  std::vector<std::string> warnings;
  AddWarnings(plan, &warnings);
  return warnings;
}

TEST(PlanCheck, AcceptsEveryFormOfTheProtocol) {
  OrderPlans plans;
  for (const OperationPlan& plan : plans.all()) EXPECT_EQ(Refusal(plan), "") << plan.name;
}

TEST(PlanCheck, WhatTheProtocolHasNotSaysWhatToDoInstead) {
  const std::pair<OperationKind, std::string_view> kinds[] = {
      {OperationKind::kNative, "use a mysql target"},
      {OperationKind::kBegin, "steps instead of transaction"},
      {OperationKind::kCommit, "no transactions"},
      {OperationKind::kRollback, "no transactions"},
      {OperationKind::kResetConnection, "load.connections: per_iteration"},
      {OperationKind::kChangeUser, "load.connections: per_iteration"}};
  for (const auto& [kind, hint] : kinds) {
    OperationPlan plan;
    plan.name = "it";
    plan.kind = kind;
    const std::string text = Refusal(plan);
    EXPECT_EQ(text.find("handlersocket: operation it is a "), 0U) << text;
    EXPECT_NE(text.find(hint), std::string::npos) << text;
  }
}

TEST(PlanCheck, ServerValuesCannotBeSent) {
  OrderPlans plans;
  OperationPlan& plan = plans.at(OrderPlans::kRename);
  plan.server_values = {""};
  EXPECT_EQ(Refusal(plan), "");
  plan.server_values = {"now()"};
  EXPECT_EQ(Refusal(plan),
            "handlersocket: operation rename: column NAME: HandlerSocket cannot ask the server for "
            "now(). Give the column a rule whose value is sent, or use a mysql target");
}

TEST(PlanCheck, AnInsertNeedsItsKeyUnlessTheServerNumbersRows) {
  OrderPlans plans;
  plans.at(OrderPlans::kAddLines).columns = {0, 2};
  EXPECT_NE(Refusal(plans.at(OrderPlans::kAddLines)).find("the key column O_LINE is not listed"),
            std::string::npos);
  EXPECT_EQ(Refusal(plans.at(OrderPlans::kNewTicket)), "");
  plans.tickets().columns[0].auto_increment = false;
  EXPECT_NE(Refusal(plans.at(OrderPlans::kNewTicket)), "");
}

TEST(PlanCheck, ABatchIsBounded) {
  OrderPlans plans;
  for (const OrderPlans::Index index :
       {OrderPlans::kAddLines, OrderPlans::kTickets, OrderPlans::kLines}) {
    plans.at(index).batch = 0;
    EXPECT_NE(Refusal(plans.at(index)), "");
    plans.at(index).batch = kMaxBatch;
    EXPECT_EQ(Refusal(plans.at(index)), "");
    plans.at(index).batch = kMaxBatch + 1;
    EXPECT_NE(Refusal(plans.at(index)).find("1 to 10000"), std::string::npos);
  }
}

TEST(PlanCheck, AnIncrementIsOfOneWholeNumber) {
  OrderPlans plans;
  OperationPlan& plan = plans.at(OrderPlans::kUp);
  plan.amount = std::numeric_limits<std::int64_t>::min();
  EXPECT_NE(Refusal(plan), "");
  plan.amount = 1;
  plan.columns = {3, 1};
  EXPECT_NE(Refusal(plan), "");
  plan.columns = {3};
  plans.lines().columns[3] = MakeColumn("PRICE", "decimal(9,2)");
  EXPECT_NE(
      Refusal(plan).find("column PRICE is decimal(9,2), and HandlerSocket adds whole numbers"),
      std::string::npos);
}

TEST(PlanCheck, IndexNamesMustBeSendable) {
  OrderPlans plans;
  OperationPlan& plan = plans.at(OrderPlans::kByName);
  plan.scan.index = "2nd";
  EXPECT_NE(Refusal(plan).find("index 2nd begins with a digit"), std::string::npos);
  plan.scan.index = "a\tb";
  EXPECT_NE(Refusal(plan).find("control character"), std::string::npos);
  plan.scan.index = "a,b";
  EXPECT_EQ(Refusal(plan), "");
}

TEST(PlanCheck, ScansThatTheServerWouldMisread) {
  OrderPlans plans;
  const OperationPlan good = plans.at(OrderPlans::kRange);
  OperationPlan plan = good;
  plan.scan.limit = 0;
  EXPECT_NE(Refusal(plan), "");
  plan = good;
  plan.scan.comparison = Comparison::kNotEqual;
  EXPECT_NE(Refusal(plan), "");
  plan = good;
  plan.scan.columns.clear();
  EXPECT_NE(Refusal(plan), "");
  plan = good;
  plan.scan.columns = {99};
  EXPECT_NE(Refusal(plan), "");
  plan = good;
  plan.scan.in = {1, 2'147'483'648};
  EXPECT_NE(Refusal(plan).find("in: column O_ID: 2147483648 does not fit int"), std::string::npos);
}

TEST(PlanCheck, FiltersThatTheServerWouldMisread) {
  OrderPlans plans;
  OperationPlan plan = plans.at(OrderPlans::kByName);
  const auto refusal = [&](Filter filter) {
    plan.scan.filters = {std::move(filter)};
    return Refusal(plan);
  };
  EXPECT_NE(refusal({.column = 4, .value = "x"}).find("does not compare text"), std::string::npos);
  EXPECT_NE(refusal({.column = 3, .value = "x"}).find("filter: column QTY"), std::string::npos);
  EXPECT_NE(refusal({.column = 3, .comparison = Comparison::kLess, .is_null = true, .value = ""}),
            "");
  EXPECT_NE(refusal({.column = 99, .value = "x"}), "");
  EXPECT_NE(refusal({.column = 2, .value = std::string(21, 'x')}).find("21 characters"),
            std::string::npos);
  EXPECT_EQ(refusal({.column = 2, .value = ""}), "");
}

TEST(PlanCheck, CharacterSetsThatAreNotAsciiBelow) {
  OrderPlans plans;
  plans.lines().charset = "utf16";
  EXPECT_NE(Refusal(plans.at(OrderPlans::kLine)).find("column NAME is in character set utf16"),
            std::string::npos);
  plans.lines().charset = "latin1";
  EXPECT_EQ(Refusal(plans.at(OrderPlans::kLine)), "");
}

TEST(Warnings, NoneForWhatIsAsInSql) {
  OrderPlans plans;
  for (const OrderPlans::Index index :
       {OrderPlans::kLine, OrderPlans::kLines, OrderPlans::kTickets, OrderPlans::kRange,
        OrderPlans::kSomeTickets, OrderPlans::kNewTicket, OrderPlans::kRename}) {
    EXPECT_TRUE(Warnings(plans.at(index)).empty()) << plans.at(index).name;
  }
}

// Case C31.
TEST(Warnings, UnlistedColumnsAreNamedWithWhatTheyGet) {
  OrderPlans plans;
  OperationPlan& plan = plans.at(OrderPlans::kAddLines);
  plan.batch = 1;
  EXPECT_TRUE(Warnings(plan).empty());
  plan.columns = {0, 1};
  plans.lines().columns.push_back(MakeColumn("MADE", "datetime"));
  plans.lines().columns.back().default_sql = "CURRENT_TIMESTAMP";
  plans.lines().columns.push_back(MakeColumn("STATE", "int"));
  plans.lines().columns.back().default_sql = "7";
  plans.lines().columns.push_back(MakeColumn("NONE", "int", true));
  plans.lines().columns.back().default_sql = "NULL";
  EXPECT_EQ(
      Warnings(plan),
      (std::vector<std::string>{
          "operation add_lines: unlisted columns of line get 0 or '' from HandlerSocket instead of "
          "NULL: QTY, NOTE, NONE. List them",
          "operation add_lines: unlisted columns of line get 0 or '' from HandlerSocket where SQL "
          "would refuse the row: NAME. List them",
          "operation add_lines: unlisted columns of line get 0 or '' from HandlerSocket instead of "
          "their default, which is not run: MADE (CURRENT_TIMESTAMP). List them"}));
}

TEST(Warnings, OnUpdateIsNotRun) {
  OrderPlans plans;
  plans.lines().columns[4] = MakeColumn("AT", "timestamp");
  plans.lines().columns[4].default_sql = "now() ON UPDATE now()";
  const std::vector<std::string> warnings = Warnings(plans.at(OrderPlans::kRename));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "operation rename: HandlerSocket does not run ON UPDATE of column AT of line");
}

// Case C29.
TEST(Warnings, ListsThatDoNotGiveWhatTheyName) {
  OrderPlans plans;
  OperationPlan& plan = plans.at(OrderPlans::kSomeTickets);
  EXPECT_TRUE(Warnings(plan).empty());
  plan.scan.comparison = Comparison::kGreater;
  ASSERT_EQ(Warnings(plan).size(), 1U);
  EXPECT_EQ(Warnings(plan)[0].find("operation some_tickets: in gives one row for each value, the "
                                   "first one above it"),
            0U)
      << Warnings(plan)[0];
  plan.scan.comparison = Comparison::kEqual;
  plan.scan.limit = 2;
  EXPECT_EQ(Warnings(plan), (std::vector<std::string>{
                                "operation some_tickets: limit 2 is below the 3 values of in: "
                                "the server stops at the limit"}));
  plan.scan.limit = 3;
  plans.tickets().indexes = {{.name = "by_what", .columns = {0}, .unique = false}};
  plan.scan.index = "by_what";
  ASSERT_EQ(Warnings(plan).size(), 1U);
  EXPECT_NE(Warnings(plan)[0].find("only the first row"), std::string::npos);
  plans.tickets().indexes[0].unique = true;
  EXPECT_TRUE(Warnings(plan).empty());
}

TEST(Warnings, FiltersKeepNull) {
  OrderPlans plans;
  OperationPlan& plan = plans.at(OrderPlans::kByName);
  EXPECT_TRUE(Warnings(plan).empty());
  plan.scan.filters = {{.column = 3, .comparison = Comparison::kLess, .value = "7"}};
  ASSERT_EQ(Warnings(plan).size(), 1U);
  EXPECT_NE(Warnings(plan)[0].find("NULL is less than any value"), std::string::npos);
}

TEST(Warnings, IncrementsAndBatches) {
  OrderPlans plans;
  EXPECT_NE(Warnings(plans.at(OrderPlans::kUp))[0].find("becomes its bound"), std::string::npos);
  EXPECT_NE(Warnings(plans.at(OrderPlans::kDown))[0].find("would fall below zero: a miss"),
            std::string::npos);
  EXPECT_NE(Warnings(plans.at(OrderPlans::kDownAndTell))[0].find("returns it all the same"),
            std::string::npos);
  EXPECT_NE(Warnings(plans.at(OrderPlans::kAddLines))[0].find("some can be done and others not"),
            std::string::npos);
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
