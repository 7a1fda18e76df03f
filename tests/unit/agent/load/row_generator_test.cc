#include "agent/load/row_generator.h"

#include <charconv>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry::load {
namespace {

using drivers::Field;
using drivers::Value;
using Kind = ColumnType::Kind;

ColumnType Type(std::string_view text) {
  auto type = ParseColumnType(text);
  EXPECT_TRUE(type.ok()) << text;
  return *type;
}

// A table whose columns c0, c1, … have these types.
drivers::TableSchema Table(const std::vector<std::string>& types) {
  drivers::TableSchema table;
  table.name = "t";
  for (std::size_t i = 0; i < types.size(); ++i) {
    table.columns.push_back({"c" + std::to_string(i), Type(types[i]), true});
  }
  return table;
}

std::vector<std::uint32_t> All(const drivers::TableSchema& table) {
  std::vector<std::uint32_t> columns(table.columns.size());
  std::iota(columns.begin(), columns.end(), 0U);
  return columns;
}

// A value as text, for comparison after its buffer is gone.
std::string Print(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "NULL";
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kUnsigned:
      return std::to_string(static_cast<std::uint64_t>(value.integer));
    case Value::Kind::kText:
    case Value::Kind::kBinary:
      break;
  }
  return std::string(value.text);
}

std::vector<std::string> Row(const RowGenerator& generator, std::uint64_t key,
                             std::uint64_t version) {
  RowBuffer row;
  generator.Generate(key, version, &row);
  std::vector<std::string> values;
  for (const Value& value : row.values()) values.push_back(Print(value));
  return values;
}

ColumnRule Rule(RuleKind kind, std::uint64_t low = 0, std::uint64_t high = 0,
                std::string text = "") {
  ColumnRule rule;
  rule.kind = kind;
  rule.low = low;
  rule.high = high;
  rule.text = std::move(text);
  return rule;
}

const std::vector<std::string> kTypes = {"tinyint",
                                         "tinyint unsigned",
                                         "smallint",
                                         "smallint unsigned",
                                         "int",
                                         "int unsigned",
                                         "bigint",
                                         "bigint unsigned",
                                         "decimal(15,2)",
                                         "decimal(2,2)",
                                         "decimal(1,0)",
                                         "decimal(65,30)",
                                         "decimal(30,30)",
                                         "decimal(5,0)",
                                         "char(1)",
                                         "char(10)",
                                         "varchar(1)",
                                         "varchar(25)",
                                         "varchar(65535)",
                                         "text",
                                         "varbinary(16)",
                                         "date",
                                         "datetime"};

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void ExpectDecimalFits(std::string_view text, const ColumnType& type) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  EXPECT_TRUE(AllDigits(whole)) << text;
  // "0" before the point takes no digit of the column.
  EXPECT_LE(whole == "0" ? 0 : whole.size(), static_cast<std::size_t>(type.precision - type.scale));
  if (type.scale == 0) {
    EXPECT_EQ(point, std::string_view::npos);
    return;
  }
  ASSERT_NE(point, std::string_view::npos) << text;
  EXPECT_EQ(text.size() - point - 1, type.scale);
  EXPECT_TRUE(AllDigits(text.substr(point + 1)));
}

int Number(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void ExpectDate(std::string_view text) {
  ASSERT_EQ(text.size(), 10U);
  EXPECT_EQ(text[4], '-');
  EXPECT_EQ(text[7], '-');
  EXPECT_GE(Number(text.substr(0, 4)), 2000);
  EXPECT_LE(Number(text.substr(0, 4)), 2029);
  EXPECT_GE(Number(text.substr(5, 2)), 1);
  EXPECT_LE(Number(text.substr(5, 2)), 12);
  EXPECT_GE(Number(text.substr(8)), 1);
  EXPECT_LE(Number(text.substr(8)), 28);  // every month has so many
}

void ExpectFits(const Value& value, const ColumnType& type) {
  if (type.is_integer()) {
    ASSERT_EQ(value.kind, Value::Kind::kUnsigned);
    EXPECT_LE(static_cast<std::uint64_t>(value.integer), type.integer_max());
    return;
  }
  switch (type.kind) {
    case Kind::kDecimal:
      return ExpectDecimalFits(value.text, type);
    case Kind::kDate:
      return ExpectDate(value.text);
    case Kind::kDatetime:
      ASSERT_EQ(value.text.size(), 19U);
      ExpectDate(value.text.substr(0, 10));
      EXPECT_EQ(value.text[10], ' ');
      EXPECT_LE(Number(value.text.substr(11, 2)), 23);
      EXPECT_LE(Number(value.text.substr(14, 2)), 59);
      EXPECT_LE(Number(value.text.substr(17)), 59);
      return;
    default:
      EXPECT_LE(value.text.size(), type.length);
      EXPECT_GE(value.text.size(), std::min<std::size_t>(type.length, 1024) / 2);
      EXPECT_EQ(value.kind,
                type.kind == Kind::kVarbinary ? Value::Kind::kBinary : Value::Kind::kText);
      for (const char c : value.text) {
        ASSERT_TRUE((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == ' ');
      }
  }
}

TEST(RowGenerator, MakesNaturalValuesThatFitTheirColumns) {
  const drivers::TableSchema table = Table(kTypes);
  const RowGenerator generator(table, All(table), std::vector<ColumnRule>(kTypes.size()), 42);
  RowBuffer row;
  for (std::uint64_t key = 1; key <= 2'000; ++key) {
    generator.Generate(key, key % 3, &row);
    ASSERT_EQ(row.values().size(), kTypes.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      SCOPED_TRACE(kTypes[i]);
      ExpectFits(row.values()[i], table.columns[i].type);
      bytes += row.values()[i].text.size();
    }
    ASSERT_LE(bytes, generator.max_bytes());
  }
}

TEST(RowGenerator, IsAPureFunctionOfSeedKeyAndVersion) {
  const drivers::TableSchema table = Table(kTypes);
  const std::vector<ColumnRule> rules(kTypes.size());
  const RowGenerator one(table, All(table), rules, 42);
  const RowGenerator two(table, All(table), rules, 42);
  const RowGenerator other_seed(table, All(table), rules, 43);
  for (std::uint64_t key = 1; key <= 50; ++key) {
    EXPECT_EQ(Row(one, key, 5), Row(two, key, 5));
    EXPECT_NE(Row(one, key, 5), Row(one, key, 6));
    EXPECT_NE(Row(one, key, 5), Row(one, key + 1, 5));
    EXPECT_NE(Row(one, key, 5), Row(other_seed, key, 5));
  }
}

TEST(RowGenerator, AColumnsValueDoesNotDependOnTheOthers) {
  const drivers::TableSchema table = Table(kTypes);
  const RowGenerator whole(table, All(table), std::vector<ColumnRule>(kTypes.size()), 42);
  for (std::uint32_t column = 0; column < kTypes.size(); ++column) {
    const RowGenerator alone(table, {column}, std::vector<ColumnRule>(1), 42);
    EXPECT_EQ(Row(alone, 17, 3)[0], Row(whole, 17, 3)[column]) << kTypes[column];
  }
}

TEST(RowGenerator, FollowsItsRules) {
  const drivers::TableSchema table =
      Table({"bigint unsigned", "varchar(20)", "int", "int", "varchar(9)", "char(3)", "bigint"});
  const std::vector<ColumnRule> rules = {Rule(RuleKind::kKey),
                                         Rule(RuleKind::kRandomText, 2, 4, "xy"),
                                         Rule(RuleKind::kRandomInt, 10, 12),
                                         Rule(RuleKind::kNewVersion),
                                         Rule(RuleKind::kNull),
                                         Rule(RuleKind::kConstant, 0, 0, "abc"),
                                         Rule(RuleKind::kRandomInt, 0, ~std::uint64_t{0})};
  const RowGenerator generator(table, All(table), rules, 1);
  std::set<std::size_t> lengths;
  std::set<std::string> numbers;
  for (std::uint64_t key = 1; key <= 500; ++key) {
    const std::vector<std::string> row = Row(generator, key, 9);
    EXPECT_EQ(row[0], std::to_string(key));
    lengths.insert(row[1].size());
    EXPECT_EQ(row[1].find_first_not_of("xy"), std::string::npos);
    numbers.insert(row[2]);
    EXPECT_EQ(row[3], "9");
    EXPECT_EQ(row[4], "NULL");
    EXPECT_EQ(row[5], "abc");
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{2, 3, 4}));
  EXPECT_EQ(numbers, (std::set<std::string>{"10", "11", "12"}));
}

TEST(RowGenerator, UsesEveryCharacterOfAnAlphabet) {
  const drivers::TableSchema table = Table({"varchar(100)"});
  std::string alphabet;
  for (char c = ' '; c <= '~'; ++c) alphabet += c;
  const RowGenerator generator(table, {0}, {Rule(RuleKind::kRandomText, 100, 100, alphabet)}, 1);
  std::set<char> seen;
  for (std::uint64_t key = 1; key <= 200; ++key) {
    const std::string text = Row(generator, key, 0)[0];
    EXPECT_EQ(text.size(), 100U);
    seen.insert(text.begin(), text.end());
  }
  EXPECT_EQ(seen.size(), alphabet.size());
}

TEST(RowGenerator, PadsNumbersInPatternsButNeverCutsThem) {
  const drivers::TableSchema table = Table({"varchar(100)"});
  ColumnRule rule = Rule(RuleKind::kPattern);
  using Insert = PatternPiece::Insert;
  rule.pattern = {{"ä{", Insert::kKey, 9},
                  {"}-", Insert::kVersion, 0},
                  {"", Insert::kKey, 2},
                  {"$", Insert::kNothing, 0}};
  const RowGenerator generator(table, {0}, {rule}, 1);
  EXPECT_EQ(Row(generator, 7, 3)[0], "ä{000000007}-307$");
  EXPECT_EQ(Row(generator, 12'345, 0)[0], "ä{000012345}-012345$");
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(Row(generator, most, most)[0],
            "ä{18446744073709551615}-1844674407370955161518446744073709551615$");
  EXPECT_GE(generator.max_bytes(), Row(generator, most, most)[0].size());
}

TEST(RowGenerator, MakesEmptyTexts) {
  const drivers::TableSchema table = Table({"varchar(5)", "varbinary(5)", "char(1)"});
  const RowGenerator generator(
      table, All(table),
      {Rule(RuleKind::kConstant), Rule(RuleKind::kRandomText, 0, 0), Rule(RuleKind::kPattern)}, 1);
  EXPECT_EQ(Row(generator, 1, 0), (std::vector<std::string>{"", "", ""}));
}

TEST(RowGenerator, WithoutColumnsMakesNothing) {
  const drivers::TableSchema table = Table({"int"});
  const RowGenerator generator(table, {}, {}, 1);
  EXPECT_TRUE(Row(generator, 1, 0).empty());
}

bool MatchesText(const Value& value, std::string_view type, std::string_view text) {
  return Matches(value, Type(type), Field{false, text});
}

TEST(Matches, ComparesIntegersByValue) {
  EXPECT_TRUE(MatchesText(Value::Unsigned(7), "int", "7"));
  EXPECT_FALSE(MatchesText(Value::Unsigned(7), "int", "8"));
  EXPECT_FALSE(MatchesText(Value::Unsigned(7), "int", "7x"));
  EXPECT_FALSE(MatchesText(Value::Unsigned(7), "int", ""));
  EXPECT_TRUE(MatchesText(Value::Integer(-7), "int", "-7"));
  EXPECT_FALSE(MatchesText(Value::Integer(-7), "int", "7"));
  EXPECT_TRUE(
      MatchesText(Value::Unsigned(~std::uint64_t{0}), "bigint unsigned", "18446744073709551615"));
  EXPECT_FALSE(MatchesText(Value::Unsigned(~std::uint64_t{0}), "bigint unsigned", "-1"));
  EXPECT_FALSE(
      MatchesText(Value::Unsigned(~std::uint64_t{0}), "bigint unsigned", "18446744073709551616"));
  EXPECT_TRUE(MatchesText(Value::Integer(INT64_MIN), "bigint", "-9223372036854775808"));
}

TEST(Matches, ComparesConstantsInIntegerColumnsByValue) {
  EXPECT_TRUE(MatchesText(Value::Text("007"), "int", "7"));
  EXPECT_TRUE(MatchesText(Value::Text("-007"), "int", "-7"));
  EXPECT_FALSE(MatchesText(Value::Text("007"), "int", "70"));
}

TEST(Matches, ComparesDecimalsByValue) {
  EXPECT_TRUE(MatchesText(Value::Text("1.5"), "decimal(15,2)", "1.50"));
  EXPECT_TRUE(MatchesText(Value::Text("01.50"), "decimal(15,2)", "1.50"));
  EXPECT_TRUE(MatchesText(Value::Text("-0.00"), "decimal(15,2)", "0.00"));
  EXPECT_TRUE(MatchesText(Value::Text("0.25"), "decimal(2,2)", ".25"));
  EXPECT_TRUE(MatchesText(Value::Text("+3"), "decimal(5,0)", "3"));
  EXPECT_TRUE(MatchesText(Value::Unsigned(42), "decimal(15,2)", "42.00"));
  EXPECT_TRUE(MatchesText(Value::Integer(-42), "decimal(15,2)", "-42.00"));
  EXPECT_FALSE(MatchesText(Value::Text("1.5"), "decimal(15,2)", "-1.50"));
  EXPECT_FALSE(MatchesText(Value::Text("1.5"), "decimal(15,2)", "1.05"));
  EXPECT_FALSE(MatchesText(Value::Text("10"), "decimal(15,2)", "1.00"));
  EXPECT_FALSE(MatchesText(Value::Text("1"), "decimal(15,2)", ""));
}

TEST(Matches, OverlooksTrailingSpacesOfCharOnly) {
  EXPECT_TRUE(MatchesText(Value::Text("ab  "), "char(4)", "ab"));
  EXPECT_TRUE(MatchesText(Value::Text("ab"), "char(4)", "ab  "));
  EXPECT_FALSE(MatchesText(Value::Text(" ab"), "char(4)", "ab"));
  EXPECT_FALSE(MatchesText(Value::Text("ab "), "varchar(4)", "ab"));
  EXPECT_TRUE(MatchesText(Value::Text("ab "), "varchar(4)", "ab "));
  EXPECT_FALSE(MatchesText(Value::Text("AB"), "varchar(4)", "ab"));
  EXPECT_FALSE(MatchesText(Value::Binary("ab "), "varbinary(4)", "ab"));
  EXPECT_TRUE(MatchesText(Value::Binary(std::string_view("a\0b", 3)), "varbinary(4)",
                          std::string_view("a\0b", 3)));
  EXPECT_FALSE(MatchesText(Value::Text("aB"), "text", "aC"));
  EXPECT_TRUE(MatchesText(Value::Unsigned(12), "varchar(4)", "12"));
  EXPECT_FALSE(MatchesText(Value::Unsigned(12), "varchar(4)", "012"));
}

TEST(Matches, TellsNullFromEmpty) {
  const Field null{true, ""};
  EXPECT_TRUE(Matches(Value::Null(), Type("varchar(3)"), null));
  EXPECT_FALSE(Matches(Value::Null(), Type("varchar(3)"), Field{false, ""}));
  EXPECT_FALSE(Matches(Value::Text(""), Type("varchar(3)"), null));
  EXPECT_TRUE(Matches(Value::Text(""), Type("varchar(3)"), Field{false, ""}));
  EXPECT_FALSE(Matches(Value::Unsigned(0), Type("int"), null));
}

TEST(Matches, EveryGeneratedValueMatchesItself) {
  const drivers::TableSchema table = Table(kTypes);
  const RowGenerator generator(table, All(table), std::vector<ColumnRule>(kTypes.size()), 42);
  RowBuffer row;
  for (std::uint64_t key = 1; key <= 100; ++key) {
    generator.Generate(key, 0, &row);
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      const std::string text = Print(row.values()[i]);
      EXPECT_TRUE(Matches(row.values()[i], table.columns[i].type, Field{false, text}))
          << kTypes[i] << " " << text;
      EXPECT_FALSE(Matches(row.values()[i], table.columns[i].type, Field{false, text + "1"}))
          << kTypes[i] << " " << text;
    }
  }
}

}  // namespace
}  // namespace cavalry::load
