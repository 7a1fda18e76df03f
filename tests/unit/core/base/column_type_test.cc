#include "core/base/column_type.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

using Kind = ColumnType::Kind;

ColumnType Parse(std::string_view text) {
  const StatusOr<ColumnType> type = ParseColumnType(text);
  EXPECT_TRUE(type.ok()) << text << ": " << StatusText(type.status());
  return type.ok() ? *type : ColumnType{};
}

TEST(ColumnTypeTest, ParsesIntegersWithTheirBounds) {
  struct Case {
    std::string_view text, sql;
    int width;
    std::int64_t min;
    std::uint64_t max;
  };
  constexpr auto kMax64 = std::numeric_limits<std::int64_t>::max();
  for (const Case& c : {
           Case{"tinyint", "tinyint", 1, -128, 127},
           Case{"TINYINT UNSIGNED", "tinyint unsigned", 1, 0, 255},
           Case{"smallint", "smallint", 2, -32768, 32767},
           Case{"smallint unsigned", "smallint unsigned", 2, 0, 65535},
           Case{"smallint(6)", "smallint", 2, -32768, 32767},
           Case{"mediumint(9)", "mediumint", 3, -8388608, 8388607},
           Case{"mediumint unsigned", "mediumint unsigned", 3, 0, 16777215},
           Case{"INTEGER", "int", 4, -2147483648LL, 2147483647},
           Case{" int ", "int", 4, -2147483648LL, 2147483647},
           Case{"Int  Unsigned", "int unsigned", 4, 0, 4294967295},
           Case{"int(11)", "int", 4, -2147483648LL, 2147483647},
           Case{"int(10)unsigned", "int unsigned", 4, 0, 4294967295},
           Case{"bigint", "bigint", 8, -kMax64 - 1, static_cast<std::uint64_t>(kMax64)},
           Case{"bigint unsigned", "bigint unsigned", 8, 0, ~std::uint64_t{0}},
       }) {
    const ColumnType type = Parse(c.text);
    EXPECT_TRUE(type.is_integer()) << c.text;
    EXPECT_FALSE(type.is_text()) << c.text;
    EXPECT_EQ(type.sql, c.sql);
    EXPECT_EQ(type.width_bytes, c.width) << c.text;
    EXPECT_EQ(type.integer_min(), c.min) << c.text;
    EXPECT_EQ(type.integer_max(), c.max) << c.text;
  }
}

// As servers print it: boolean is tinyint(1).
TEST(ColumnTypeTest, ParsesBooleans) {
  for (const std::string_view text : {"boolean", "bool", "tinyint(1)"}) {
    EXPECT_TRUE(Parse(text).is_boolean) << text;
    EXPECT_EQ(Parse(text).sql, "tinyint(1)") << text;
    EXPECT_EQ(Parse(text).width_bytes, 1) << text;
  }
  for (const std::string_view text : {"tinyint", "tinyint(4)", "tinyint(1) unsigned", "int(1)"}) {
    EXPECT_FALSE(Parse(text).is_boolean) << text;
  }
}

TEST(ColumnTypeTest, ParsesTexts) {
  EXPECT_EQ(Parse("varchar(25)").length, 25u);
  EXPECT_EQ(Parse("VarChar ( 25 )").sql, "varchar(25)");
  EXPECT_TRUE(Parse("varchar(25)").is_text());
  EXPECT_EQ(Parse("char(10)").kind, Kind::kChar);
  EXPECT_EQ(Parse("char").sql, "char(1)");
  EXPECT_EQ(Parse("text").length, 65535u);
  EXPECT_TRUE(Parse("TEXT").is_text());
  EXPECT_EQ(Parse("varbinary(300)").kind, Kind::kVarbinary);
  EXPECT_FALSE(Parse("varbinary(300)").is_text());
  EXPECT_EQ(Parse("mediumtext").length, 16'777'215u);
  EXPECT_EQ(Parse("longtext").length, 4'294'967'295u);
  EXPECT_EQ(Parse("json").kind, Kind::kJson);
}

TEST(ColumnTypeTest, ParsesBinaries) {
  for (const std::string_view text :
       {"binary(16)", "varbinary(16)", "blob", "mediumblob", "longblob"}) {
    EXPECT_TRUE(Parse(text).is_binary()) << text;
    EXPECT_EQ(Parse(text).sql, text);
  }
  EXPECT_EQ(Parse("binary").sql, "binary(1)");
  EXPECT_EQ(Parse("blob").length, 65'535u);
  EXPECT_EQ(Parse("mediumblob").length, 16'777'215u);
}

TEST(ColumnTypeTest, ParsesDecimalsAndDates) {
  const ColumnType decimal = Parse("DECIMAL( 15 , 2 )");
  EXPECT_EQ(decimal.precision, 15);
  EXPECT_EQ(decimal.scale, 2);
  EXPECT_EQ(decimal.sql, "decimal(15,2)");
  EXPECT_EQ(Parse("decimal").sql, "decimal(10,0)");
  EXPECT_EQ(Parse("decimal(5)").sql, "decimal(5,0)");
  EXPECT_EQ(Parse("date").kind, Kind::kDate);
  EXPECT_EQ(Parse("datetime").kind, Kind::kDatetime);
  EXPECT_EQ(Parse("time").kind, Kind::kTime);
  EXPECT_EQ(Parse("timestamp").kind, Kind::kTimestamp);
  EXPECT_EQ(Parse("year(4)").sql, "year");
  EXPECT_TRUE(Parse("float").is_number());
  EXPECT_TRUE(Parse("double").is_number());
}

TEST(ColumnTypeTest, RefusesWhatItDoesNotKnowAndNamesTheTypes) {
  for (const std::string_view text : {"",
                                      "(5)",
                                      "float(7,3)",
                                      "mediumint varying",
                                      "boolean(1)",
                                      "bool unsigned",
                                      "binary(256)",
                                      "blob(5)",
                                      "json(5)",
                                      "year(2)",
                                      "timestamp(6)",
                                      "varchar",
                                      "varchar()",
                                      "varchar(0)",
                                      "varchar(65536)",
                                      "varchar(99999999999)",
                                      "varchar(5,5)",
                                      "varchar(x)",
                                      "varchar(5",
                                      "varchar 5)",
                                      "varchar(5) unsigned",
                                      "varbinary",
                                      "char(256)",
                                      "text(5)",
                                      "date(3)",
                                      "datetime(6)",
                                      "decimal(66,2)",
                                      "decimal(0,0)",
                                      "decimal(5,6)",
                                      "decimal(40,31)",
                                      "decimal(1,1,1)",
                                      "decimal(-1,0)",
                                      "int(1,2)",
                                      "int signed",
                                      "int not null",
                                      "unsigned int",
                                      "date unsigned"}) {
    const StatusOr<ColumnType> type = ParseColumnType(text);
    ASSERT_FALSE(type.ok()) << text;
    EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument);
  }
  const std::string error = StatusText(ParseColumnType("flaot").status());
  EXPECT_NE(error.find("flaot"), std::string::npos);
  EXPECT_NE(error.find("varchar(n)"), std::string::npos);
}

}  // namespace
}  // namespace cavalry
