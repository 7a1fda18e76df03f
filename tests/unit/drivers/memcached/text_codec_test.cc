#include <gtest/gtest.h>

#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr char kFlags[] = "1667331633";  // "cav1"

std::string ValueLine(const std::string& key, const std::string& data,
                      const std::string& flags = kFlags) {
  return "VALUE " + key + " " + flags + " " + std::to_string(data.size()) + "\r\n" + data + "\r\n";
}

std::string Of(const std::vector<std::string>& columns) { return Packed(columns); }

TEST(TextCodec, SendsEachOperation) {
  Talk talk(TextOptions());
  ASSERT_TRUE(talk.Ask(Plans::kGet, {Value::Integer(7)}));
  EXPECT_EQ(talk.Sent(), "get k:t:7\r\n");
  ASSERT_TRUE(talk.Ask(Plans::kSome, {Value::Integer(1), Value::Integer(2), Value::Integer(30)}));
  EXPECT_EQ(talk.Sent(), "get k:t:1 k:t:2 k:t:30\r\n");
  ASSERT_TRUE(talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("ab"), Value::Integer(9)}));
  EXPECT_EQ(talk.Sent(),
            std::string("add k:t:5 ") + kFlags + " 0 5\r\n" + Of({"ab", "9"}) + "\r\n");
  ASSERT_TRUE(talk.Ask(Plans::kSet, {Value::Integer(5)}, {Value::Integer(9), Value::Null()}));
  EXPECT_EQ(talk.Sent(),
            std::string("replace k:t:5 ") + kFlags + " 0 3\r\n" + Of({"-", "9"}) + "\r\n");
  ASSERT_TRUE(talk.Ask(Plans::kDrop, {Value::Integer(5)}));
  EXPECT_EQ(talk.Sent(), "delete k:t:5\r\n");
  ASSERT_TRUE(talk.Ask(Plans::kAddTwo, {},
                       {Value::Integer(1), Value::Text("a"), Value::Integer(2), Value::Integer(3),
                        Value::Text("b"), Value::Integer(4)}));
  EXPECT_EQ(talk.Sent(), std::string("add k:t:1 ") + kFlags + " 0 4\r\n" + Of({"a", "2"}) +
                             "\r\nadd k:t:3 " + kFlags + " 0 4\r\n" + Of({"b", "4"}) + "\r\n");
}

TEST(TextCodec, TakesEachAnswerCutAnywhere) {
  const auto ask = [](Talk& talk) {
    talk.Ask(Plans::kGet, {Value::Integer(7)});
    talk.Ask(Plans::kGet, {Value::Integer(8)});
    talk.Ask(Plans::kSome, {Value::Integer(1), Value::Integer(2), Value::Integer(3)});
    talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
    talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
    talk.Ask(Plans::kSet, {Value::Integer(5)}, {Value::Integer(9), Value::Null()});
    talk.Ask(Plans::kSet, {Value::Integer(6)}, {Value::Integer(9), Value::Null()});
    talk.Ask(Plans::kDrop, {Value::Integer(5)});
    talk.Ask(Plans::kDrop, {Value::Integer(6)});
    talk.Ask(Plans::kGet, {Value::Integer(7)}, {}, false);
  };
  const std::string odd("\r\nEND\r\n\0", 8);  // a value may hold what ends others
  const std::string answers = ValueLine("k:t:7", Of({odd, "3"})) + "END\r\n" + "END\r\n" +
                              ValueLine("k:t:1", Of({"-", "1"})) +
                              ValueLine("k:t:3", Of({"", "2"})) +
                              "END\r\nSTORED\r\nNOT_STORED\r\nSTORED\r\nNOT_STORED\r\nDELETED\r\n"
                              "NOT_FOUND\r\n" +
                              ValueLine("k:t:7", Of({"x", "3"})) + "END\r\n";
  EXPECT_EQ(AtEveryCut(TextOptions(), {}, ask, answers),
            "row '3' '7' '" + odd + "'\n1 ok rows 1\n" +
                "2 miss rows 0\n"
                "row '1' NULL\nrow '3' ''\n3 ok rows 2\n"
                "4 ok rows 1\n5 rejected rows 0 [NOT_STORED] there is such an item\n"
                "6 ok rows 1\n7 miss rows 0\n8 ok rows 1\n9 miss rows 0\n10 ok rows 1\n");
}

TEST(TextCodec, ABatchIsRejectedWhenOneOfItsRowsIs) {
  const auto ask = [](Talk& talk) {
    for (int i = 0; i < 3; ++i) {
      talk.Ask(Plans::kAddTwo, {},
               {Value::Integer(1), Value::Text("a"), Value::Integer(2), Value::Integer(3),
                Value::Text("b"), Value::Integer(4)});
    }
  };
  EXPECT_EQ(AtEveryCut(TextOptions(), {}, ask,
                       "STORED\r\nSTORED\r\nNOT_STORED\r\nSTORED\r\nNOT_STORED\r\nNOT_STORED\r\n"),
            "1 ok rows 2\n"
            "2 rejected rows 1 [NOT_STORED] there is such an item unknown\n"
            "3 rejected rows 0 [NOT_STORED] there is such an item\n");
}

TEST(TextCodec, ErrorsOfTheServerEndTheirOperation) {
  const auto ask = [](Talk& talk) {
    talk.Ask(Plans::kGet, {Value::Integer(7)});
    talk.Ask(Plans::kSome, {Value::Integer(1), Value::Integer(2), Value::Integer(3)});
    talk.Ask(Plans::kSet, {Value::Integer(5)}, {Value::Integer(9), Value::Null()});
    talk.Ask(Plans::kDrop, {Value::Integer(5)});
  };
  // An object that is too large has removed the one before it.
  EXPECT_EQ(AtEveryCut(TextOptions(), {}, ask,
                       "SERVER_ERROR out of memory\r\nCLIENT_ERROR line too long\r\n"
                       "SERVER_ERROR object too large for cache\r\nERROR\r\n"),
            "1 rejected rows 0 [SERVER_ERROR] out of memory\n"
            "2 rejected rows 0 [CLIENT_ERROR] line too long\n"
            "3 rejected rows 0 [SERVER_ERROR] object too large for cache unknown\n"
            "4 rejected rows 0 [ERROR] ERROR\n");
}

TEST(TextCodec, ARefusedLineWithAValueEndsTheConnection) {
  Talk talk(TextOptions());
  talk.Ask(Plans::kAdd, {}, {Value::Integer(5), Value::Text("a"), Value::Integer(9)});
  talk.Hear("CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(talk.script(), "1 rejected rows 0 [CLIENT_ERROR] bad command line format reconnect\n");
}

TEST(TextCodec, ItemsOfSomebodyElseAreNoRows) {
  const auto ask = [](Talk& talk) {
    talk.Ask(Plans::kGet, {Value::Integer(7)});
    talk.Ask(Plans::kGet, {Value::Integer(8)});
  };
  EXPECT_EQ(AtEveryCut(TextOptions(), {}, ask,
                       ValueLine("k:t:7", "hello", "3") + "END\r\n" + ValueLine("k:t:8", "\x09xx") +
                           "END\r\n"),
            "1 rejected rows 0 [format] cache:1: item k:t:7 has flags 3: it is no row that cavalry "
            "wrote\n2 rejected rows 0 [format] cache:1: item k:t:8 is no packed row\n");
}

TEST(TextCodec, BytesAreTheValueAlone) {
  Options options = TextOptions();
  options.value = ValueForm::kBytes;
  options.expire_after_seconds = 60;
  TableSchema table;
  table.name = "t";
  Column id, count;
  id.name = "id";
  id.type = *ParseColumnType("int");
  count.name = "n";
  count.type = *ParseColumnType("bigint");
  table.columns = {id, count};
  std::vector<OperationPlan> plans(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    plans[i].index = i;
    plans[i].table = &table;
    plans[i].name = "op";
  }
  plans[0].kind = OperationKind::kInsert;
  plans[0].columns = {0, 1};
  plans[1].kind = OperationKind::kIncrement;
  plans[1].columns = {1};
  plans[1].amount = -3;
  plans[2].kind = OperationKind::kRead;
  plans[2].columns = {1};
  std::vector<PlanRequest> requests;
  for (const OperationPlan& plan : plans) requests.push_back(*PlanOperation(options, plan));
  const MemcachedFactory factory(options, requests, nullptr);
  const auto codec = factory.NewCodec(0);
  ByteBuffer out;
  codec->Start(out);
  Scribe scribe;
  const Value values[] = {Value::Integer(4), Value::Integer(100)};
  Operation add, change, get;
  add.plan = &plans[0];
  add.values = values;
  change.plan = &plans[1];
  change.key = Value::Integer(4);
  get.plan = &plans[2];
  get.key = Value::Integer(4);
  get.rows = &scribe;
  ASSERT_TRUE(codec->Encode(add, 1, out));
  ASSERT_TRUE(codec->Encode(change, 2, out));
  ASSERT_TRUE(codec->Encode(change, 3, out));
  ASSERT_TRUE(codec->Encode(get, 4, out));
  EXPECT_EQ(out.view(), "add k:t:4 0 60 3\r\n100\r\ndecr k:t:4 3\r\ndecr k:t:4 3\r\nget k:t:4\r\n");
  codec->Feed("STORED\r\n97 \r\nNOT_FOUND\r\nVALUE k:t:4 0 3\r\n97 \r\nEND\r\n", out, scribe);
  EXPECT_EQ(scribe.script(), "1 ok rows 1\n2 ok rows 1\n3 miss rows 0\nrow '97 '\n4 ok rows 1\n");
}

TEST(TextCodec, AuthenticatesWithASet) {
  Options options = TextOptions();
  options.user = "me";
  options.password = "secret";
  Talk talk(options);
  EXPECT_EQ(talk.Sent(), "set auth 0 0 9\r\nme secret\r\n");
  EXPECT_EQ(talk.Hear("STORED\r\n"), ConnectionState::kReady);
  Talk refused(options);
  EXPECT_EQ(refused.Hear("CLIENT_ERROR authentication failure\r\n"), ConnectionState::kFailed);
  EXPECT_EQ(refused.error().severity, Severity::kFatal);
  EXPECT_NE(refused.error().text.find("is the password right?"), std::string_view::npos);
  Talk wanted(TextOptions());
  wanted.Ask(Plans::kGet, {Value::Integer(7)});
  EXPECT_EQ(wanted.Hear("CLIENT_ERROR unauthenticated\r\n"), ConnectionState::kFailed);
  EXPECT_EQ(wanted.error().severity, Severity::kFatal);
}

TEST(TextCodec, AServerWithoutRoomIsNamed) {
  Talk talk(TextOptions());
  EXPECT_EQ(talk.Hear("ERROR Too many open connections\r\n"), ConnectionState::kFailed);
  EXPECT_EQ(talk.error().outcome, Outcome::kRejected);
  EXPECT_NE(talk.error().text.find("--conn-limit"), std::string_view::npos);
}

}  // namespace
}  // namespace cavalry::drivers::memcached
