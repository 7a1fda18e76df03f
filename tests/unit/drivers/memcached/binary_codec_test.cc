#include <gtest/gtest.h>

#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

Options BinaryOptions() {
  Options options = TextOptions();
  options.protocol = Protocol::kBinary;
  return options;
}

std::string Number(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(number >> (8 * i)));
  return text;
}

// A header and what follows it; doc/protocol-binary.txt.
std::string Message(int magic, int opcode, int status, std::uint32_t opaque,
                    const std::string& extras, const std::string& key, const std::string& value) {
  return Number(static_cast<std::uint64_t>(magic), 1) +
         Number(static_cast<std::uint64_t>(opcode), 1) + Number(key.size(), 2) +
         Number(extras.size(), 1) + Number(0, 1) + Number(static_cast<std::uint64_t>(status), 2) +
         Number(extras.size() + key.size() + value.size(), 4) + Number(opaque, 4) + Number(0, 8) +
         extras + key + value;
}

std::string Answer(int opcode, int status, std::uint32_t opaque, const std::string& extras = "",
                   const std::string& key = "", const std::string& value = "") {
  return Message(0x81, opcode, status, opaque, extras, key, value);
}

constexpr std::uint64_t kFlags = 0x63617631;

TEST(BinaryCodec, SendsEachOperation) {
  Talk talk(BinaryOptions());
  talk.Ask(Plans::kGet, {Value::Integer(7)});
  EXPECT_EQ(talk.Sent(), Message(0x80, 0x0c, 0, 0, "", "k:t:7", ""));
  talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
  EXPECT_EQ(talk.Sent(), Message(0x80, 0x02, 0, 1, Number(kFlags, 4) + Number(0, 4), "k:t:5",
                                 Packed({"a", "9"})));
  talk.Ask(Plans::kDrop, {Value::Integer(5)});
  EXPECT_EQ(talk.Sent(), Message(0x80, 0x04, 0, 2, "", "k:t:5", ""));
}

TEST(BinaryCodec, TakesEachAnswerCutAnywhere) {
  const auto ask = [](Talk& talk) {
    talk.Ask(Plans::kGet, {Value::Integer(7)});
    talk.Ask(Plans::kGet, {Value::Integer(8)});
    talk.Ask(Plans::kSome, {Value::Integer(1), Value::Integer(2), Value::Integer(3)});
    talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
    talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
    talk.Ask(Plans::kSet, {Value::Integer(6)}, {Value::Integer(9), Value::Null()});
    talk.Ask(Plans::kSet, {Value::Integer(6)}, {Value::Integer(9), Value::Null()});
    talk.Ask(Plans::kDrop, {Value::Integer(5)});
  };
  const std::string flags = Number(kFlags, 4);
  const std::string row = Packed({"a", "3"});
  EXPECT_EQ(AtEveryCut(BinaryOptions(), {}, ask,
                       Answer(0x0c, 0, 0, flags, "k:t:7", row) + Answer(0x0c, 1, 1) +
                           Answer(0x0c, 0, 2, flags, "k:t:1", row) + Answer(0x0c, 1, 3) +
                           Answer(0x0c, 0, 4, flags, "k:t:3", row) + Answer(0x02, 0, 5) +
                           Answer(0x02, 2, 6) + Answer(0x03, 1, 7) +
                           Answer(0x03, 3, 8, "", "", "Too large.") + Answer(0x04, 0, 9)),
            "row '3' '7' 'a'\n1 ok rows 1\n2 miss rows 0\n"
            "row '1' 'a'\nrow '3' 'a'\n3 ok rows 2\n4 ok rows 1\n"
            "5 rejected rows 0 [0x0002] there is such an item\n6 miss rows 0\n"
            "7 rejected rows 0 [0x0003] object too large for cache unknown\n8 ok rows 1\n");
}

TEST(BinaryCodec, AnotherRequestsAnswerIsNeverTaken) {
  Talk talk(BinaryOptions());
  talk.Ask(Plans::kDrop, {Value::Integer(5)});
  EXPECT_EQ(talk.Hear(Answer(0x04, 0, 1)), ConnectionState::kFailed);
  EXPECT_EQ(talk.script(),
            "failed [protocol] cache:1: an answer to another request: \"number 1\"\n");
}

TEST(BinaryCodec, MalformedAnswersFailTheConnection) {
  for (const std::string& bytes :
       {std::string("VALUE"), Answer(0x0c, 0, 0, "", "k", "x"),
        std::string("\x81\x0c\x00\xff\x00\x00\x00\x00\x00\x00\x00\x01", 12) + std::string(12, '\0'),
        std::string("\x81\x0c\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", 12) +
            std::string(12, '\0')}) {
    Talk talk(BinaryOptions());
    talk.Ask(Plans::kGet, {Value::Integer(5)});
    EXPECT_EQ(talk.Hear(bytes), ConnectionState::kFailed);
  }
}

TEST(BinaryCodec, QuietWritesEndWithTheirBatch) {
  Options options = BinaryOptions();
  options.blind = true;
  Talk talk(options);
  talk.Ask(Plans::kDrop, {Value::Integer(5)});
  talk.Ask(Plans::kDrop, {Value::Integer(6)});
  EXPECT_EQ(talk.Sent(), Message(0x80, 0x14, 0, 0, "", "k:t:5", "") +
                             Message(0x80, 0x14, 0, 1, "", "k:t:6", "") +
                             Message(0x80, 0x0a, 0, 2, "", "", ""));
  talk.Hear(Answer(0x0a, 0, 2));
  EXPECT_EQ(talk.script(), "1 sent rows 1\n2 sent rows 1\n");
  talk.Ask(Plans::kDrop, {Value::Integer(7)});
  talk.Sent();
  // An error has its own number, so it is known whose it is; what became of the others is not.
  EXPECT_EQ(talk.Hear(Answer(0x14, 1, 3)), ConnectionState::kFailed);
}

}  // namespace
}  // namespace cavalry::drivers::memcached
