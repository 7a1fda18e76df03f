// Bytes that are no answer of memcached's: the connection fails with a sentence, nothing else.
#include <gtest/gtest.h>

#include <random>

#include "drivers/memcached/memcached_codec.h"
#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

std::string After(std::string_view bytes) {
  Talk talk(TextOptions());
  talk.Ask(Plans::kGet, {Value::Integer(7)});
  talk.Hear(bytes);
  return talk.script();
}

TEST(CodecFaults, EachIsNamed) {
  EXPECT_EQ(After("HTTP/1.1 400 Bad Request\r\n"),
            "failed [protocol] cache:1: no answer to a get: \"HTTP/1.1 400 Bad Request\"\n");
  EXPECT_EQ(After("END\n"),
            "failed [protocol] cache:1: an answer without a line's end: \"END.\"\n");
  for (const char* line : {"VALUE k:t:7 1667331633 x\r\n", "VALUE k:t:7 -1 3\r\n", "VALUE \r\n",
                           "VALUE k:t:7 1667331633 4294967295\r\n", "VALUE k:t:7 1 2 3 4\r\n"}) {
    EXPECT_NE(After(line).find("a malformed value"), std::string::npos) << line;
  }
  EXPECT_NE(After("VALUE k:t:7 1667331633 1\r\nabEND\r\n").find("a value without its end"),
            std::string::npos);
  EXPECT_NE(After(std::string(kMaxLineBytes + 1, 'x')).find("too long"), std::string::npos);
}

TEST(CodecFaults, AnswersThatNobodyAskedFor) {
  Talk talk(TextOptions());
  EXPECT_EQ(talk.Hear("STORED\r\n"), ConnectionState::kFailed);
  EXPECT_NE(talk.script().find("nobody asked for"), std::string::npos);
  Talk drop(TextOptions());
  drop.Ask(Plans::kDrop, {Value::Integer(7)});
  EXPECT_EQ(drop.Hear("VALUE k:t:7 1667331633 0\r\n\r\n"), ConnectionState::kFailed);
}

TEST(CodecFaults, NoMoreIsInFlightThanTheBound) {
  Talk talk(TextOptions());
  std::size_t taken = 0;
  while (talk.Ask(Plans::kDrop, {Value::Integer(7)})) ++taken;
  EXPECT_EQ(taken, kMaxInFlight - 1);
  EXPECT_EQ(talk.error().code, "queue_full");
  EXPECT_EQ(talk.error().outcome, Outcome::kNotSent);
}

TEST(CodecFaults, RandomBytesEndInAResultOrAFailure) {
  std::mt19937 random(7);  // NOLINT: the same each time
  const std::string letters = "VALUEND 0123456789\r\nkt:STORDHNFMSG_";
  for (int round = 0; round < 3'000; ++round) {
    Talk talk(TextOptions());
    for (std::uint32_t plan = 0; plan < Plans::kFirstNative; ++plan) {
      const std::vector<Value> values(6, Value::Integer(1));
      talk.Ask(plan, std::vector<Value>(3, Value::Integer(1)), values);
    }
    std::string bytes(random() % 200, ' ');
    for (char& c : bytes) c = letters[random() % letters.size()];
    talk.Hear(bytes, 1 + random() % 30);
  }
}

}  // namespace
}  // namespace cavalry::drivers::memcached
