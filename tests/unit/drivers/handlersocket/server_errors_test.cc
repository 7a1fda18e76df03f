// Every error code, at the handshake and in operation.
#include "drivers/handlersocket/server_errors.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "drivers/handlersocket/handlersocket_codec.h"
#include "tests/unit/drivers/handlersocket/conversation.h"
#include "tests/unit/drivers/handlersocket/order_plans.h"

namespace cavalry::drivers::handlersocket {
namespace {

Ask AddOne() {
  return {.plan = SamplePlans::kAdd,
          .values = {Value::Integer(1), Value::Text("a"), Value::Null(), Value::Null()}};
}

// The result of one operation that is answered so; the connection goes on afterwards.
Done Answered(Port port, const Ask& ask, const std::string& answer) {
  Conversation conversation;
  conversation.port = port;
  conversation.greeting = Welcome(port, false);
  conversation.asks = {ask, ask};
  conversation.answers = answer + "0\t" + (port == Port::kRead ? "3" : "1") + "\n";
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kReady);
  EXPECT_EQ(transcript.done.size(), 2U);
  if (transcript.done.empty()) return {};
  return transcript.done[0];
}

TEST(ServerErrors, RejectAndKeepTheirOwnCode) {
  const Done done = Answered(Port::kWrite, AddOne(), "1\t1\t121\n");
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.severity, Severity::kNormal);
  EXPECT_FALSE(done.outcome_unknown);
  EXPECT_EQ(done.rows, 0U);
  EXPECT_EQ(done.code, "1 121");
  EXPECT_EQ(done.text, "duplicate key (handler error 121)");
}

TEST(ServerErrors, EachKnownOneIsASentence) {
  for (const std::string_view known : {"lock_tables", "121", "134", "135", "136", "139", "146",
                                       "149", "151", "152", "167", "189", "200"}) {
    const std::string answer = "1\t1\t" + std::string(known) + "\n";
    const Done done = Answered(Port::kWrite, AddOne(), answer);
    EXPECT_EQ(done.outcome, Outcome::kRejected);
    EXPECT_EQ(done.severity, Severity::kNormal);
    EXPECT_EQ(done.code, "1 " + std::string(known));
    EXPECT_GT(done.text.size(), 10U);
    EXPECT_EQ(done.text.find("the server answered"), std::string::npos) << done.text;
  }
}

TEST(ServerErrors, LeaveAWriteOpenWhenTheEngineMayHaveGotHalfWay) {
  for (const std::string_view done_nothing : {"lock_tables", "121", "146", "149", "152", "200"}) {
    const std::string answer = "1\t1\t" + std::string(done_nothing) + "\n";
    EXPECT_FALSE(Answered(Port::kWrite, AddOne(), answer).outcome_unknown) << done_nothing;
  }
  for (const std::string_view open : {"135", "145", "999", "something"}) {
    const std::string answer = "1\t1\t" + std::string(open) + "\n";
    EXPECT_TRUE(Answered(Port::kWrite, AddOne(), answer).outcome_unknown) << open;
    EXPECT_FALSE(Answered(Port::kRead, {.key = Value::Integer(1)}, answer).outcome_unknown);
  }
}

TEST(ServerErrors, SayWhetherTryingAgainMakesSense) {
  for (const std::string_view again : {"123", "146", "149", "200"}) {
    EXPECT_TRUE(Answered(Port::kWrite, AddOne(), "1\t1\t" + std::string(again) + "\n").retryable);
  }
  for (const std::string_view never : {"121", "lock_tables", "152", "999"}) {
    EXPECT_FALSE(Answered(Port::kWrite, AddOne(), "1\t1\t" + std::string(never) + "\n").retryable);
  }
}

TEST(ServerErrors, UnknownOnesKeepTheirWords) {
  Done done = Answered(Port::kWrite, AddOne(), "1\t1\t999\n");
  EXPECT_EQ(done.code, "1 999");
  EXPECT_EQ(done.text, "the server answered 1 999");
  done = Answered(Port::kWrite, AddOne(), "1\t1\n");
  EXPECT_EQ(done.code, "1");
  EXPECT_EQ(done.text, "the server answered 1");
  // The rest of the line is one message, whatever is in it, and does not grow without bound.
  done = Answered(Port::kWrite, AddOne(), "1\t1\ta\tb\x01\n");
  EXPECT_EQ(done.code, "1 a.b.");
  done = Answered(Port::kWrite, AddOne(), "77\t1\t" + std::string(500, 'x') + "\n");
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.severity, Severity::kNormal);
  EXPECT_EQ(done.code.size(), 64U);
}

TEST(RequestErrors, AreFatalAndSayWhatToChange) {
  Done done = Answered(Port::kWrite, AddOne(), "2\t1\treadonly\n");
  EXPECT_EQ(done.outcome, Outcome::kRejected);
  EXPECT_EQ(done.severity, Severity::kFatal);
  EXPECT_FALSE(done.outcome_unknown);
  EXPECT_EQ(done.code, "2 readonly");
  EXPECT_EQ(done.text,
            "127.0.0.1:9999 (handlersocket write): this is the server's read port, which takes no "
            "writes. Set the target's write_port to the server's handlersocket_port_wr (by custom "
            "9999); or are port and write_port swapped?");
  for (const std::string_view word : {"cmd", "stmtnum", "op", "klen", "kpnum", "idxnum", "fld",
                                      "tblnum", "modop", "filterfld", "filtertype", "notimpl"}) {
    done = Answered(Port::kRead, {.key = Value::Integer(1)}, "2\t1\t" + std::string(word) + "\n");
    EXPECT_EQ(done.severity, Severity::kFatal);
    EXPECT_EQ(done.code, "2 " + std::string(word));
    EXPECT_EQ(done.text.find("the server answered"), std::string::npos) << done.text;
  }
  done = Answered(Port::kRead, {.key = Value::Integer(1)}, "2\t1\tnew_word\n");
  EXPECT_EQ(done.severity, Severity::kFatal);
  EXPECT_NE(done.text.find("the server answered 2 new_word"), std::string::npos);
}

TEST(AuthorisationErrors, AreFatalAndNameTheOption) {
  Done done = Answered(Port::kRead, {.key = Value::Integer(1)}, "3\t1\tunauth\n");
  EXPECT_EQ(done.severity, Severity::kFatal);
  EXPECT_EQ(done.code, "3 unauth");
  EXPECT_EQ(done.text,
            "127.0.0.1:9998 (handlersocket read): the server wants a secret. Set the target's "
            "secret to the server's handlersocket_plain_secret, or write secret: { from: TARGET } "
            "to ask a mysql target of the same server for it");
  done = Answered(Port::kWrite, AddOne(), "3\t1\tunauth\n");
  EXPECT_NE(done.text.find("write_secret: { from: TARGET }"), std::string::npos) << done.text;
}

// The error of a handshake that is answered so.
Done Refused(Port port, const std::string& secret, const std::string& greeting) {
  Conversation conversation;
  conversation.port = port;
  conversation.secret = secret;
  conversation.greeting = greeting;
  const Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.state, ConnectionState::kFailed);
  EXPECT_EQ(transcript.error.outcome, Outcome::kRejected);
  EXPECT_EQ(transcript.error.severity, Severity::kFatal);
  EXPECT_FALSE(transcript.error.outcome_unknown);
  return transcript.error;
}

TEST(HandshakeErrors, AWrongSecret) {
  const Done error =
      Refused(Port::kWrite, "wrong", "3\t1\tunauth\n3\t1\tunauth\n3\t1\tunauth\n3\t1\tunauth\n");
  EXPECT_EQ(error.code, "3 unauth");
  EXPECT_EQ(error.text,
            "127.0.0.1:9999 (handlersocket write): the server refused the secret. Set the target's "
            "write_secret (by default the value of secret) to the server's "
            "handlersocket_plain_secret_wr, or write write_secret: { from: TARGET } to ask a mysql "
            "target of the same server for it");
  EXPECT_EQ(Refused(Port::kRead, "", "3\t1\tunauth\n").code, "3 unauth");
  EXPECT_EQ(Refused(Port::kRead, "x", "3\t1\tauthtype\n").code, "3 authtype");
}

TEST(HandshakeErrors, AMissingTable) {
  const Done error = Refused(Port::kRead, "", "1\t1\topen_table\n1\t1\topen_table\n");
  EXPECT_EQ(error.code, "1 open_table");
  EXPECT_EQ(error.text,
            "127.0.0.1:9998 (handlersocket read): cannot open test.customer: no such table or "
            "database (names are compared exactly, case too)");
}

TEST(HandshakeErrors, NoPrimaryKey) {
  const Done error = Refused(Port::kRead, "", "2\t1\tidxnum\n");
  EXPECT_EQ(error.code, "2 idxnum");
  EXPECT_EQ(
      error.text,
      "127.0.0.1:9998 (handlersocket read): test.customer has no primary key, by which "
      "HandlerSocket finds its rows, also those to insert. Give the table one, or scan another "
      "index by its name");
}

TEST(HandshakeErrors, NoSuchIndex) {
  OrderPlans plans;
  Conversation conversation;
  conversation.plans = &plans.all();
  conversation.greeting = "0\t1\n0\t1\n0\t1\n2\t1\tidxnum\n";
  Transcript transcript = TalkAtEveryCut(conversation);
  EXPECT_EQ(transcript.error.severity, Severity::kFatal);
  EXPECT_EQ(
      transcript.error.text,
      "127.0.0.1:9998 (handlersocket read): test.line has no index by_name (names are compared "
      "exactly, case too)");
  // Columns of filters are opened too.
  conversation.greeting = "0\t1\n0\t1\n0\t1\n2\t1\tfld\n";
  transcript = TalkAtEveryCut(conversation);
  EXPECT_NE(transcript.error.text.find("the columns O_ID, O_LINE, QTY, O_LINE, QTY "),
            std::string::npos)
      << transcript.error.text;
}

TEST(HandshakeErrors, AMissingColumn) {
  Done error = Refused(Port::kRead, "s", "0\t1\n0\t1\n2\t1\tfld\n");
  EXPECT_EQ(error.code, "2 fld");
  EXPECT_EQ(error.text,
            "127.0.0.1:9998 (handlersocket read): test.customer does not have all of the columns V "
            "(names are compared exactly, case too)");
  error = Refused(Port::kWrite, "", "0\t1\n2\t1\tfld\n");
  EXPECT_NE(error.text.find("the columns C_NAME, C_ADDRESS "), std::string::npos) << error.text;
}

TEST(HandshakeErrors, AnythingElseIsQuoted) {
  const Done error = Refused(Port::kRead, "", "9\t1\tstrange\n");
  EXPECT_EQ(error.code, "9 strange");
  EXPECT_NE(error.text.find("the server answered 9 strange"), std::string::npos) << error.text;
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
