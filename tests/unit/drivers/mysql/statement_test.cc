#include "drivers/mysql/statement.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

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
