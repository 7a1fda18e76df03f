#include "drivers/core/table_mark.h"

#include <gtest/gtest.h>

namespace cavalry::drivers::mysql {
namespace {

TEST(TableMark, IsReadBackAsWritten) {
  for (const TableMark state : {TableMark::kEmpty, TableMark::kFilled, TableMark::kUsed}) {
    const auto mark = ParseMark(FormatMark({0x0123456789abcdef, 150'000, state}));
    ASSERT_TRUE(mark);
    EXPECT_EQ(mark->schema_hash, 0x0123456789abcdefu);
    EXPECT_EQ(mark->rows, 150'000u);
    EXPECT_EQ(mark->state, state);
  }
  EXPECT_EQ(FormatMark({0xff, 7, TableMark::kFilled}),
            "cavalry:1 schema=00000000000000ff rows=7 state=filled");
}

TEST(TableMark, AnythingElseIsNotOurs) {
  for (const char* comment :
       {"", "customers of the shop", "cavalry", "cavalry:1",
        "cavalry:1 schema=ff rows=7 state=used",
        "cavalry:2 schema=00000000000000ff rows=7 state=filled",
        "cavalry:1 schema=00000000000000ff rows=7 state=", "InnoDB free: 4096 kB",
        "cavalry:1 schema=00000000000000ff rows= state=filled",
        "cavalry:1 schema=00000000000000ff rows=-1 state=filled",
        "cavalry:1 schema=00000000000000fg rows=7 state=filled",
        "cavalry:1 schema=00000000000000ff rows=99999999999999999999 state=filled",
        "cavalry:1 schema=00000000000000ff rows=7 state=filled ",
        " cavalry:1 schema=00000000000000ff rows=7 state=filled",
        "cavalry:1 schema=00000000000000ff rows=7 state=full"}) {
    EXPECT_FALSE(ParseMark(comment)) << comment;
  }
}

}  // namespace
}  // namespace cavalry::drivers::mysql
