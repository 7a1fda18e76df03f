#include "agent/load/row_generator.h"

#include <charconv>
#include <map>
#include <memory>
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
      EXPECT_EQ(value.kind, type.is_binary() ? Value::Kind::kBinary : Value::Kind::kText);
      if (type.is_binary()) return;
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

// The mean of a generalized Pareto distribution is location + scale / (1 - shape).
TEST(RowGenerator, DrawsLengthsByThePareto) {
  const drivers::TableSchema table = Table({"text"});
  ColumnRule rule = Rule(RuleKind::kRandomText, 1, 20'000);
  rule.pareto_location = 10;
  rule.pareto_scale = 60;
  rule.pareto_shape = 0.25;
  const RowGenerator generator(table, {0}, {rule}, 42);
  double sum = 0;
  std::size_t small = 0;
  constexpr int kRows = 20'000;
  for (std::uint64_t key = 1; key <= kRows; ++key) {
    const std::size_t length = Row(generator, key, 0)[0].size();
    ASSERT_GE(length, 10U);
    sum += static_cast<double>(length);
    small += length < 52 ? 1 : 0;  // the median is 10 + 60 * (2^0.25 - 1) / 0.25 = 55.4
  }
  EXPECT_NEAR(sum / kRows, 90, 4);
  EXPECT_NEAR(static_cast<double>(small) / kRows, 0.47, 0.03);
}

TEST(RowGenerator, ColumnsAsFilledKeepTheirFirstValue) {
  const drivers::TableSchema table = Table(kTypes);
  std::vector<ColumnRule> rules(kTypes.size());
  const RowGenerator changing(table, All(table), rules, 42);
  for (ColumnRule& rule : rules) rule.as_filled = true;
  const RowGenerator kept(table, All(table), rules, 42);
  EXPECT_NE(Row(changing, 7, 3), Row(changing, 7, 0));
  EXPECT_EQ(Row(kept, 7, 3), Row(changing, 7, 0));
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

TEST(RowGenerator, MakesValuesOfEveryOtherType) {
  const drivers::TableSchema table =
      Table({"boolean", "float", "double", "binary(16)", "blob", "time", "timestamp", "year",
             "json", "longtext", "mediumint"});
  const RowGenerator generator(table, All(table), std::vector<ColumnRule>(table.columns.size()),
                               42);
  std::set<std::string> booleans;
  std::set<char> bytes;
  for (std::uint64_t key = 1; key <= 300; ++key) {
    const std::vector<std::string> row = Row(generator, key, 0);
    booleans.insert(row[0]);
    // Six digits at most, so that a float comes back as it was.
    EXPECT_LE(row[1].size(), 6U) << row[1];
    EXPECT_EQ(row[2].size() - row[2].find('.'), 4U) << row[2];
    EXPECT_EQ(row[3].size(), 16U);
    bytes.insert(row[3].begin(), row[3].end());
    EXPECT_LE(row[4].size(), 1'024U);
    EXPECT_EQ(row[5].size(), 8U);
    ExpectDate(row[6].substr(0, 10));
    EXPECT_GE(Number(row[6].substr(11, 2)), 4);  // no change to summer time
    EXPECT_GE(Number(row[7]), 2000);
    EXPECT_LE(Number(row[7]), 2029);
    EXPECT_TRUE(row[8].starts_with("{\"n\": " + std::to_string(key) + ", \"text\": \""));
    EXPECT_LE(row[9].size(), 1'024U);
    EXPECT_LE(Number(row[10]), 8'388'607);
  }
  EXPECT_EQ(booleans, (std::set<std::string>{"0", "1"}));
  EXPECT_EQ(bytes.size(), 256U);
}

TEST(RowGenerator, HashesAreDistinctAndFit) {
  const drivers::TableSchema table = Table({"bigint", "bigint unsigned", "tinyint", "char(16)"});
  const std::uint64_t most = ~std::uint64_t{0};
  const RowGenerator generator(table, All(table),
                               {Rule(RuleKind::kHashed, 0, most), Rule(RuleKind::kHashed, 0, most),
                                Rule(RuleKind::kHashed, 0, 127), Rule(RuleKind::kHashed, 0, most)},
                               42);
  std::set<std::string> numbers;
  std::set<std::string> texts;
  bool negative = false;
  for (std::uint64_t key = 1; key <= 1'000; ++key) {
    const std::vector<std::string> row = Row(generator, key, 0);
    EXPECT_EQ(row, Row(generator, key, 7));  // of the row, whatever its version
    numbers.insert(row[0]);
    texts.insert(row[3]);
    negative = negative || row[0].starts_with('-');
    EXPECT_FALSE(row[1].starts_with('-'));
    EXPECT_LE(Number(row[2]), 127);
    EXPECT_GE(Number(row[2]), 0);
    EXPECT_EQ(row[3].size(), 16U);
    EXPECT_EQ(row[3].find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_EQ(numbers.size(), 1'000U);
  EXPECT_EQ(texts.size(), 1'000U);
  EXPECT_TRUE(negative);
}

TEST(RowGenerator, DrawsOneOfSomeTexts) {
  const drivers::TableSchema table = Table({"varchar(9)"});
  ColumnRule rule = Rule(RuleKind::kOneOf);
  rule.texts = {"red", "green", ""};
  const RowGenerator generator(table, {0}, {rule}, 42);
  std::map<std::string, int> counts;
  for (std::uint64_t key = 1; key <= 3'000; ++key) ++counts[Row(generator, key, 0)[0]];
  ASSERT_EQ(counts.size(), 3U);
  for (const auto& [text, count] : counts) EXPECT_NEAR(count, 1'000, 150) << text;
}

// A phone number by the rules of TPC-H: the country's number plus 10 in front.
TEST(RowGenerator, PatternsTakeDigitsAndNumbersOfOtherColumns) {
  const drivers::TableSchema table = Table({"int", "char(15)"});
  const ColumnRule nation = Rule(RuleKind::kRandomInt, 0, 24);
  ColumnRule phone = Rule(RuleKind::kPattern);
  using Insert = PatternPiece::Insert;
  phone.pattern = {{"", Insert::kColumn, 0, 0, 10, std::make_shared<ColumnRule>(nation)},
                   {"-", Insert::kDigits, 3},
                   {"-", Insert::kDigits, 4},
                   {}};
  const RowGenerator both(table, {0, 1}, {nation, phone}, 42);
  const RowGenerator alone(table, {1}, {phone}, 42);
  std::set<std::string> digits;
  for (std::uint64_t key = 1; key <= 500; ++key) {
    const std::vector<std::string> row = Row(both, key, 0);
    EXPECT_EQ(row[1].substr(0, 2), std::to_string(Number(row[0]) + 10));
    EXPECT_EQ(row[1].size(), 11U);
    EXPECT_EQ(row[1][2], '-');
    EXPECT_EQ(row[1][6], '-');
    digits.insert(row[1].substr(3, 3));
    EXPECT_EQ(Row(alone, key, 0)[0], row[1]);
    EXPECT_EQ(Row(alone, key, 4)[0].substr(0, 2), row[1].substr(0, 2));
  }
  EXPECT_GT(digits.size(), 350U);
}

TEST(RowGenerator, FillsSeveralRowsOneAfterTheOther) {
  const drivers::TableSchema table = Table({"bigint", "varchar(30)"});
  const RowGenerator generator(table, {0, 1}, {Rule(RuleKind::kKey), ColumnRule()}, 42);
  RowBuffer rows;
  for (const std::size_t count : {2U, 5U, 3U}) {
    for (std::size_t i = 0; i < count; ++i) generator.Generate(100 + i, 0, i, count, &rows);
    ASSERT_EQ(rows.values().size(), 2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::string> row = Row(generator, 100 + i, 0);
      EXPECT_EQ(Print(rows.values()[2 * i]), row[0]);
      EXPECT_EQ(Print(rows.values()[2 * i + 1]), row[1]);
    }
  }
}

TEST(RowGenerator, TakesRowsFromAFile) {
  drivers::TableSchema table = Table({"int", "varchar(30)"});
  table.rows = 2;
  auto file = RowFile::Parse("1|one|\n2|two|\n", "t.tbl", table);
  ASSERT_TRUE(file.ok()) << StatusText(file.status());
  std::vector<ColumnRule> rules = {Rule(RuleKind::kKey), Rule(RuleKind::kConstant, 0, 0, "rule")};
  for (ColumnRule& rule : rules) rule.file = *file;
  const RowGenerator generator(table, {1, 0}, {rules[1], rules[0]}, 42);
  EXPECT_EQ(Row(generator, 2, 0), (std::vector<std::string>{"two", "2"}));
  EXPECT_EQ(Row(generator, 3, 0), (std::vector<std::string>{"rule", "3"}));  // inserted
  EXPECT_EQ(Row(generator, 2, 1), (std::vector<std::string>{"rule", "2"}));  // updated
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

TEST(Matches, ComparesFloatsAsFarAsTheyArePrinted) {
  EXPECT_TRUE(MatchesText(Value::Text("1234.5"), "float", "1234.5"));
  EXPECT_TRUE(MatchesText(Value::Text("1234.567"), "float", "1234.57"));
  EXPECT_FALSE(MatchesText(Value::Text("1234.5"), "float", "1234.6"));
  EXPECT_TRUE(MatchesText(Value::Text("1e3"), "double", "1000"));
  EXPECT_TRUE(MatchesText(Value::Unsigned(7), "double", "7"));
  EXPECT_FALSE(MatchesText(Value::Text("1234.567"), "double", "1234.5671"));
  EXPECT_FALSE(MatchesText(Value::Text("1.5"), "double", ""));
}

TEST(Matches, OverlooksThePaddingOfBinary) {
  EXPECT_TRUE(MatchesText(Value::Binary("ab"), "binary(4)", std::string_view("ab\0\0", 4)));
  EXPECT_FALSE(MatchesText(Value::Binary("ab"), "binary(4)", "ab  "));
  EXPECT_FALSE(MatchesText(Value::Binary("ab"), "blob", std::string_view("ab\0", 3)));
}

TEST(Matches, ComparesTheOtherTypes) {
  EXPECT_TRUE(MatchesText(Value::Unsigned(2026), "year", "2026"));
  EXPECT_TRUE(MatchesText(Value::Text("2026"), "year", "2026"));
  EXPECT_FALSE(MatchesText(Value::Unsigned(2026), "year", "2027"));
  EXPECT_TRUE(MatchesText(Value::Unsigned(1), "boolean", "1"));
  EXPECT_TRUE(MatchesText(Value::Text("04:05:06"), "time", "04:05:06"));
  EXPECT_TRUE(MatchesText(Value::Text("{\"n\": 1}"), "json", "{\"n\": 1}"));
}

}  // namespace
}  // namespace cavalry::load
