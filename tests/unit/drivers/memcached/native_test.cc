#include <gtest/gtest.h>

#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr std::uint32_t kFirst = Plans::kFirstNative;

std::string Send(const std::string& statement, const std::vector<Value>& values) {
  Talk talk(TextOptions(), {statement});
  if (!talk.Ask(kFirst, {}, values)) return "refused: " + std::string(talk.error().text);
  return talk.Sent();
}

TEST(Native, FillsInItsParameters) {
  EXPECT_EQ(Send("get ? b ?", {Value::Text("a"), Value::Integer(3)}), "get a b 3\r\n");
  EXPECT_EQ(Send("set ? ?", {Value::Text("a"), Value::Text("x\r\ny")}),
            "set a 0 0 4\r\nx\r\ny\r\n");
  EXPECT_EQ(Send("append ? x 60", {Value::Text("a")}), "append a 0 60 1\r\nx\r\n");
  EXPECT_EQ(Send("incr ? ?", {Value::Text("a"), Value::Integer(5)}), "incr a 5\r\n");
  EXPECT_EQ(Send("touch ? 60", {Value::Text("a")}), "touch a 60\r\n");
  EXPECT_EQ(Send("delete ?", {Value::Text("a")}), "delete a\r\n");
}

TEST(Native, RefusesWhatWouldBreakOut) {
  EXPECT_EQ(Send("delete ?", {Value::Text("a\r\nflush_all")}),
            "refused: native: a key of memcached holds no blank and no control character");
  EXPECT_EQ(Send("delete ?", {Value::Text("")}), "refused: native: a key is empty");
  EXPECT_EQ(Send("incr ? ?", {Value::Text("a"), Value::Text("1 noreply")}),
            "refused: native: a number of memcached is whole and not negative");
  EXPECT_EQ(Send("set ? ?", {Value::Text("a"), Value::Null()}),
            "refused: native: NULL is no value of an item");
}

TEST(Native, TakesTheAnswers) {
  const std::vector<std::string> natives = {"get a b",  "set a x",   "append a x",
                                            "incr a 5", "touch a 9", "delete a"};
  const auto ask = [](Talk& talk) {
    for (std::uint32_t i = 0; i < 6; ++i) talk.Ask(kFirst + i, {});
    talk.Ask(kFirst + 3, {});
  };
  EXPECT_EQ(AtEveryCut(TextOptions(), natives, ask,
                       "VALUE b 5 2\r\nhi\r\nEND\r\nSTORED\r\nNOT_STORED\r\n12\r\nTOUCHED\r\n"
                       "NOT_FOUND\r\nCLIENT_ERROR cannot increment non-numeric value\r\n"),
            "row 'b' 'hi'\n1 ok rows 1\n2 ok rows 1\n3 miss rows 0\n4 ok rows 1\n5 ok rows 1\n"
            "6 miss rows 0\n7 rejected rows 0 [CLIENT_ERROR] cannot increment non-numeric value\n");
}

// Behind answers to what was sent between its two requests.
TEST(Native, ACasIsTwoRequests) {
  Talk talk(TextOptions(), {"cas ? ?", "delete a"});
  talk.Ask(kFirst, {}, {Value::Text("a"), Value::Text("new")});
  talk.Ask(kFirst + 1, {});
  EXPECT_EQ(talk.Sent(), "gets a\r\ndelete a\r\n");
  talk.Hear("VALUE a 0 3 77\r\nold\r\nEND\r\n");
  EXPECT_EQ(talk.Sent(), "cas a 0 0 3 77\r\nnew\r\n");
  talk.Hear("NOT_FOUND\r\nEXISTS\r\n");
  EXPECT_EQ(talk.script(),
            "row 'a' 'old'\n2 miss rows 0\n"
            "1 rejected rows 0 [EXISTS] the item was changed meanwhile\n");
  talk.Ask(kFirst, {}, {Value::Text("a"), Value::Text("new")});
  talk.Hear("END\r\n");
  EXPECT_EQ(talk.script().substr(talk.script().size() - 14), "3 miss rows 0\n");
}

}  // namespace
}  // namespace cavalry::drivers::memcached
