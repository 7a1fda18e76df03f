#include "drivers/handlersocket/value_check.h"

#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/drivers/handlersocket/conversation.h"

namespace cavalry::drivers::handlersocket {
namespace {

ValueFault Check(std::string_view type, const Value& value, bool nullable = false) {
  const Column column = MakeColumn("c", type, nullable);
  bool needs_escape = false;
  return CheckValue(ColumnRule(column), value, needs_escape);
}

std::string Describe(std::string_view type, const Value& value) {
  const Column column = MakeColumn("c", type);
  const ColumnRule rule(column);
  bool needs_escape = false;
  return DescribeFault(CheckValue(rule, value, needs_escape), rule, value);
}

TEST(ValueCheck, IntegersStayInTheirRange) {
  EXPECT_EQ(Check("tinyint", Value::Integer(127)), ValueFault::kNone);
  EXPECT_EQ(Check("tinyint", Value::Integer(128)), ValueFault::kRange);
  EXPECT_EQ(Check("tinyint", Value::Integer(-128)), ValueFault::kNone);
  EXPECT_EQ(Check("tinyint", Value::Integer(-129)), ValueFault::kRange);
  EXPECT_EQ(Check("int unsigned", Value::Integer(-1)), ValueFault::kRange);
  EXPECT_EQ(Check("int unsigned", Value::Integer(4294967295)), ValueFault::kNone);
  EXPECT_EQ(Check("int unsigned", Value::Unsigned(4294967296)), ValueFault::kRange);
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Check("bigint", Value::Integer(lowest)), ValueFault::kNone);
  EXPECT_EQ(Check("bigint", Value::Unsigned(highest)), ValueFault::kRange);
  EXPECT_EQ(Check("bigint unsigned", Value::Unsigned(highest)), ValueFault::kNone);
  EXPECT_EQ(Check("mediumint", Value::Integer(8'388'607)), ValueFault::kNone);
  EXPECT_EQ(Check("mediumint", Value::Integer(8'388'608)), ValueFault::kRange);
  EXPECT_EQ(Check("mediumint unsigned", Value::Integer(16'777'215)), ValueFault::kNone);
  EXPECT_EQ(Check("boolean", Value::Integer(1)), ValueFault::kNone);
  EXPECT_EQ(Check("int", Value::Binary("1")), ValueFault::kKind);
}

TEST(ValueCheck, IntegersMayBeWrittenAsText) {
  for (const std::string_view good : {"0", "-2147483648", "2147483647", "007"}) {
    EXPECT_EQ(Check("int", Value::Text(good)), ValueFault::kNone) << good;
  }
  for (const std::string_view bad : {"2147483648", "-2147483649"}) {
    EXPECT_EQ(Check("int", Value::Text(bad)), ValueFault::kRange) << bad;
  }
  for (const std::string_view bad :
       {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "99999999999999999999"}) {
    EXPECT_EQ(Check("int", Value::Text(bad)), ValueFault::kFormat) << bad;
  }
  EXPECT_EQ(Check("int unsigned", Value::Text("-1")), ValueFault::kRange);
  EXPECT_EQ(Check("bigint unsigned", Value::Text("18446744073709551615")), ValueFault::kNone);
  EXPECT_EQ(Check("bigint", Value::Text("-9223372036854775808")), ValueFault::kNone);
  EXPECT_EQ(Check("bigint", Value::Text("-9223372036854775809")), ValueFault::kRange);
}

TEST(ValueCheck, NullNeedsANullableColumn) {
  EXPECT_EQ(Check("int", Value::Null()), ValueFault::kNull);
  EXPECT_EQ(Check("int", Value::Null(), true), ValueFault::kNone);
  EXPECT_EQ(Check("varchar(3)", Value::Null(), true), ValueFault::kNone);
}

TEST(ValueCheck, TextsAreCountedInCharactersAndBinariesInBytes) {
  EXPECT_EQ(Check("varchar(3)", Value::Text("")), ValueFault::kNone);
  EXPECT_EQ(Check("varchar(3)", Value::Text("abc")), ValueFault::kNone);
  EXPECT_EQ(Check("varchar(3)", Value::Text("abcd")), ValueFault::kLength);
  EXPECT_EQ(Check("varchar(3)", Value::Text("äöü")), ValueFault::kNone);
  EXPECT_EQ(Check("char(3)", Value::Text("äöüß")), ValueFault::kLength);
  EXPECT_EQ(Check("varchar(1)", Value::Text("\xf0\x9f\x90\x8e")), ValueFault::kNone);
  EXPECT_EQ(Check("varbinary(3)", Value::Binary("äö")), ValueFault::kLength);
  EXPECT_EQ(Check("varbinary(3)", Value::Binary("\xff\x80\x01")), ValueFault::kNone);
  EXPECT_EQ(Check("text", Value::Text(std::string(65'535, 'x'))), ValueFault::kNone);
  EXPECT_EQ(Check("text", Value::Text(std::string(65'536, 'x'))), ValueFault::kLength);
  // Bytes again: 32,768 characters of two bytes each are one too many.
  std::string wide;
  for (int i = 0; i < 32'768; ++i) wide += "ä";
  EXPECT_EQ(Check("text", Value::Text(wide)), ValueFault::kLength);
  EXPECT_EQ(Check("varchar(3)", Value::Integer(1)), ValueFault::kKind);
}

TEST(ValueCheck, TextsMustBeUtf8) {
  for (const std::string_view bad :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xe4\xb8", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xc3(",
        "\xf0\x9f\x90(", "\xf0\x9f"}) {
    EXPECT_EQ(CountCharacters(bad), -1) << testing::PrintToString(bad);
    EXPECT_EQ(Check("varchar(20)", Value::Text(bad)), ValueFault::kEncoding);
  }
  EXPECT_EQ(CountCharacters("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xe0\xa0\x80"), 4);
  EXPECT_EQ(CountCharacters("abc"), 3);
  EXPECT_EQ(CountCharacters(""), 0);
}

// HandlerSocket stores the bytes as they come: only those may be sent that mean the same there.
TEST(ValueCheck, TextsMustBeTheSameInTheTablesCharacterSet) {
  const auto check = [](std::string_view type, std::string_view charset, std::string_view text) {
    const Column column = MakeColumn("c", type);
    bool needs_escape = false;
    return CheckValue(ColumnRule(column, charset), Value::Text(text), needs_escape);
  };
  constexpr std::string_view kHorse = "\xf0\x9f\x90\x8e";
  EXPECT_EQ(check("varchar(9)", "", kHorse), ValueFault::kNone);
  EXPECT_EQ(check("varchar(9)", "utf8mb4", kHorse), ValueFault::kNone);
  EXPECT_EQ(check("varchar(9)", "utf8mb3", kHorse), ValueFault::kEncoding);
  EXPECT_EQ(check("varchar(9)", "utf8mb3", "\xe4\xb8\xad"), ValueFault::kNone);
  EXPECT_EQ(check("varchar(9)", "latin1", "äöü"), ValueFault::kEncoding);
  EXPECT_EQ(check("varchar(9)", "latin1", "aou"), ValueFault::kNone);
  EXPECT_EQ(check("json", "latin1", "\"äöü\""), ValueFault::kNone) << "json is utf8mb4 always";
  EXPECT_EQ(check("varbinary(9)", "latin1", "äöü"), ValueFault::kNone);
  EXPECT_EQ(CharacterBytesMax("utf16"), 0U);
  EXPECT_EQ(CharacterBytesMax("latin1"), 1U);
}

TEST(ValueCheck, DecimalsFitPrecisionAndScale) {
  for (const std::string_view good :
       {"0", "0.00", "711.56", "-711.5", "9999999999999.99", "0009999999999999.9", "-0"}) {
    EXPECT_EQ(Check("decimal(15,2)", Value::Text(good)), ValueFault::kNone) << good;
  }
  for (const std::string_view bad : {"10000000000000", "0.001", "-99999999999999"}) {
    EXPECT_EQ(Check("decimal(15,2)", Value::Text(bad)), ValueFault::kRange) << bad;
  }
  for (const std::string_view bad : {"", "-", ".5", "5.", "1e3", "+1", " 1", "1,5", "--1"}) {
    EXPECT_EQ(Check("decimal(15,2)", Value::Text(bad)), ValueFault::kFormat) << bad;
  }
  EXPECT_EQ(Check("decimal(3,1)", Value::Integer(-99)), ValueFault::kNone);
  EXPECT_EQ(Check("decimal(3,1)", Value::Integer(100)), ValueFault::kRange);
  EXPECT_EQ(Check("decimal(2,2)", Value::Text("0.25")), ValueFault::kNone);
  EXPECT_EQ(Check("decimal(2,2)", Value::Binary("0.25")), ValueFault::kKind);
}

TEST(ValueCheck, DatesAreDaysOfTheCalendar) {
  EXPECT_EQ(Check("date", Value::Text("2024-02-29")), ValueFault::kNone);
  EXPECT_EQ(Check("date", Value::Text("2000-02-29")), ValueFault::kNone);
  for (const std::string_view bad :
       {"", "2023-02-29", "1900-02-29", "2024-00-01", "2024-13-01", "2024-01-00", "2024-04-31",
        "2024/01/01", "2024-1-1", "24-01-01", "2024-01-0a", "2024-01-01 00:00:00"}) {
    EXPECT_EQ(Check("date", Value::Text(bad)), ValueFault::kFormat) << bad;
  }
  EXPECT_EQ(Check("datetime", Value::Text("2024-12-31 23:59:59")), ValueFault::kNone);
  for (const std::string_view bad :
       {"2024-12-31", "2024-12-31 24:00:00", "2024-12-31 23:60:00", "2024-12-31 23:59:60",
        "2024-12-31T23:59:59", "2024-12-31 23:59:5x", "2023-02-29 00:00:00"}) {
    EXPECT_EQ(Check("datetime", Value::Text(bad)), ValueFault::kFormat) << bad;
  }
  EXPECT_EQ(Check("date", Value::Integer(20240101)), ValueFault::kKind);
}

TEST(ValueCheck, TimesYearsAndTimestampsFit) {
  EXPECT_EQ(Check("time", Value::Text("-838:59:59")), ValueFault::kNone);
  EXPECT_EQ(Check("time", Value::Text("839:00:00")), ValueFault::kFormat);
  EXPECT_EQ(Check("timestamp", Value::Text("2024-02-29 01:02:03")), ValueFault::kNone);
  EXPECT_EQ(Check("timestamp", Value::Text("1970-01-01 00:00:00")), ValueFault::kFormat);
  EXPECT_EQ(Check("year", Value::Unsigned(1901)), ValueFault::kNone);
  EXPECT_EQ(Check("year", Value::Integer(2155)), ValueFault::kNone);
  EXPECT_EQ(Check("year", Value::Text("0000")), ValueFault::kNone);
  // Sent as "0" it would be stored as 2000.
  EXPECT_EQ(Check("year", Value::Integer(0)), ValueFault::kRange);
  EXPECT_EQ(Check("year", Value::Integer(-1)), ValueFault::kRange);
  EXPECT_EQ(Check("year", Value::Integer(1900)), ValueFault::kRange);
  EXPECT_EQ(Check("year", Value::Text("99")), ValueFault::kFormat);
  EXPECT_EQ(Check("year", Value::Binary("2000")), ValueFault::kKind);
}

TEST(ValueCheck, FloatsAreNumbersWithinBounds) {
  EXPECT_EQ(Check("float", Value::Text("-1.5e10")), ValueFault::kNone);
  EXPECT_EQ(Check("float", Value::Text("1e39")), ValueFault::kRange);
  EXPECT_EQ(Check("double", Value::Text("1e39")), ValueFault::kNone);
  EXPECT_EQ(Check("double", Value::Text("1e309")), ValueFault::kRange);
  EXPECT_EQ(Check("double", Value::Text("x")), ValueFault::kFormat);
  EXPECT_EQ(Check("double", Value::Integer(-3)), ValueFault::kNone);
  EXPECT_EQ(Check("double", Value::Binary("1")), ValueFault::kKind);
}

TEST(ValueCheck, BinariesAndTextsKeepTheirLengths) {
  EXPECT_EQ(Check("binary(3)", Value::Binary("\xff\x80\x01")), ValueFault::kNone);
  EXPECT_EQ(Check("binary(3)", Value::Binary("abcd")), ValueFault::kLength);
  EXPECT_EQ(Check("blob", Value::Binary(std::string(65'535, '\xff'))), ValueFault::kNone);
  EXPECT_EQ(Check("blob", Value::Binary(std::string(65'536, '\xff'))), ValueFault::kLength);
  EXPECT_EQ(Check("mediumblob", Value::Binary(std::string(65'536, '\xff'))), ValueFault::kNone);
  EXPECT_EQ(Check("mediumtext", Value::Text(std::string(65'536, 'x'))), ValueFault::kNone);
  EXPECT_EQ(Check("longtext", Value::Text("\xff")), ValueFault::kEncoding);
}

TEST(ValueCheck, JsonIsJson) {
  EXPECT_EQ(Check("json", Value::Text("{\"a\": [1, null]}")), ValueFault::kNone);
  EXPECT_EQ(Check("json", Value::Text("{a: 1}")), ValueFault::kFormat);
  EXPECT_EQ(Check("json", Value::Text("")), ValueFault::kFormat);
}

TEST(ValueCheck, SaysInPassingWhetherBytesMustBeEscaped) {
  const Column column = MakeColumn("c", "varchar(20)");
  bool needs_escape = true;
  EXPECT_EQ(CheckValue(ColumnRule(column), Value::Text("plain"), needs_escape), ValueFault::kNone);
  EXPECT_FALSE(needs_escape);
  EXPECT_EQ(CheckValue(ColumnRule(column), Value::Text("a\tb"), needs_escape), ValueFault::kNone);
  EXPECT_TRUE(needs_escape);
}

TEST(ValueCheck, FaultsNameColumnValueAndType) {
  EXPECT_EQ(Describe("varchar(3)", Value::Text("äöüß")),
            "column c: a text of 4 characters does not fit varchar(3)");
  EXPECT_EQ(Describe("varbinary(1)", Value::Binary("ab")),
            "column c: a text of 2 bytes does not fit varbinary(1)");
  EXPECT_EQ(Describe("tinyint", Value::Integer(-129)), "column c: -129 does not fit tinyint");
  EXPECT_EQ(Describe("int", Value::Null()), "column c: NULL, but the column is not nullable");
  EXPECT_EQ(Describe("date", Value::Text("today")), "column c: a text of 5 bytes is no date");
  EXPECT_EQ(Describe("varchar(9)", Value::Text("\xff")),
            "column c: a text of 1 bytes is not UTF-8, as varchar(9) needs");
  EXPECT_EQ(Describe("int", Value::Text("1x")), "column c: a text of 2 bytes is no int");
  EXPECT_EQ(Describe("int", Value::Binary("12")),
            "column c: a text of 2 bytes is not a value for int");
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
