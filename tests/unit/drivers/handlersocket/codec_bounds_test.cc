// What must not harm the codec: values that do not fit, too much in flight, answers that are not
// HandlerSocket's.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "drivers/handlersocket/handlersocket_codec.h"
#include "tests/unit/drivers/handlersocket/conversation.h"

namespace cavalry::drivers::handlersocket {
namespace {

using std::string_literals::operator""s;

Operation FindOf(ReadyCodec& ready, std::int64_t key) {
  Operation operation;
  operation.plan = &ready.plans.all()[SamplePlans::kFind];
  operation.key = Value::Integer(key);
  return operation;
}

TEST(RefusedValues, AppendNothingAndNameTheColumn) {
  ReadyCodec ready(Port::kWrite);
  Operation operation;
  operation.plan = &ready.plans.all()[SamplePlans::kAdd];
  const Value good[] = {Value::Integer(1), Value::Text("a"), Value::Null(), Value::Null()};
  const Value bad[] = {Value::Integer(1),
                       Value::Text(std::string_view("26 characters in this text")), Value::Null(),
                       Value::Null()};
  operation.values = good;
  ASSERT_TRUE(ready.codec->Encode(operation, 1, ready.out));
  const std::string before(ready.out.view());
  operation.values = bad;
  EXPECT_FALSE(ready.codec->Encode(operation, 2, ready.out));
  EXPECT_EQ(ready.out.view(), before);
  const OpResult& error = ready.codec->error();
  EXPECT_EQ(error.outcome, Outcome::kNotSent);
  EXPECT_EQ(error.severity, Severity::kNormal);
  EXPECT_FALSE(error.outcome_unknown);
  EXPECT_EQ(error.code, "value");
  EXPECT_EQ(error.text, "column C_NAME: a text of 26 characters does not fit varchar(25)");
  // The connection goes on, and the answer is the first operation's.
  Collector collector;
  EXPECT_EQ(ready.codec->Feed("0\t1\n", ready.out, collector), ConnectionState::kReady);
  ASSERT_EQ(collector.done.size(), 1U);
  EXPECT_EQ(collector.done[0].ticket, 1U);
}

TEST(RefusedValues, KeysOutOfRangeAreNotClamped) {
  ReadyCodec ready(Port::kRead);
  EXPECT_FALSE(ready.codec->Encode(FindOf(ready, 2'147'483'648), 1, ready.out));
  EXPECT_EQ(ready.codec->error().text, "column C_CUSTKEY: 2147483648 does not fit int");
  Operation operation = FindOf(ready, 1);
  operation.key = Value::Null();
  EXPECT_FALSE(ready.codec->Encode(operation, 1, ready.out));
  EXPECT_EQ(ready.codec->error().code, "value");
  EXPECT_TRUE(ready.out.empty());
}

TEST(RefusedValues, AnUpdateLeavesNothingOfItsKey) {
  ReadyCodec ready(Port::kWrite);
  Operation operation;
  operation.plan = &ready.plans.all()[SamplePlans::kChange];
  operation.key = Value::Integer(1);
  const Value values[] = {Value::Text("a"), Value::Text("\xff")};
  operation.values = values;
  EXPECT_FALSE(ready.codec->Encode(operation, 1, ready.out));
  EXPECT_EQ(ready.codec->error().text,
            "column C_ADDRESS: a text of 1 bytes is not UTF-8, as varchar(40) needs");
  EXPECT_TRUE(ready.out.empty());
}

TEST(Bounds, RefusesMoreOperationsThanMayBeInFlight) {
  ReadyCodec ready(Port::kRead);
  for (std::size_t i = 0; i < kMaxInFlight; ++i) {
    ASSERT_TRUE(ready.codec->Encode(FindOf(ready, 1), static_cast<Ticket>(i), ready.out));
  }
  const std::size_t before = ready.out.size();
  EXPECT_FALSE(ready.codec->Encode(FindOf(ready, 1), 0, ready.out));
  EXPECT_EQ(ready.out.size(), before);
  EXPECT_EQ(ready.codec->error().code, "queue_full");
  EXPECT_EQ(ready.codec->error().outcome, Outcome::kNotSent);
  // One answer makes room for one.
  Collector collector;
  EXPECT_EQ(ready.codec->Feed("0\t3\n", ready.out, collector), ConnectionState::kReady);
  EXPECT_TRUE(ready.codec->Encode(FindOf(ready, 1), 9999, ready.out));
  EXPECT_FALSE(ready.codec->Encode(FindOf(ready, 1), 0, ready.out));
}

TEST(Bounds, RefusesMoreBytesThanMayBeInFlight) {
  ReadyCodec ready(Port::kWrite);
  Operation operation;
  operation.plan = &ready.plans.all()[SamplePlans::kAdd];
  const std::string bytes(300, '\n');  // escaped to twice as many
  const Value values[] = {Value::Integer(1), Value::Text("a"), Value::Null(), Value::Binary(bytes)};
  operation.values = values;
  Ticket ticket = 0;
  while (ready.codec->Encode(operation, ticket, ready.out)) ++ticket;
  EXPECT_EQ(ready.codec->error().code, "queue_full");
  EXPECT_GE(ready.out.size(), kMaxBytesInFlight);
  EXPECT_LT(ready.out.size(), kMaxBytesInFlight + 1000);
  Collector collector;
  EXPECT_EQ(ready.codec->Feed("0\t1\n", ready.out, collector), ConnectionState::kReady);
  EXPECT_TRUE(ready.codec->Encode(operation, ticket, ready.out));
}

TEST(Bounds, AnEndlessAnswerFails) {
  for (const std::size_t piece : {std::size_t{1'000'000}, kMaxLineBytes + 1}) {
    ReadyCodec ready(Port::kRead);
    ASSERT_TRUE(ready.codec->Encode(FindOf(ready, 1), 1, ready.out));
    Collector collector;
    const std::string bytes(piece, 'x');
    std::size_t fed = 0;
    while (ready.codec->Feed(bytes, ready.out, collector) == ConnectionState::kReady) {
      fed += piece;
      ASSERT_LE(fed, kMaxLineBytes);
    }
    EXPECT_EQ(ready.codec->error().code, "protocol");
    EXPECT_EQ(ready.codec->error().outcome, Outcome::kBroken);
    EXPECT_EQ(ready.codec->error().severity, Severity::kReconnect);
    EXPECT_TRUE(ready.codec->error().outcome_unknown);
    EXPECT_TRUE(collector.done.empty());
  }
}

TEST(BrokenAnswers, EndTheConnectionAndItsOperationsStayUnanswered) {
  const std::string broken[] = {
      "\n",                            // nothing
      "0\n",                           // no number of columns
      "0\t\n",                         // an empty one
      "0\tx\n",                        // none of digits
      "0\t3x\n",                       // digits and more
      "x\t3\n",                        // no code
      "-1\t3\n",                       // negative
      "\t3\n",                         // empty code
      "0000000000\t3\n",               // too many digits
      "0\t9999999999\n",               // too many digits
      "0\t2\t1\t2\n",                  // another number of columns
      "0\t0\n",                        // no columns
      "0\t3\t1\t2\n",                  // less than a row
      "0\t3\t1\t2\t3\t4\n",            // more than a row
      "0\t3\t\n",                      // one empty token
      "0\t3\t1\t2\t\x01\n",            // an escape that is not one
      "0\t3\t1\t2\t\x01?\n",           // an escape below 0x40
      "0\t3\t1\t\x02\t3\n",            // a byte to be escaped
      "0\t3\t1\t\0x\t3\n"s,            // NULL and more
      "HTTP/1.1 400 Bad Request\r\n",  // another protocol
  };
  for (const std::string& answer : broken) {
    for (const bool visit : {false, true}) {
      Conversation conversation;
      conversation.greeting = Welcome(Port::kRead, false);
      conversation.asks = {{.key = Value::Integer(1)}, {.key = Value::Integer(2)}};
      conversation.asks[1].visit = visit;
      conversation.answers = "0\t3\n" + answer + "0\t3\n";
      const Transcript transcript = TalkAtEveryCut(conversation);
      EXPECT_EQ(transcript.state, ConnectionState::kFailed) << testing::PrintToString(answer);
      EXPECT_EQ(transcript.done.size(), 1U);
      EXPECT_EQ(transcript.error.outcome, Outcome::kBroken);
      EXPECT_EQ(transcript.error.severity, Severity::kReconnect);
      EXPECT_EQ(transcript.error.code, "protocol");
      EXPECT_NE(transcript.error.text.find("127.0.0.1:9998 (handlersocket read): "),
                std::string::npos)
          << transcript.error.text;
    }
  }
}

TEST(BrokenAnswers, ToChanges) {
  for (const char* answer : {"0\t1\n", "0\t1\t\n", "0\t1\tx\n", "0\t2\t1\n", "0\t1\t1\t1\n",
                             "0\t1\t-1\n", "0\t1\t1234567890123\n"}) {
    Conversation conversation;
    conversation.port = Port::kWrite;
    conversation.greeting = Welcome(Port::kWrite, false);
    conversation.asks = {{.plan = SamplePlans::kDrop, .key = Value::Integer(1)}};
    conversation.answers = answer;
    EXPECT_EQ(TalkAtEveryCut(conversation).state, ConnectionState::kFailed) << answer;
  }
  for (const char* answer : {"0\t1\t\n", "0\t1\tx\n", "0\t0\n", "0\t1\t1\t1\n"}) {
    Conversation conversation;
    conversation.port = Port::kWrite;
    conversation.greeting = Welcome(Port::kWrite, false);
    conversation.asks = {
        {.plan = SamplePlans::kAdd,
         .values = {Value::Integer(1), Value::Text("a"), Value::Null(), Value::Null()}}};
    conversation.answers = answer;
    EXPECT_EQ(TalkAtEveryCut(conversation).state, ConnectionState::kFailed) << answer;
  }
}

TEST(BrokenAnswers, ThatNobodyAskedFor) {
  Conversation conversation;
  conversation.greeting = Welcome(Port::kRead, false);
  conversation.asks = {{.key = Value::Integer(1)}};
  conversation.answers = "0\t3\n0\t3\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kFailed);
  EXPECT_EQ(transcript.done.size(), 1U);
  // More greeting than was asked for is the same.
  conversation.greeting += "0\t1\n";
  EXPECT_EQ(TalkAtEveryCut(conversation).state, ConnectionState::kFailed);
}

TEST(BrokenAnswers, AnotherServerIsFatal) {
  // What MySQL says first.
  Conversation conversation;
  conversation.greeting = "J\0\0\0\n5.5.5-10.11.6-MariaDB\0"s;
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kFailed);
  EXPECT_EQ(transcript.error.severity, Severity::kFatal);
  EXPECT_EQ(transcript.error.outcome, Outcome::kBroken);
  EXPECT_FALSE(transcript.error.outcome_unknown);
  EXPECT_EQ(transcript.error.text,
            "127.0.0.1:9998 (handlersocket read): an answer without code: \"J...\". Is this one of "
            "the server's HandlerSocket ports?");
}

TEST(BrokenAnswers, AFailedCodecTakesNothingMore) {
  ReadyCodec ready(Port::kRead);
  ASSERT_TRUE(ready.codec->Encode(FindOf(ready, 1), 1, ready.out));
  Collector collector;
  EXPECT_EQ(ready.codec->Feed("x\n", ready.out, collector), ConnectionState::kFailed);
  const std::string text(ready.codec->error().text);
  EXPECT_EQ(ready.codec->Feed("0\t3\n", ready.out, collector), ConnectionState::kFailed);
  EXPECT_TRUE(collector.done.empty());
  EXPECT_EQ(ready.codec->error().text, text);
}

TEST(RandomBytes, EndInWaitingOrFailure) {
  constexpr std::string_view kBytes("\n\n\n\t\t\t\t0000111223\x01\x00\x4a?ab\r\xff", 25);
  for (std::uint64_t number = 0; number < 3'000; ++number) {
    RandomStream random(11, 2, number);
    Conversation conversation;
    conversation.port = random.Below(2) == 0 ? Port::kRead : Port::kWrite;
    if (random.Below(4) != 0) conversation.greeting = Welcome(conversation.port, false);
    const auto plan = conversation.port == Port::kRead ? SamplePlans::kFind : SamplePlans::kDrop;
    for (int i = 0; i < 5; ++i) {
      conversation.asks.push_back(
          {.plan = plan, .key = Value::Integer(i), .visit = random.Below(2) == 0});
    }
    const std::uint64_t size = random.Below(60);
    for (std::uint64_t i = 0; i < size; ++i) {
      conversation.answers += kBytes[random.Below(kBytes.size())];
    }
    const Transcript whole = Talk(conversation, {.fragment_bytes = 1000});
    EXPECT_LE(whole.done.size(), conversation.asks.size());
    EXPECT_EQ(Talk(conversation, {.fragment_bytes = 1}), whole);
    EXPECT_EQ(Talk(conversation, {.fragment_bytes = 7}), whole);
  }
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
