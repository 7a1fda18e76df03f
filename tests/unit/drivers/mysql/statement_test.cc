#include "drivers/mysql/statement.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "drivers/mysql/native_statement.h"

namespace cavalry::drivers::mysql {
namespace {

std::string Literal(const Value& value, Escaping escaping = Escaping::kBackslash) {
  std::string sql;
  AppendValue(value, escaping, &sql);
  return sql;
}

// What a server makes of a literal: the inverse, written independently.
std::string Unescape(std::string_view literal, Escaping escaping) {
  EXPECT_GE(literal.size(), 2u);
  EXPECT_EQ(literal.front(), '\'');
  EXPECT_EQ(literal.back(), '\'');
  literal = literal.substr(1, literal.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    const char c = literal[i];
    if (c == '\\' && escaping == Escaping::kBackslash) {
      const char next = literal[++i];
      constexpr std::string_view kLetters = "0nrZ";
      constexpr std::string_view kBytes("\0\n\r\x1a", 4);
      const std::size_t letter = kLetters.find(next);
      text.push_back(letter == std::string_view::npos ? next : kBytes[letter]);
    } else if (c == '\'') {
      EXPECT_EQ(literal[i + 1], '\'') << "a quote that is not doubled ends the literal";
      text.push_back(literal[++i]);
    } else {
      text.push_back(c);
    }
  }
  return text;
}

TableSchema Table() {
  TableSchema table;
  table.name = "cu`st";
  table.key_columns = {0};
  table.columns = {{"id", *ParseColumnType("int"), false},
                   {"na`me", *ParseColumnType("varchar(25)"), false},
                   {"n", *ParseColumnType("bigint"), true}};
  return table;
}

OperationPlan Plan(const TableSchema& table, OperationKind kind,
                   std::vector<std::uint32_t> columns) {
  OperationPlan plan;
  plan.kind = kind;
  plan.table = &table;
  plan.columns = std::move(columns);
  return plan;
}

std::string Written(const OperationPlan& plan, const Value& key,
                    std::span<const Value> values = {}) {
  Operation operation;
  operation.plan = &plan;
  operation.key = key;
  operation.values = values;
  std::string sql = "left over from the operation before";
  StatementTemplate(plan).Write(operation, Escaping::kBackslash, &sql);
  return sql;
}

TEST(AppendName, DoublesBackticks) {
  EXPECT_EQ(QuotedName("a"), "`a`");
  EXPECT_EQ(QuotedName("a`b``"), "`a``b`````");
}

TEST(AppendValue, WritesNumbersAtTheirLimits) {
  EXPECT_EQ(Literal(Value::Null()), "NULL");
  EXPECT_EQ(Literal(Value::Integer(0)), "0");
  EXPECT_EQ(Literal(Value::Integer(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(Literal(Value::Integer(INT64_MAX)), "9223372036854775807");
  EXPECT_EQ(Literal(Value::Unsigned(UINT64_MAX)), "18446744073709551615");
}

TEST(AppendValue, EscapesWhatMysqlRealEscapeStringEscapes) {
  EXPECT_EQ(Literal(Value::Text(std::string_view("a\0b", 3))), "'a\\0b'");
  EXPECT_EQ(Literal(Value::Text("\n\r\x1a")), "'\\n\\r\\Z'");
  EXPECT_EQ(Literal(Value::Text("it's \"q\" \\")), R"('it\'s \"q\" \\')");
  EXPECT_EQ(Literal(Value::Text("")), "''");
}

TEST(AppendValue, EveryByteComesBack) {
  for (const Escaping escaping : {Escaping::kBackslash, Escaping::kQuotesOnly}) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) {
      const std::string one(1, static_cast<char>(byte));
      EXPECT_EQ(Unescape(Literal(Value::Text(one), escaping), escaping), one) << byte;
      all += one;
    }
    EXPECT_EQ(Unescape(Literal(Value::Text(all), escaping), escaping), all);
    EXPECT_EQ(Unescape(Literal(Value::Text(all + all), escaping), escaping), all + all);
  }
}

TEST(AppendValue, LeavesUtf8Alone) {
  EXPECT_EQ(Literal(Value::Text("Zoë 騎兵 \xF0\x9F\x90\x8E")), "'Zoë 騎兵 \xF0\x9F\x90\x8E'");
}

TEST(AppendValue, WithoutBackslashEscapesOnlyQuotesAreDoubled) {
  EXPECT_EQ(Literal(Value::Text("it's \\ \"\n"), Escaping::kQuotesOnly), "'it''s \\ \"\n'");
}

TEST(AppendValue, WritesBinaryAsHex) {
  EXPECT_EQ(Literal(Value::Binary("")), "X''");
  EXPECT_EQ(Literal(Value::Binary(std::string_view("\0'\xff", 3))), "X'0027FF'");
}

TEST(StatementTemplate, Reads) {
  const TableSchema table = Table();
  const OperationPlan plan = Plan(table, OperationKind::kRead, {0, 1});
  EXPECT_EQ(Written(plan, Value::Unsigned(42)), "SELECT `id`,`na``me` FROM `cu``st` WHERE `id`=42");
  EXPECT_EQ(StatementTemplate(plan).prepared(), "SELECT `id`,`na``me` FROM `cu``st` WHERE `id`=?");
  EXPECT_EQ(StatementTemplate(plan).parameter_count(), 1u);
}

TEST(StatementTemplate, Inserts) {
  const TableSchema table = Table();
  const OperationPlan plan = Plan(table, OperationKind::kInsert, {0, 1, 2});
  const std::array values = {Value::Integer(1), Value::Text("x'"), Value::Null()};
  EXPECT_EQ(Written(plan, Value::Null(), values),
            "INSERT INTO `cu``st` (`id`,`na``me`,`n`) VALUES (1,'x\\'',NULL)");
  EXPECT_EQ(StatementTemplate(plan).prepared(),
            "INSERT INTO `cu``st` (`id`,`na``me`,`n`) VALUES (?,?,?)");
}

TEST(StatementTemplate, InsertsAnOnlyColumn) {
  const TableSchema table = Table();
  const OperationPlan plan = Plan(table, OperationKind::kInsert, {0});
  const std::array values = {Value::Integer(1)};
  EXPECT_EQ(Written(plan, Value::Null(), values), "INSERT INTO `cu``st` (`id`) VALUES (1)");
}

TEST(StatementTemplate, UpdatesWithTheKeyLast) {
  const TableSchema table = Table();
  const OperationPlan plan = Plan(table, OperationKind::kUpdate, {2, 1});
  const std::array values = {Value::Integer(-3), Value::Text("y")};
  EXPECT_EQ(Written(plan, Value::Unsigned(9), values),
            "UPDATE `cu``st` SET `n`=-3,`na``me`='y' WHERE `id`=9");
  const StatementTemplate statement(plan);
  EXPECT_EQ(statement.prepared(), "UPDATE `cu``st` SET `n`=?,`na``me`=? WHERE `id`=?");
  ASSERT_EQ(statement.parameter_count(), 3u);
  EXPECT_EQ(statement.parameter_column(0)->name, "n");
  EXPECT_EQ(statement.parameter_column(1)->name, "na`me");
  EXPECT_EQ(statement.parameter_column(2)->name, "id");
}

TEST(StatementTemplate, Deletes) {
  const TableSchema table = Table();
  const OperationPlan plan = Plan(table, OperationKind::kDelete, {});
  EXPECT_EQ(Written(plan, Value::Unsigned(9)), "DELETE FROM `cu``st` WHERE `id`=9");
}

TEST(StatementTemplate, WorksByAllColumnsOfAKey) {
  TableSchema table = Table();
  table.key_columns = {2, 0};
  const std::array key = {Value::Text("x"), Value::Integer(7)};
  const auto written = [&](const OperationPlan& plan) {
    const Operation operation{&plan, Key(key), {}, nullptr};
    std::string sql;
    StatementTemplate(plan).Write(operation, Escaping::kBackslash, &sql);
    return sql;
  };
  EXPECT_EQ(written(Plan(table, OperationKind::kRead, {1})),
            "SELECT `na``me` FROM `cu``st` WHERE `n`='x' AND `id`=7");
  OperationPlan increment = Plan(table, OperationKind::kIncrement, {2});
  increment.amount = -3;
  EXPECT_EQ(written(increment), "UPDATE `cu``st` SET `n`=`n`-3 WHERE `n`='x' AND `id`=7");
  OperationPlan several = Plan(table, OperationKind::kMultiRead, {0});
  EXPECT_EQ(written(several), "SELECT `id` FROM `cu``st` WHERE (`n`,`id`) IN (('x',7))");
  several.batch = 2;
  table.key_columns = {0};
  EXPECT_EQ(written(several), "SELECT `id` FROM `cu``st` WHERE `id` IN ('x',7)");
}

TEST(StatementTemplate, ScansWithTheComparisonWrittenOut) {
  TableSchema table = Table();
  table.indexes = {{"by`n", {2, 1}, false}};
  OperationPlan plan = Plan(table, OperationKind::kScan, {0});
  plan.scan = {"by`n", {2, 1}, Comparison::kLessEqual, 10, 5, {}, {}};
  plan.scan.filters = {{1, Comparison::kGreater, false, "it's", false},
                       {1, Comparison::kNotEqual, false, "\\", false},
                       {2, Comparison::kNotEqual, true, "", false}};
  EXPECT_EQ(StatementTemplate(plan).prepared(),
            "SELECT `id` FROM `cu``st` FORCE INDEX (`by``n`) WHERE (`n`<? OR `n`=? AND "
            "`na``me`<=?) AND `na``me`>'it''s' AND `na``me`<>_utf8mb4 X'5C' AND `n` IS NOT NULL "
            "ORDER BY `n` DESC,`na``me` DESC LIMIT 10 OFFSET 5");
  plan.scan = {"", {0}, Comparison::kEqual, 3, 0, {}, {4, 2}};
  EXPECT_EQ(StatementTemplate(plan).prepared(),
            "SELECT `id` FROM `cu``st` FORCE INDEX (`PRIMARY`) WHERE `id` IN (4,2) ORDER BY `id` "
            "LIMIT 3");
}

TEST(StatementTemplate, InsertsRowsWithValuesOfTheServers) {
  const TableSchema table = Table();
  OperationPlan plan = Plan(table, OperationKind::kInsert, {0, 1});
  plan.batch = 2;
  plan.server_values = {"", "now()"};
  const std::array values = {Value::Integer(1), Value::Null(), Value::Integer(2), Value::Null()};
  EXPECT_EQ(Written(plan, Value::Null(), values),
            "INSERT INTO `cu``st` (`id`,`na``me`) VALUES (1,now()),(2,now())");
}

TEST(StatementTemplate, NativeStatementsTakeTheirParameters) {
  OperationPlan plan;
  plan.kind = OperationKind::kNative;
  plan.statement = "SELECT '?', ? FROM t -- ?\n WHERE a = ?";
  plan.parameters = 2;
  const std::array values = {Value::Text("x'"), Value::Null()};
  EXPECT_EQ(Written(plan, Value::Null(), values),
            "SELECT '?', 'x\\'' FROM t -- ?\n WHERE a = NULL");
  EXPECT_FALSE(StatementTemplate(plan).is_text_only());
  plan.statement += "; SELECT 1";
  EXPECT_TRUE(StatementTemplate(plan).is_text_only());
}

TEST(ParseNative, TellsOneStatementFromSeveral) {
  for (const char* one : {"SELECT 1", "SELECT 1;", " ; SELECT 1 ; -- done; SELECT 2\n ;",
                          "SELECT ';', \"a;b\", `c;d` /* ; x */", "SELECT 'a\\';b'",
                          "SELECT 'it''s;' # ; SELECT", "SELECT 1--1"}) {
    EXPECT_FALSE(ParseNative(one).several) << one;
    EXPECT_FALSE(ParseNative(one).is_open) << one;
    EXPECT_FALSE(ParseNative(one).is_empty) << one;
  }
  for (const char* several : {"SELECT 1; SELECT 2", "SET @a=1;SELECT ?", "SELECT 1; /* x */ DO 1",
                              "SELECT 'a';'b'", "SELECT 1 --;\n; SELECT 2"}) {
    EXPECT_TRUE(ParseNative(several).several) << several;
  }
  for (const char* open : {"SELECT 'a", "SELECT \"a\\\"", "SELECT `a", "SELECT /* a", "'"}) {
    EXPECT_TRUE(ParseNative(open).is_open) << open;
  }
  EXPECT_TRUE(ParseNative(" ; /* */ -- x").is_empty);
  EXPECT_TRUE(ParseNative("").is_empty);
  EXPECT_EQ(ParseNative("? '?' ? \"?\" `?` #?\n?/*?*/").parameter_count(), 3u);
}

TEST(CheckName, KnowsTheServersBounds) {
  EXPECT_TRUE(CheckName("table", "customer").ok());
  EXPECT_TRUE(CheckName("table", "a`b c").ok());
  EXPECT_TRUE(CheckName("table", std::string(64, 'x')).ok());
  std::string wide;
  for (int i = 0; i < 64; ++i) wide += "é";
  EXPECT_TRUE(CheckName("table", wide).ok());
  for (const std::string& name : {std::string(), std::string(65, 'x'), std::string("x "),
                                  std::string("a\0b", 3), std::string("\xF0\x9F\x90\x8E")}) {
    EXPECT_EQ(CheckName("table", name).code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace cavalry::drivers::mysql
