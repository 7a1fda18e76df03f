// Writes that ask for no answer: sent, never ok, and nothing is taken for their answer.
#include <gtest/gtest.h>

#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

Options Blind(Protocol protocol = Protocol::kText) {
  Options options = TextOptions();
  options.protocol = protocol;
  options.blind = true;
  return options;
}

void AskWrites(Talk& talk) {
  talk.Ask(Plans::kSet, {Value::Integer(5)}, {Value::Integer(9), Value::Null()});
  talk.Ask(Plans::kDrop, {Value::Integer(6)});
}

TEST(Blind, ABatchOfWritesEndsInARequestThatIsAnswered) {
  Talk talk(Blind());
  AskWrites(talk);
  EXPECT_EQ(talk.Sent(), "replace k:t:5 1667331633 0 3 noreply\r\n" + Packed({"-", "9"}) +
                             "\r\ndelete k:t:6 noreply\r\nversion\r\n");
  EXPECT_EQ(talk.script(), "");
  talk.Hear("VERSION 1.6.18\r\n");
  EXPECT_EQ(talk.script(), "1 sent rows 1\n2 sent rows 1\n");
  EXPECT_EQ(talk.Sent(), "");
}

TEST(Blind, MetaUsesItsOwn) {
  Talk talk(Blind(Protocol::kMeta));
  AskWrites(talk);
  EXPECT_EQ(talk.Sent(),
            "ms k:t:5 3 F1667331633 T0 MR q\r\n" + Packed({"-", "9"}) + "\r\nmd k:t:6 q\r\nmn\r\n");
  talk.Hear("MN\r\n");
  EXPECT_EQ(talk.script(), "1 sent rows 1\n2 sent rows 1\n");
}

TEST(Blind, AReadBehindWritesTellsAsMuch) {
  const auto ask = [](Talk& talk) {
    AskWrites(talk);
    talk.Ask(Plans::kGet, {Value::Integer(5)});
  };
  Talk talk(Blind());
  ask(talk);
  EXPECT_EQ(talk.Sent().find("version"), std::string::npos);
  EXPECT_EQ(AtEveryCut(Blind(), {}, ask, "END\r\n"),
            "1 sent rows 1\n2 sent rows 1\n3 miss rows 0\n");
}

TEST(Blind, ReadsBeforeWritesAreAnsweredAsEver) {
  const auto ask = [](Talk& talk) {
    talk.Ask(Plans::kGet, {Value::Integer(5)});
    AskWrites(talk);
  };
  EXPECT_EQ(AtEveryCut(Blind(), {}, ask, "END\r\nVERSION 1\r\n"),
            "1 miss rows 0\n2 sent rows 1\n3 sent rows 1\n");
}

TEST(Blind, AnErrorToNobodyKnowsWhatEndsTheConnection) {
  for (const Protocol protocol : {Protocol::kText, Protocol::kMeta}) {
    Talk talk(Blind(protocol));
    AskWrites(talk);
    EXPECT_EQ(talk.Hear("SERVER_ERROR out of memory storing object\r\nMN\r\n"),
              ConnectionState::kFailed);
    EXPECT_NE(talk.script().find("so which one is not known"), std::string::npos);
  }
}

}  // namespace
}  // namespace cavalry::drivers::memcached
