#include "agent/load/row_file.h"

#include <string>

#include <gtest/gtest.h>

#include "agent/load/key_file.h"

namespace cavalry::load {
namespace {

using drivers::Value;

drivers::TableSchema Table(std::uint64_t rows) {
  drivers::TableSchema table;
  table.name = "t";
  table.rows = rows;
  table.columns = {{"id", *ParseColumnType("int"), false},
                   {"name", *ParseColumnType("varchar(5)"), true},
                   {"delta", *ParseColumnType("tinyint"), false}};
  return table;
}

std::string ErrorOf(const std::string& text, std::uint64_t rows = 1) {
  return StatusText(RowFile::Parse(text, "t.tbl", Table(rows)).status());
}

TEST(RowFile, ReadsFieldsByColumn) {
  for (const char* text : {"1|one|-5|\n2||7|\n3|\\N|0|\n", "1|one|-5\n2||7\n3|\\N|0",
                           "1,one,-5\r\n2,,7\r\n3,\\N,0\r\n"}) {
    const auto file = RowFile::Parse(text, "t.tbl", Table(3));
    ASSERT_TRUE(file.ok()) << text << StatusText(file.status());
    EXPECT_EQ((*file)->Read(1, 0).integer, 1);
    EXPECT_EQ((*file)->Read(1, 1).text, "one");
    EXPECT_EQ((*file)->Read(1, 2).kind, Value::Kind::kInteger);
    EXPECT_EQ((*file)->Read(1, 2).integer, -5);
    EXPECT_EQ((*file)->Read(2, 1).kind, Value::Kind::kText);
    EXPECT_EQ((*file)->Read(2, 1).text, "");
    EXPECT_EQ((*file)->Read(3, 1).kind, Value::Kind::kNull);
    EXPECT_EQ((*file)->Read(3, 2).integer, 0);
    EXPECT_FALSE((*file)->Has(0));
    EXPECT_TRUE((*file)->Has(3));
    EXPECT_FALSE((*file)->Has(4));
  }
}

TEST(RowFile, HashesWhatItUses) {
  const auto hash = [](const std::string& text) {
    return (*RowFile::Parse(text, "t.tbl", Table(1)))->hash();
  };
  EXPECT_EQ(hash("1|a|2|\n"), hash("1|a|2|\n2|b|3|\n"));
  EXPECT_NE(hash("1|a|2|\n"), hash("1|b|2|\n"));
}

TEST(RowFile, NamesTheLineThatIsWrong) {
  EXPECT_EQ(ErrorOf("1|a|2|\n", 2), "t.tbl: 1 lines, but the table 't' has 2 rows");
  EXPECT_EQ(ErrorOf("", 1), "t.tbl: 0 lines, but the table 't' has 1 rows");
  EXPECT_EQ(ErrorOf("1|a|\n"), "t.tbl:1: 2 fields, but the table has 3 columns");
  EXPECT_EQ(ErrorOf("1|a|2|3|\n"), "t.tbl:1: 4 fields, but the table has 3 columns");
  EXPECT_EQ(ErrorOf("1|a|2|\n\n", 2), "t.tbl:2: 1 fields, but the table has 3 columns");
  EXPECT_EQ(ErrorOf("1|a|128|\n"), "t.tbl:1: delta: '128' is no number for tinyint");
  EXPECT_EQ(ErrorOf("1|a|-129|\n"), "t.tbl:1: delta: '-129' is no number for tinyint");
  EXPECT_EQ(ErrorOf("1|a||\n"), "t.tbl:1: delta: '' is no number for tinyint");
  EXPECT_EQ(ErrorOf("1|abcdef|1|\n"), "t.tbl:1: name: 'abcdef' is 6 long, and varchar(5) holds 5");
  EXPECT_EQ(ErrorOf("1|gr\xc3\xb6\xc3\x9f"
                    "e|1|\n"),
            "");  // five characters
  EXPECT_EQ(ErrorOf("1|a|\\N|\n"), "t.tbl:1: delta: NULL, but it is not nullable");
  EXPECT_EQ(ErrorOf("1|a|1|\n3|a|1|\n", 2),
            "t.tbl:2: id: key '3', but the rows must be in order from 1");
}

TEST(RowFile, NamesAFileThatCannotBeRead) {
  const Status status = RowFile::Load("/nonexistent/rows.tbl", Table(1)).status();
  EXPECT_NE(StatusText(status).find("/nonexistent/rows.tbl"), std::string::npos);
}

TEST(KeyFile, ReadsANumberALine) {
  const auto keys = ParseKeyFile("7\n 3 \r\n9223372036854775807", "keys.txt");
  ASSERT_TRUE(keys.ok()) << StatusText(keys.status());
  EXPECT_EQ(**keys, (KeyList{7, 3, 9'223'372'036'854'775'807U}));
}

TEST(KeyFile, NamesTheLineThatIsWrong) {
  const auto error = [](std::string_view text) {
    return StatusText(ParseKeyFile(text, "keys.txt").status());
  };
  EXPECT_EQ(error(""), "keys.txt: has no keys");
  for (const char* bad : {"", "x", "-1", "1.5", "9223372036854775808", "1 2"}) {
    EXPECT_TRUE(error("5\n" + std::string(bad) + "\n6").starts_with("keys.txt:2: ")) << bad;
  }
  EXPECT_NE(StatusText(LoadKeyFile("/nonexistent/keys").status()).find("/nonexistent/keys"),
            std::string::npos);
}

}  // namespace
}  // namespace cavalry::load
