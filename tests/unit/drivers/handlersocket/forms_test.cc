// Every form of request that the protocol has, and what its answers come to.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/handlersocket/handlersocket_codec.h"
#include "tests/unit/drivers/handlersocket/conversation.h"
#include "tests/unit/drivers/handlersocket/order_plans.h"

namespace cavalry::drivers::handlersocket {
namespace {

using std::string_literals::operator""s;

class FormsTest : public testing::Test {
 protected:
  // What came of operations that are answered so.
  Transcript Hold(Port port, std::vector<Ask> asks, std::string answers) {
    Conversation conversation;
    conversation.port = port;
    conversation.plans = &plans_.all();
    const int opened = port == Port::kRead ? 4 : 5;
    for (int i = 0; i < opened; ++i) conversation.greeting += "0\t1\n";
    conversation.asks = std::move(asks);
    conversation.answers = std::move(answers);
    return TalkAtEveryCut(conversation);
  }
  // The same for one operation, which is sent as `request` and ends.
  Done HoldOne(Port port, Ask ask, std::string_view request, std::string answers) {
    const Transcript transcript = Hold(port, {std::move(ask)}, std::move(answers));
    EXPECT_EQ(transcript.state, ConnectionState::kReady);
    EXPECT_EQ(transcript.requests, request);
    EXPECT_EQ(transcript.done.size(), 1U) << transcript;
    return transcript.done.empty() ? Done() : transcript.done[0];
  }

  OrderPlans plans_;
};

const std::vector<Value> kLineKey = {Value::Integer(7), Value::Integer(-2)};

TEST_F(FormsTest, OneIndexIsOpenedForAllThatNeedTheSame) {
  Transcript transcript = Hold(Port::kRead, {}, "");
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.handshake,
            "P\t0\ttest\tline\tPRIMARY\tNAME\n"
            "P\t1\ttest\tline\tPRIMARY\tO_LINE,NAME\n"
            "P\t2\ttest\tticket\tPRIMARY\tT_ID,WHAT\n"
            "P\t3\ttest\tline\tby_name\tO_ID,O_LINE\tQTY,O_LINE\n");
  transcript = Hold(Port::kWrite, {}, "");
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.handshake,
            "P\t0\ttest\tline\tPRIMARY\tO_ID,O_LINE,NAME,QTY,NOTE\n"
            "P\t1\ttest\tticket\tPRIMARY\tWHAT\n"
            "P\t2\ttest\tline\tPRIMARY\tNAME\n"
            "P\t3\ttest\tticket\tPRIMARY\tT_ID\n"
            "P\t4\ttest\tline\tPRIMARY\tQTY\n");
}

TEST_F(FormsTest, AReadGivesAllPartsOfTheKey) {
  const Done done = HoldOne(Port::kRead, {.plan = OrderPlans::kLine, .keys = kLineKey},
                            "0\t=\t2\t7\t-2\n", "0\t1\tnut\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"nut"}}));
}

TEST_F(FormsTest, AKeyOfTextIsEscaped) {
  plans_.lines().key_columns = {2};
  const Done done = HoldOne(Port::kRead, {.plan = OrderPlans::kLine, .key = Value::Text("a\tb")},
                            "0\t=\t1\ta\x01\x49"
                            "b\n",
                            "0\t1\n");
  EXPECT_EQ(done.outcome, Outcome::kMiss);
}

TEST_F(FormsTest, AnIntegerKeyMayBeWrittenAsText) {
  plans_.lines().key_columns = {0};
  HoldOne(Port::kRead, {.plan = OrderPlans::kLine, .key = Value::Text("12")}, "0\t=\t1\t12\n",
          "0\t1\n");
  for (const char* bad : {"2147483648", "x", "", "1 ", "+1"}) {
    const Transcript transcript =
        Hold(Port::kRead, {{.plan = OrderPlans::kLine, .key = Value::Text(bad)}}, "");
    EXPECT_EQ(transcript.refused, 1U) << bad;
    EXPECT_EQ(transcript.requests, "");
  }
}

TEST_F(FormsTest, MultiReadOfOneColumnIsAList) {
  const std::vector<Value> keys = {Value::Integer(10), Value::Integer(20), Value::Integer(99)};
  const Ask ask = {.plan = OrderPlans::kTickets, .keys = keys};
  const std::string_view request = "2\t=\t1\t\t3\t0\t@\t0\t3\t10\t20\t99\n";
  Done done = HoldOne(Port::kRead, ask, request, "0\t2\t10\ta\t20\tb\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 2U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"10", "a"}, {"20", "b"}}));
  done = HoldOne(Port::kRead, ask, request, "0\t2\n");
  EXPECT_EQ(done.outcome, Outcome::kMiss);
  EXPECT_EQ(done.rows, 0U);
}

TEST_F(FormsTest, MultiReadOfSeveralColumnsIsALinePerKey) {
  const std::vector<Value> keys = {Value::Integer(7), Value::Integer(1), Value::Integer(8),
                                   Value::Integer(2)};
  const Ask ask = {.plan = OrderPlans::kLines, .keys = keys};
  const std::string_view request = "1\t=\t2\t7\t1\n1\t=\t2\t8\t2\n";
  Done done = HoldOne(Port::kRead, ask, request, "0\t2\t1\tnut\n0\t2\t2\tbolt\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 2U);
  EXPECT_EQ(done.bytes, 19U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"1", "nut"}, {"2", "bolt"}}));
  done = HoldOne(Port::kRead, ask, request, "0\t2\n0\t2\t2\tbolt\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  done = HoldOne(Port::kRead, ask, request, "0\t2\n0\t2\n");
  EXPECT_EQ(done.outcome, Outcome::kMiss);
  done = HoldOne(Port::kRead, ask, request, "0\t2\t1\tnut\n1\t1\t146\n");
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.code, "1 146");
  EXPECT_FALSE(done.outcome_unknown);
}

TEST_F(FormsTest, AScanGivesComparisonAndLimit) {
  const Done done = HoldOne(Port::kRead, {.plan = OrderPlans::kRange, .key = Value::Integer(7)},
                            "0\t>=\t1\t7\t50\t0\n", "0\t1\tnut\tbolt\tscrew\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 3U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"nut"}, {"bolt"}, {"screw"}}));
  const std::pair<Comparison, std::string> comparisons[] = {{Comparison::kEqual, "="},
                                                            {Comparison::kGreater, ">"},
                                                            {Comparison::kLess, "<"},
                                                            {Comparison::kLessEqual, "<="}};
  for (const auto& [comparison, token] : comparisons) {
    plans_.at(OrderPlans::kRange).scan.comparison = comparison;
    HoldOne(Port::kRead, {.plan = OrderPlans::kRange, .key = Value::Integer(7)},
            "0\t" + token + "\t1\t7\t50\t0\n", "0\t1\n");
  }
}

TEST_F(FormsTest, AScanOfAnIndexHasFilters) {
  const std::vector<Value> from = {Value::Text("nut"), Value::Null()};
  const Done done = HoldOne(Port::kRead, {.plan = OrderPlans::kByName, .keys = from},
                            "3\t=\t2\tnut\t\0\t10\t2\tF\t>\t0\t7\tF\t!=\t1\t-1\tW\t!=\t0\t\0\n"s,
                            "0\t2\t7\t1\t8\t2\n");
  EXPECT_EQ(done.rows, 2U);
}

TEST_F(FormsTest, AScanHasAList) {
  HoldOne(Port::kRead, {.plan = OrderPlans::kSomeTickets, .key = Value::Integer(1)},
          "2\t=\t1\t1\t3\t0\t@\t0\t3\t10\t20\t99\n", "0\t2\t10\ta\n");
}

TEST_F(FormsTest, NullIsNoKeyOfAColumnThatIsNotNullable) {
  const std::vector<Value> from = {Value::Null(), Value::Integer(1)};
  const Transcript transcript =
      Hold(Port::kRead, {{.plan = OrderPlans::kByName, .keys = from}}, "");
  EXPECT_EQ(transcript.refused, 1U);
  EXPECT_EQ(transcript.error.text, "column NAME: NULL, but the column is not nullable");
}

TEST_F(FormsTest, ABatchEndsWithItsLastLine) {
  const std::vector<Value> rows = {
      Value::Integer(7), Value::Integer(1), Value::Text("nut"),  Value::Null(),     Value::Text(""),
      Value::Integer(7), Value::Integer(2), Value::Text("bolt"), Value::Integer(3), Value::Null()};
  const Ask ask = {.plan = OrderPlans::kAddLines, .values = rows};
  const std::string request = "0\t+\t5\t7\t1\tnut\t\0\t\n0\t+\t5\t7\t2\tbolt\t3\t\0\n"s;
  Transcript transcript = Hold(Port::kWrite, {ask}, "0\t1\n");
  EXPECT_TRUE(transcript.done.empty()) << "half of it is answered";
  Done done = HoldOne(Port::kWrite, ask, request, "0\t1\n0\t1\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 2U);
  EXPECT_EQ(done.bytes, 6U);

  // The worst of its lines is the batch's outcome, and the first such line's words are kept.
  done = HoldOne(Port::kWrite, ask, request, "0\t1\n1\t1\t121\n");
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.code, "1 121");
  EXPECT_EQ(done.text, "duplicate key (handler error 121)");
  EXPECT_EQ(done.rows, 1U);
  EXPECT_TRUE(done.outcome_unknown) << "a row of it is there";
  EXPECT_FALSE(done.retryable);
  done = HoldOne(Port::kWrite, ask, request, "1\t1\t149\n1\t1\t200\n");
  EXPECT_EQ(done.code, "1 149");
  EXPECT_FALSE(done.outcome_unknown);
  EXPECT_TRUE(done.retryable);
  done = HoldOne(Port::kWrite, ask, request, "1\t1\t121\n2\t1\treadonly\n");
  EXPECT_EQ(done.code, "2 readonly");
  EXPECT_EQ(done.severity, Severity::kFatal);

  // Two batches and what comes after them don't mix.
  const Ask drop = {.plan = OrderPlans::kDropTicket, .key = Value::Integer(1)};
  transcript = Hold(Port::kWrite, {ask, drop, ask, drop},
                    "1\t1\t121\n1\t1\t121\n0\t1\t1\n0\t1\n0\t1\n0\t1\t0\n");
  ASSERT_EQ(transcript.done.size(), 4U);
  EXPECT_EQ(transcript.done[0].outcome, Outcome::kRejected);
  EXPECT_EQ(transcript.done[1].outcome, Outcome::kOk);
  EXPECT_EQ(transcript.done[2].outcome, Outcome::kOk);
  EXPECT_EQ(transcript.done[2].rows, 2U);
  EXPECT_EQ(transcript.done[3].outcome, Outcome::kMiss);
}

TEST_F(FormsTest, ABatchWithAValueThatDoesNotFitIsNotSentAtAll) {
  const std::vector<Value> rows = {Value::Integer(7),      Value::Integer(1),   Value::Text("nut"),
                                   Value::Null(),          Value::Null(),       Value::Integer(7),
                                   Value::Integer(70'000), Value::Text("bolt"), Value::Integer(3),
                                   Value::Null()};
  const Transcript transcript =
      Hold(Port::kWrite, {{.plan = OrderPlans::kAddLines, .values = rows}}, "");
  EXPECT_EQ(transcript.refused, 1U);
  EXPECT_EQ(transcript.requests, "");
  EXPECT_EQ(transcript.error.text, "column O_LINE: 70000 does not fit smallint");
}

TEST_F(FormsTest, AnInsertTellsTheIdThatTheServerGave) {
  const Ask ask = {.plan = OrderPlans::kNewTicket, .values = {Value::Text("pump")}};
  Done done = HoldOne(Port::kWrite, ask, "1\t+\t1\tpump\n", "0\t1\t18446744073709551615\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  EXPECT_EQ(done.insert_id, 18'446'744'073'709'551'615U);
  done = HoldOne(Port::kWrite, ask, "1\t+\t1\tpump\n", "0\t1\n");
  EXPECT_EQ(done.insert_id, 0U);
  const Transcript transcript = Hold(Port::kWrite, {ask}, "0\t1\t18446744073709551616\n");
  EXPECT_EQ(transcript.state, ConnectionState::kFailed);
}

TEST_F(FormsTest, AChangeMayReturnTheRowAsItWas) {
  Done done = HoldOne(Port::kWrite,
                      {.plan = OrderPlans::kRename, .values = {Value::Text("")}, .keys = kLineKey},
                      "2\t=\t2\t7\t-2\t1\t0\tU?\t\n", "0\t1\tnut\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"nut"}}));
  const Ask remove = {.plan = OrderPlans::kRemove, .keys = kLineKey};
  done = HoldOne(Port::kWrite, remove, "0\t=\t2\t7\t-2\t1\t0\tD?\n", "0\t5\t7\t-2\tnut\t\0\t\n"s);
  EXPECT_EQ(done.visited, (std::vector<Row>{{"7", "-2", "nut", std::nullopt, ""}}));
  done = HoldOne(Port::kWrite, remove, "0\t=\t2\t7\t-2\t1\t0\tD?\n", "0\t5\n");
  EXPECT_EQ(done.outcome, Outcome::kMiss);
  EXPECT_EQ(done.rows, 0U);
  done = HoldOne(Port::kWrite, {.plan = OrderPlans::kDownAndTell, .keys = kLineKey},
                 "4\t=\t2\t7\t-2\t1\t0\t-?\t2\n", "0\t1\t4\n");
  EXPECT_EQ(done.visited, (std::vector<Row>{{"4"}}));
}

TEST_F(FormsTest, AnIncrementAddsOrTakesAway) {
  Done done = HoldOne(Port::kWrite, {.plan = OrderPlans::kUp, .keys = kLineKey},
                      "4\t=\t2\t7\t-2\t1\t0\t+\t5\n", "0\t1\t1\n");
  EXPECT_EQ(done.outcome, Outcome::kOk);
  EXPECT_EQ(done.rows, 1U);
  // The server leaves a row that would fall below zero.
  done = HoldOne(Port::kWrite, {.plan = OrderPlans::kDown, .keys = kLineKey},
                 "4\t=\t2\t7\t-2\t1\t0\t-\t2\n", "0\t1\t0\n");
  EXPECT_EQ(done.outcome, Outcome::kMiss);
}

TEST_F(FormsTest, AnswersOfAnotherFormBreakTheConnection) {
  const std::vector<Value> keys = {Value::Integer(1), Value::Integer(2), Value::Integer(3)};
  for (const char* answer : {"0\t1\t5\n", "0\t2\t5\n", "0\t2\t1\t2\t3\n"}) {
    EXPECT_EQ(Hold(Port::kRead, {{.plan = OrderPlans::kTickets, .keys = keys}}, answer).state,
              ConnectionState::kFailed)
        << answer;
    EXPECT_EQ(Hold(Port::kWrite, {{.plan = OrderPlans::kRemove, .keys = kLineKey}}, answer).state,
              ConnectionState::kFailed)
        << answer;
  }
}

// Case C12: with a window of any size the last operations are not waited for in vain.
TEST_F(FormsTest, AWindowThatDoesNotDivideTheCountEnds) {
  constexpr std::size_t kCases[][2] = {{7, 3}, {10, 4}, {1, 8}, {8, 8}};
  for (const auto& [count, window] : kCases) {
    ReadyCodec ready(Port::kRead);
    Collector collector;
    Operation operation;
    operation.plan = &ready.plans.all()[SamplePlans::kFind];
    operation.key = Value::Integer(1);
    std::size_t asked = 0;
    std::string sent;
    while (collector.done.size() < count) {
      while (asked < count && asked - collector.done.size() < window) {
        ASSERT_TRUE(ready.codec->Encode(operation, static_cast<Ticket>(asked++), ready.out));
      }
      sent += ready.out.view();
      ready.out.Clear();
      ASSERT_EQ(ready.codec->Feed("0\t3\n", ready.out, collector), ConnectionState::kReady);
    }
    EXPECT_EQ(std::count(sent.begin(), sent.end(), '\n'), static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(ready.codec->Feed("0\t3\n", ready.out, collector), ConnectionState::kFailed)
        << "nothing more is in flight";
  }
}

// A scan's answer of any size is one line.
TEST_F(FormsTest, ALargeAnswerIsTakenInPieces) {
  ReadyCodec ready(Port::kRead);
  Operation operation;
  operation.plan = &ready.plans.all()[SamplePlans::kFind];
  operation.key = Value::Integer(1);
  constexpr std::size_t kRows = 200'000;
  ASSERT_TRUE(ready.codec->Encode(operation, 1, ready.out));
  ASSERT_TRUE(ready.codec->Encode(operation, 2, ready.out));
  Collector collector;
  std::string piece;
  for (int i = 0; i < 1000; ++i) piece += "\t1\tsome name\tsome longer address in a town";
  ready.codec->Feed("0\t3", ready.out, collector);
  for (std::size_t i = 0; i < kRows; i += 1000) {
    ASSERT_EQ(ready.codec->Feed(piece, ready.out, collector), ConnectionState::kReady);
  }
  ready.codec->Feed("\n0\t3\n", ready.out, collector);
  ASSERT_EQ(collector.done.size(), 2U);
  EXPECT_EQ(collector.done[0].rows, kRows);
  EXPECT_EQ(collector.done[1].outcome, Outcome::kMiss);
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
