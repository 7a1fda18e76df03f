// Conversations that go well, each whole and cut at every byte.
#include "drivers/handlersocket/handlersocket_codec.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/drivers/handlersocket/conversation.h"

namespace cavalry::drivers::handlersocket {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

Conversation Ready(Port port) {
  Conversation conversation;
  conversation.port = port;
  conversation.greeting = Welcome(port, false);
  return conversation;
}

Ask Find(std::int64_t key) { return {.plan = SamplePlans::kFind, .key = Value::Integer(key)}; }
Ask Get(std::int64_t key) { return {.plan = SamplePlans::kGet, .key = Value::Integer(key)}; }
Ask Drop(std::int64_t key) { return {.plan = SamplePlans::kDrop, .key = Value::Integer(key)}; }

TEST(Handshake, OpensAnIndexForEachOperationOfThePort) {
  Conversation conversation = Ready(Port::kRead);
  Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.handshake,
            "P\t0\ttest\tcustomer\tPRIMARY\tC_CUSTKEY,C_NAME,C_ADDRESS\n"
            "P\t1\ttest\tcustomer\tPRIMARY\tV\n");

  conversation = Ready(Port::kWrite);
  transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.handshake,
            "P\t0\ttest\tcustomer\tPRIMARY\tC_CUSTKEY,C_NAME,C_ADDRESS,V\n"
            "P\t1\ttest\tcustomer\tPRIMARY\tC_NAME,C_ADDRESS\n"
            "P\t2\ttest\tcustomer\tPRIMARY\tC_CUSTKEY\n");
}

TEST(Handshake, SendsTheSecretFirst) {
  Conversation conversation = Ready(Port::kRead);
  conversation.secret = "rd";
  EXPECT_EQ(TalkAtEveryCut(conversation).state, ConnectionState::kHandshake);
  conversation.greeting = Welcome(Port::kRead, true);
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.handshake.substr(0, 7), "A\t1\trd\n");
}

TEST(Find, ReturnsARow) {
  Conversation conversation = Ready(Port::kRead);
  conversation.asks = {Find(42)};
  conversation.answers = "0\t3\t42\tCustomer#000000042\tSomewhere\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.requests, "0\t=\t1\t42\n");
  ASSERT_EQ(transcript.done.size(), 1U);
  const Done& done = transcript.done[0];
  EXPECT_EQ(done.ticket, 100U);
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  EXPECT_EQ(done.bytes, conversation.answers.size() - 1);
  EXPECT_EQ(done.code, "");
  EXPECT_EQ(done.visited, (std::vector<Row>{{"42", "Customer#000000042", "Somewhere"}}));
}

TEST(Find, CountsRowsThatNobodyVisits) {
  Conversation conversation = Ready(Port::kRead);
  conversation.asks = {Find(1), Find(2)};
  conversation.asks[0].visit = false;
  conversation.answers = "0\t3\t1\tName\t\x01\x4a\n0\t3\t2\tb\tc\t3\td\te\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  ASSERT_EQ(transcript.done.size(), 2U);
  EXPECT_EQ(transcript.done[0].rows, 1U);
  EXPECT_TRUE(transcript.done[0].visited.empty());
  EXPECT_EQ(transcript.done[1].rows, 2U);
  EXPECT_EQ(transcript.done[1].visited, (std::vector<Row>{{"2", "b", "c"}, {"3", "d", "e"}}));
}

TEST(Find, NoRowIsAMiss) {
  Conversation conversation = Ready(Port::kRead);
  conversation.asks = {Find(-7)};
  conversation.answers = "0\t3\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.requests, "0\t=\t1\t-7\n");
  ASSERT_EQ(transcript.done.size(), 1U);
  EXPECT_EQ(transcript.done[0].outcome, Outcome::kMiss);
  EXPECT_EQ(transcript.done[0].severity, Severity::kNormal);
  EXPECT_EQ(transcript.done[0].rows, 0U);
}

TEST(Find, TellsNullFromEmpty) {
  Conversation conversation = Ready(Port::kRead);
  conversation.asks = {Get(1), Get(2), Find(3), Find(4)};
  conversation.answers = "0\t1\t\n0\t1\t\0\n0\t3\t3\t\t\n0\t3\t4\t\0\t\0\n"s;
  const Transcript transcript = TalkAtEveryCut(conversation);
  ASSERT_EQ(transcript.done.size(), 4U);
  EXPECT_EQ(transcript.done[0].visited, (std::vector<Row>{{""}}));
  EXPECT_EQ(transcript.done[1].visited, (std::vector<Row>{{std::nullopt}}));
  EXPECT_EQ(transcript.done[2].visited, (std::vector<Row>{{"3", "", ""}}));
  EXPECT_EQ(transcript.done[3].visited, (std::vector<Row>{{"4", std::nullopt, std::nullopt}}));
}

TEST(Find, UnescapesEveryByte) {
  std::string value;
  std::string token;
  for (int byte = 0; byte < 256; ++byte) {
    value += static_cast<char>(byte);
    if (byte < 16) token += '\x01';
    token += static_cast<char>(byte < 16 ? byte + 0x40 : byte);
  }
  Conversation conversation = Ready(Port::kRead);
  conversation.asks = {Get(1), Find(2)};
  conversation.answers = "0\t1\t" + token + "\n0\t3\t" + token + "\tplain\t" + token + "\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  ASSERT_EQ(transcript.done.size(), 2U);
  EXPECT_EQ(transcript.done[0].visited, (std::vector<Row>{{value}}));
  EXPECT_EQ(transcript.done[1].visited, (std::vector<Row>{{value, "plain", value}}));
}

TEST(Find, ToleratesACarriageReturnAtTheEnd) {
  Conversation conversation = Ready(Port::kRead);
  conversation.greeting = "0\t1\r\n0\t1\r\n";
  conversation.asks = {Get(1), Get(2)};
  conversation.answers = "0\t1\tx\r\n0\t1\r\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  ASSERT_EQ(transcript.done.size(), 2U);
  EXPECT_EQ(transcript.done[0].visited, (std::vector<Row>{{"x"}}));
  EXPECT_EQ(transcript.done[1].outcome, Outcome::kMiss);
}

TEST(Insert, SendsEveryColumn) {
  Conversation conversation = Ready(Port::kWrite);
  conversation.asks = {
      {.plan = SamplePlans::kAdd,
       .values = {Value::Integer(7), Value::Text("Name"), Value::Null(), Value::Binary("")}},
      {.plan = SamplePlans::kAdd,
       .values = {Value::Unsigned(8), Value::Text("tab\there"), Value::Text(""),
                  Value::Binary("\x00\x01\n\xff"sv)}}};
  conversation.answers = "0\t1\n0\t1\t8\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.requests,
            "0\t+\t4\t7\tName\t\0\t\n"
            "0\t+\t4\t8\ttab\x01\x49here\t\t\x01\x40\x01\x41\x01\x4a\xff\n"s);
  ASSERT_EQ(transcript.done.size(), 2U);
  for (const Done& done : transcript.done) {
    EXPECT_EQ(done.outcome, Outcome::kOk);
    EXPECT_EQ(done.rows, 1U);
  }
}

TEST(Update, SetsItsColumnsByKey) {
  Conversation conversation = Ready(Port::kWrite);
  conversation.asks = {{.plan = SamplePlans::kChange,
                        .key = Value::Integer(5),
                        .values = {Value::Text("New"), Value::Null()}},
                       {.plan = SamplePlans::kChange,
                        .key = Value::Integer(6),
                        .values = {Value::Text(""), Value::Text("Street")}}};
  conversation.answers = "0\t1\t1\n0\t1\t0\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.requests, "1\t=\t1\t5\t1\t0\tU\tNew\t\0\n1\t=\t1\t6\t1\t0\tU\t\tStreet\n"s);
  ASSERT_EQ(transcript.done.size(), 2U);
  EXPECT_EQ(transcript.done[0].outcome, Outcome::kOk);
  EXPECT_EQ(transcript.done[0].rows, 1U);
  EXPECT_EQ(transcript.done[1].outcome, Outcome::kMiss);
}

TEST(Delete, CountsRows) {
  Conversation conversation = Ready(Port::kWrite);
  conversation.asks = {Drop(5), Drop(6)};
  conversation.answers = "0\t1\t1\n0\t1\t0\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.requests, "2\t=\t1\t5\t1\t0\tD\n2\t=\t1\t6\t1\t0\tD\n");
  ASSERT_EQ(transcript.done.size(), 2U);
  EXPECT_EQ(transcript.done[0].outcome, Outcome::kOk);
  EXPECT_EQ(transcript.done[1].outcome, Outcome::kMiss);
}

TEST(Pipelining, AnswersBelongToRequestsInOrder) {
  for (int count = 1; count <= 40; ++count) {
    Conversation conversation = Ready(Port::kRead);
    for (int i = 0; i < count; ++i) {
      const std::string key = std::to_string(i);
      if (i % 3 == 2) {
        conversation.asks.push_back(Get(i));
        conversation.answers += "0\t1\n";
      } else {
        conversation.asks.push_back(Find(i));
        conversation.answers += "0\t3\t" + key + "\tn\ta\n";
      }
    }
    const Transcript transcript =
        count < 12 ? TalkAtEveryCut(conversation) : Talk(conversation, {.fragment_bytes = 4096});
    ASSERT_EQ(transcript.done.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const Done& done = transcript.done[static_cast<std::size_t>(i)];
      EXPECT_EQ(done.ticket, 100U + static_cast<Ticket>(i));
      EXPECT_EQ(done.outcome, i % 3 == 2 ? Outcome::kMiss : Outcome::kOk);
      if (i % 3 != 2) {
        EXPECT_EQ(done.visited[0][0], std::to_string(i));
      }
    }
  }
}

TEST(Pipelining, NoAnswerLeavesTheOperationInFlight) {
  Conversation conversation = Ready(Port::kRead);
  conversation.asks = {Find(1), Find(2)};
  conversation.answers = "0\t3\t1\ta\tb\n0\t3\t2\tc";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.done.size(), 1U);
}

// Encodes the next request from inside Feed, as a session does that is resumed by its result.
class EncodingSink final : public CompletionSink {
 public:
  EncodingSink(ReadyCodec& ready, int rounds) : ready_(ready), rounds_(rounds) {}

  void OnDone(Ticket ticket, const OpResult& result) override {
    EXPECT_EQ(result.outcome, Outcome::kMiss);
    EXPECT_EQ(ticket, next_++);
    for (int i = 0; i < 2 && rounds_ > 0; ++i, --rounds_) Encode();
  }
  void Encode() {
    Operation operation;
    operation.plan = &ready_.plans.all()[SamplePlans::kFind];
    operation.key = Value::Integer(1);
    EXPECT_TRUE(ready_.codec->Encode(operation, encoded_++, ready_.out));
  }
  Ticket encoded() const { return encoded_; }
  Ticket answered() const { return next_; }

 private:
  ReadyCodec& ready_;
  int rounds_;
  Ticket next_ = 0;
  Ticket encoded_ = 0;
};

TEST(Pipelining, TheSinkMayEncode) {
  ReadyCodec ready(Port::kRead);
  EncodingSink sink(ready, 100);
  sink.Encode();
  while (sink.answered() != sink.encoded()) {
    std::string answers;
    for (Ticket ticket = sink.answered(); ticket != sink.encoded(); ++ticket) answers += "0\t3\n";
    ByteBuffer out;
    ASSERT_EQ(ready.codec->Feed(answers, out, sink), ConnectionState::kReady);
  }
  EXPECT_EQ(sink.answered(), 101U);
}

TEST(Requests, NeverBeginWithAByteThatStopsTheServer) {
  for (const Port port : {Port::kRead, Port::kWrite}) {
    for (const char* secret : {"", "Q", "/"}) {
      Conversation conversation = Ready(port);
      conversation.secret = secret;
      conversation.greeting = Welcome(port, *secret != '\0');
      if (port == Port::kRead) {
        conversation.asks = {Find(1), Get(2)};
      } else {
        conversation.asks = {{.plan = SamplePlans::kAdd,
                              .values = {Value::Integer(1), Value::Text("Q\nQ"), Value::Text("/"),
                                         Value::Binary("\nQ\n/")}},
                             {.plan = SamplePlans::kChange,
                              .key = Value::Integer(1),
                              .values = {Value::Text("\nQ"), Value::Text("\n/")}},
                             Drop(1)};
      }
      const Transcript transcript = Talk(conversation, {.fragment_bytes = 4096});
      const std::string sent = transcript.handshake + transcript.requests;
      std::size_t lines = 0;
      for (std::size_t at = 0; at < sent.size(); at = sent.find('\n', at) + 1) {
        ++lines;
        EXPECT_TRUE(sent[at] == 'A' || sent[at] == 'P' || (sent[at] >= '0' && sent[at] <= '9'));
      }
      EXPECT_EQ(lines, conversation.asks.size() * 2 + (*secret != '\0' ? 1 : 0));
    }
  }
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
