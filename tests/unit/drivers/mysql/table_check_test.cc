#include "drivers/mysql/table_check.h"

#include <gtest/gtest.h>

namespace cavalry::drivers::mysql {
namespace {

TableSchema Wanted() {
  TableSchema table;
  table.name = "customer";
  table.columns = {{"id", *ParseColumnType("int"), false},
                   {"name", *ParseColumnType("varchar(25)"), false},
                   {"balance", *ParseColumnType("decimal(15,2)"), false}};
  return table;
}

std::vector<ActualColumn> Actual() {
  return {{"ID", "int(11)", "", true},
          {"name", "varchar(25)", "utf8mb4", false},
          {"balance", "decimal(15,2)", "", false},
          {"extra", "timestamp", "", false}};
}

std::string Fault(const std::vector<ActualColumn>& actual) {
  return StatusText(CheckActualColumns(Wanted(), actual));
}

TEST(CheckActualColumns, TakesATableThatFitsOrHoldsMore) {
  EXPECT_EQ(Fault(Actual()), "");
  auto wider = Actual();
  wider[0].type = "bigint(20)";
  wider[1].type = "varchar(100)";
  wider[2].type = "decimal(20,2)";
  EXPECT_EQ(Fault(wider), "");
}

TEST(CheckActualColumns, NamesEveryFault) {
  auto actual = Actual();
  actual[0].type = "smallint(6)";
  actual[1].type = "varchar(24)";
  actual.erase(actual.begin() + 2);
  EXPECT_EQ(Fault(actual),
            "table \"customer\" does not fit the spec: column \"id\" is smallint(6), not int; "
            "column \"name\" is varchar(24), not varchar(25); it has no column \"balance\"");
}

TEST(CheckActualColumns, RefusesOtherTypesAndScales) {
  for (const auto& [column, type] : {std::pair<std::size_t, const char*>{0, "int(10) unsigned"},
                                     {0, "enum('a','b')"},
                                     {1, "text"},
                                     {1, "char(25)"},
                                     {2, "decimal(15,3)"},
                                     {2, "double"}}) {
    auto actual = Actual();
    actual[column].type = type;
    EXPECT_NE(Fault(actual).find(type), std::string::npos) << type;
  }
}

TEST(CheckActualColumns, TheKeyMustBeThePrimaryKeyAlone) {
  auto actual = Actual();
  actual[0].in_primary_key = false;
  EXPECT_NE(Fault(actual).find("primary key is not the column \"id\" alone"), std::string::npos);
  actual[0].in_primary_key = true;
  actual[1].in_primary_key = true;
  EXPECT_NE(Fault(actual).find("primary key is not the column \"id\" alone"), std::string::npos);
}

TEST(CheckActualColumns, SaysThatThereIsNoTable) {
  EXPECT_NE(Fault({}).find("does not exist"), std::string::npos);
}

}  // namespace
}  // namespace cavalry::drivers::mysql
