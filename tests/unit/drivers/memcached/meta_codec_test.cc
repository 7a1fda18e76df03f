#include <gtest/gtest.h>

#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

Options MetaOptions() {
  Options options = TextOptions();
  options.protocol = Protocol::kMeta;
  return options;
}

TEST(MetaCodec, SendsEachOperation) {
  Talk talk(MetaOptions());
  talk.Ask(Plans::kGet, {Value::Integer(7)});
  EXPECT_EQ(talk.Sent(), "mg k:t:7 k f v\r\n");
  talk.Ask(Plans::kSome, {Value::Integer(1), Value::Integer(2), Value::Integer(3)});
  EXPECT_EQ(talk.Sent(), "mg k:t:1 k f v\r\nmg k:t:2 k f v\r\nmg k:t:3 k f v\r\n");
  talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
  EXPECT_EQ(talk.Sent(), "ms k:t:5 4 F1667331633 T0 ME\r\n" + Packed({"a", "9"}) + "\r\n");
  talk.Ask(Plans::kSet, {Value::Integer(5)}, {Value::Integer(9), Value::Null()});
  EXPECT_EQ(talk.Sent(), "ms k:t:5 3 F1667331633 T0 MR\r\n" + Packed({"-", "9"}) + "\r\n");
  talk.Ask(Plans::kDrop, {Value::Integer(5)});
  EXPECT_EQ(talk.Sent(), "md k:t:5\r\n");
}

TEST(MetaCodec, TakesEachAnswerCutAnywhere) {
  const auto ask = [](Talk& talk) {
    talk.Ask(Plans::kGet, {Value::Integer(7)});
    talk.Ask(Plans::kGet, {Value::Integer(8)});
    talk.Ask(Plans::kSome, {Value::Integer(1), Value::Integer(2), Value::Integer(3)});
    talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
    talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
    talk.Ask(Plans::kSet, {Value::Integer(6)}, {Value::Integer(9), Value::Null()});
    talk.Ask(Plans::kDrop, {Value::Integer(5)});
    talk.Ask(Plans::kDrop, {Value::Integer(6)});
    talk.Ask(Plans::kGet, {Value::Integer(9)});
  };
  const std::string row = Packed({"a", "3"});
  EXPECT_EQ(AtEveryCut(MetaOptions(), {}, ask,
                       "VA 4 kk:t:7 f1667331633\r\n" + row + "\r\nEN\r\n" +
                           "VA 4 kk:t:1 f1667331633\r\n" + row + "\r\nEN kk:t:2\r\n" +
                           "VA 4 kk:t:3 f1667331633\r\n" + row +
                           "\r\nHD\r\nNS\r\nNS\r\nHD\r\nNF\r\nSERVER_ERROR x\r\n"),
            "row '3' '7' 'a'\n1 ok rows 1\n2 miss rows 0\n"
            "row '1' 'a'\nrow '3' 'a'\n3 ok rows 2\n4 ok rows 1\n"
            "5 rejected rows 0 [NS] there is such an item\n6 miss rows 0\n7 ok rows 1\n"
            "8 miss rows 0\n9 rejected rows 0 [SERVER_ERROR] x\n");
}

}  // namespace
}  // namespace cavalry::drivers::memcached
