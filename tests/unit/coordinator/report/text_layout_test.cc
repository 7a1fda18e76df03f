#include "coordinator/report/text_layout.h"

#include <gtest/gtest.h>

namespace cavalry::report {
namespace {

TEST(TextTable, AlignsFiguresRightAndNamesLeft) {
  TextTable table({{"", "name", true}, {"ops/s", ""}});
  table.AddRow({"sql", "8,475"});
  table.AddRow({"handlersocket", "15,385"});
  EXPECT_EQ(table.Render(),
            "                ops/s\n"
            "name\n"
            "sql             8,475\n"
            "handlersocket  15,385\n");
}

TEST(LabelledLine, FoldsAtBlanksBelowItsText) {
  std::string words;
  for (int i = 0; i < 30; ++i) words += "word ";
  const std::string text = LabelledLine("label", words);
  EXPECT_EQ(text.substr(0, 14), "label    word ");
  const std::size_t second = text.find('\n') + 1;
  EXPECT_LE(second, kTextWidth + 1);
  EXPECT_EQ(text.substr(second, 13), "         word");
  EXPECT_EQ(LabelledLine("label", ""), "label\n");
}

TEST(LabelledLine, KeepsAWordThatIsTooLongWhole) {
  const std::string word(150, 'x');
  EXPECT_EQ(LabelledLine("", word), "         " + word + "\n");
}

TEST(Printable, CutsAndReplaces) {
  EXPECT_EQ(Printable("a\tb\n", 10), "a b ");
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace cavalry::report
