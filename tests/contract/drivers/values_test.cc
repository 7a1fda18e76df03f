// Values go to every back-end and come back as they were: at the limits of their types, NULL,
// empty, every byte, every length of UTF-8. What a column cannot hold is never cut in silence.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/contract/drivers/fixture.h"

namespace cavalry::driver_contract {
namespace {

class ValuesTest : public ContractTest {
 protected:
  struct Case {
    std::string type;
    std::vector<Value> values;
    std::vector<std::string> texts;  // as they come back; empty: the values' own texts
  };

  // One column per type and a row per value: inserted, read back; then each row updated to the
  // values of the next row, and to NULL and back, and read back again.
  void ComeBack(const std::vector<Case>& cases);

 private:
  static std::string TextOf(const Case& one, std::size_t i);
};

std::string ValuesTest::TextOf(const Case& one, std::size_t i) {
  if (!one.texts.empty()) return one.texts[i];
  const Value& value = one.values[i];
  if (value.kind == Value::Kind::kInteger) return std::to_string(value.integer);
  if (value.kind == Value::Kind::kUnsigned) {
    return std::to_string(static_cast<std::uint64_t>(value.integer));
  }
  return std::string(value.text);
}

void ValuesTest::ComeBack(const std::vector<Case>& cases) {
  std::vector<std::pair<std::string, std::string>> columns = {{"id", "bigint"}};
  std::size_t rows = 0;
  for (const Case& one : cases) {
    columns.emplace_back("c" + std::to_string(columns.size()), one.type + "?");
    rows = std::max(rows, one.values.size());
  }
  TestTable& table = NewTable(columns);
  table.PlanTheFour();
  Client& client = NewClient(table);
  // The values of row `row`, each column's in turn; `nulls`: NULL in all columns.
  const auto row_of = [&](std::size_t row, bool nulls) {
    std::vector<Value> values;
    for (const Case& one : cases) {
      values.push_back(nulls ? Value::Null() : one.values[row % one.values.size()]);
    }
    return values;
  };
  const auto expect_row = [&](std::int64_t id, std::size_t row, bool nulls, const char* after) {
    const Done done = client.Run(table.Read(id));
    ASSERT_EQ(done.outcome, Outcome::kOk) << done << " after " << after;
    ASSERT_EQ(done.rows.size(), 1U);
    ASSERT_EQ(done.rows[0].size(), cases.size() + 1);
    EXPECT_EQ(done.rows[0][0], std::to_string(id));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto& got = done.rows[0][i + 1];
      EXPECT_EQ(got.has_value(), !nulls) << cases[i].type << " after " << after;
      if (!got || nulls) continue;
      EXPECT_EQ(*got, TextOf(cases[i], row % cases[i].values.size()))
          << cases[i].type << " after " << after;
    }
  };
  for (std::size_t row = 0; row < rows; ++row) {
    const auto id = static_cast<std::int64_t>(row) + 1;
    std::vector<Value> values = row_of(row, false);
    values.insert(values.begin(), Value::Integer(id));
    const Done inserted = client.Run(table.Insert(values));
    ASSERT_EQ(inserted.outcome, Outcome::kOk) << inserted;
    expect_row(id, row, false, "insert");
    const std::vector<Value> next = row_of(row + 1, false);
    EXPECT_EQ(client.Run(table.Update(id, next)).outcome, Outcome::kOk);
    expect_row(id, row + 1, false, "update");
    const std::vector<Value> nulls = row_of(row, true);
    EXPECT_EQ(client.Run(table.Update(id, nulls)).outcome, Outcome::kOk);
    expect_row(id, row, true, "update to NULL");
  }
  std::vector<Value> nulls = row_of(0, true);
  nulls.insert(nulls.begin(), Value::Integer(-1));
  EXPECT_EQ(client.Run(table.Insert(nulls)).outcome, Outcome::kOk);
  expect_row(-1, 0, true, "insert of NULL");
  const std::vector<Value> back = row_of(0, false);
  EXPECT_EQ(client.Run(table.Update(-1, back)).outcome, Outcome::kOk);
  expect_row(-1, 0, false, "update from NULL");
}

TEST_P(ValuesTest, Numbers) {
  using Limits = std::numeric_limits<std::int64_t>;
  ComeBack({
      {"tinyint", {Value::Integer(-128), Value::Integer(0), Value::Integer(127)}},
      {"tinyint unsigned", {Value::Integer(0), Value::Unsigned(255)}},
      {"smallint", {Value::Integer(-32'768), Value::Integer(32'767)}},
      {"smallint unsigned", {Value::Integer(0), Value::Integer(65'535)}},
      {"mediumint", {Value::Integer(-8'388'608), Value::Integer(8'388'607)}},
      {"int", {Value::Integer(-2'147'483'648), Value::Integer(-1), Value::Integer(2'147'483'647)}},
      {"int unsigned", {Value::Integer(0), Value::Unsigned(4'294'967'295)}},
      {"bigint", {Value::Integer(Limits::min()), Value::Integer(Limits::max())}},
      {"bigint unsigned",
       {Value::Integer(0), Value::Unsigned(std::numeric_limits<std::uint64_t>::max())}},
      {"decimal(15,2)",
       {Value::Text("-999.99"), Value::Text("0.00"), Value::Text("-0.01"),
        Value::Text("9999999999999.99"), Value::Text("-9999999999999.99")}},
      {"decimal(10,0)", {Value::Text("-7"), Value::Text("9999999999")}},
      {"double", {Value::Text("-2.25"), Value::Text("0.5")}},
      {"boolean", {Value::Integer(0), Value::Integer(1)}},
  });
}

TEST_P(ValuesTest, Texts) {
  const std::string long_text(60'000, 'x');
  const std::string many_wide(64, ' ');
  std::string wide;
  for (std::size_t i = 0; i < 64; ++i) wide += "\xf0\x9f\x90\x8e";
  ComeBack({
      {"varchar(64)",
       {Value::Text(""), Value::Text("a"), Value::Text("\xc3\xa9"), Value::Text("\xe2\x82\xac"),
        Value::Text("\xf0\x9f\x90\x8e"), Value::Text("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8e"),
        Value::Text(wide), Value::Text(many_wide), Value::Text(" both ends "),
        Value::Text("it's \"quoted\" \\ and \\0 % _ ? ; -- /* */ # $$ {}"),
        Value::Text("tab\tand\nline\r\nends\x1a"), Value::Text("NULL"), Value::Text("0")}},
      {"char(5)", {Value::Text("abcde"), Value::Text(""), Value::Text("\xc3\xa9\xe2\x82\xac")}},
      {"text", {Value::Text(""), Value::Text(long_text), Value::Text("short again")}},
  });
}

TEST_P(ValuesTest, Bytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  // Each byte alone, too: what is special about one may hide among others.
  std::vector<std::string> single;
  for (const char byte : all) single.emplace_back(1, byte);
  std::vector<Value> values = {Value::Binary(""), Value::Binary(all)};
  for (const std::string& one : single) values.push_back(Value::Binary(one));
  const std::string blob = all + std::string(5'000, '\0') + all;
  ComeBack({{"varbinary(300)", values}, {"blob", {Value::Binary(blob), Value::Binary("")}}});
}

TEST_P(ValuesTest, Times) {
  ComeBack({
      {"date", {Value::Text("1000-01-01"), Value::Text("2024-02-29"), Value::Text("9999-12-31")}},
      {"datetime",
       {Value::Text("1000-01-01 00:00:00"), Value::Text("1969-12-31 23:59:59"),
        Value::Text("9999-12-31 23:59:59")}},
      {"time", {Value::Text("00:00:00"), Value::Text("23:59:59")}},
      {"year", {Value::Integer(1901), Value::Integer(2155)}},
  });
}

TEST_P(ValuesTest, ATextThatDoesNotFitIsRefusedOrKeptWhole) {
  TestTable& table = NewTable({{"id", "bigint"}, {"v", "varchar(3)"}});
  table.PlanTheFour();
  Client& client = NewClient(table);
  const std::vector<Value> fits = {Value::Integer(1), Value::Text("abc")};
  ASSERT_EQ(client.Run(table.Insert(fits)).outcome, Outcome::kOk);
  const std::vector<Value> too_long = {Value::Integer(2), Value::Text("abcd")};
  const Done inserted = client.Run(table.Insert(too_long));
  const std::vector<Value> longer = {Value::Text("wxyz")};
  const Done updated = client.Run(table.Update(1, longer));
  if (can().bounds_texts) {
    for (const Done& refused : {inserted, updated}) {
      // By the server, or before it is sent.
      EXPECT_TRUE(refused.outcome == Outcome::kRejected || refused.outcome == Outcome::kNotSent)
          << refused;
      EXPECT_EQ(refused.severity, Severity::kNormal) << refused;
      EXPECT_FALSE(refused.text.empty());
    }
    EXPECT_EQ(client.Run(table.Read(2)).outcome, Outcome::kMiss);
    EXPECT_EQ(client.Run(table.Read(1)).rows.at(0).at(1), "abc");
  } else {
    EXPECT_EQ(inserted.outcome, Outcome::kOk) << inserted;
    EXPECT_EQ(updated.outcome, Outcome::kOk) << updated;
    EXPECT_EQ(client.Run(table.Read(2)).rows.at(0).at(1), "abcd");
    EXPECT_EQ(client.Run(table.Read(1)).rows.at(0).at(1), "wxyz");
  }
}

CAVALRY_CONTRACT(ValuesTest);

}  // namespace
}  // namespace cavalry::driver_contract
