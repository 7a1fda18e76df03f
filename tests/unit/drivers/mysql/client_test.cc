// Operations of the client against scripted answers: errors of every kind, cut and broken answers,
// several results, lost statements, a client destroyed in the middle.
#include <poll.h>

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/drivers/mysql/stub_mysql.h"

namespace cavalry::drivers::mysql {
namespace {

using fakes::StubConnection;
using fakes::StubServer;

constexpr char kComQuit = 0x01;
constexpr char kComPrepare = 0x16;
constexpr char kComExecute = 0x17;

constexpr Nanos kPatience = 10 * kSecond;

// Answers every query with the same bytes.
auto Answering(std::string answer) {
  return [answer](StubConnection& connection) {
    if (!Accept(&connection)) return;
    while (!ReadCommand(&connection).empty()) connection.Write(answer);
  };
}

class Texts final : public RowVisitor {
 public:
  void OnRow(std::span<const Field> fields) override {
    ASSERT_EQ(fields.size(), 1u);
    all += std::string(fields[0].text) + ";";
  }
  std::string all;
};

TEST(MysqlClient, ReadsAnAnswerCutAtEveryByte) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    while (!ReadCommand(&connection).empty()) {
      for (const char byte : TextResult(1, {"first", "", "third"})) {
        connection.Write(std::string_view(&byte, 1));
      }
    }
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  for (int i = 0; i < 3; ++i) {
    Texts texts;
    const OpResult result = client.Read(1, &texts);
    EXPECT_EQ(result.outcome, Outcome::kOk);
    EXPECT_EQ(result.rows, 3u);
    EXPECT_EQ(result.bytes, 10u);
    EXPECT_EQ(texts.all, "first;;third;");
  }
}

TEST(MysqlClient, NoRowIsAMissAndNothingChangedIsAMiss) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    ReadCommand(&connection);
    connection.Write(TextResult(1, {}));
    ReadCommand(&connection);
    connection.Write(Ok(1, 0));
    ReadCommand(&connection);
    connection.Write(Ok(1, 1));
    connection.ReadToEnd();
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  EXPECT_EQ(client.Read(1).outcome, Outcome::kMiss);
  EXPECT_EQ(client.Update(1, "x").outcome, Outcome::kMiss);
  const OpResult changed = client.Update(1, "x");
  EXPECT_EQ(changed.outcome, Outcome::kOk);
  EXPECT_EQ(changed.rows, 1u);
  EXPECT_TRUE(changed.code.empty());
  EXPECT_TRUE(changed.text.empty());
}

TEST(MysqlClient, ErrorsKeepTheirCodeTextAndClass) {
  struct Case {
    std::uint16_t code;
    Severity severity;
    bool unknown;
  };
  for (const Case& expected :
       {Case{1213, Severity::kNormal, false}, Case{1205, Severity::kNormal, false},
        Case{1317, Severity::kNormal, true}, Case{1927, Severity::kReconnect, true},
        Case{1053, Severity::kReconnect, true}, Case{1146, Severity::kFatal, false}}) {
    StubServer server(Answering(Error(1, expected.code, "what the server says")));
    StubClient client(server.port());
    ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
    const OpResult update = client.Update(1, "x");
    EXPECT_EQ(update.outcome, Outcome::kRejected);
    EXPECT_EQ(update.severity, expected.severity) << expected.code;
    EXPECT_EQ(update.outcome_unknown, expected.unknown) << expected.code;
    EXPECT_EQ(update.code, std::to_string(expected.code));
    EXPECT_EQ(update.text, "what the server says");
    // A read leaves nothing open.
    if (expected.severity == Severity::kNormal) {
      EXPECT_FALSE(client.Read(1).outcome_unknown) << expected.code;
    }
  }
}

TEST(MysqlClient, AnErrorAmongTheRowsEndsTheOperation) {
  const std::string whole = TextResult(1, {"row"});
  const std::string end = Packet(5, std::string("\xfe\0\0\2\0", 5));
  StubServer server(
      Answering(whole.substr(0, whole.size() - end.size()) + Error(5, 1317, "interrupted")));
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  const OpResult result = client.Read(1);
  EXPECT_EQ(result.outcome, Outcome::kRejected);
  EXPECT_EQ(result.code, "1317");
  EXPECT_EQ(result.rows, 0u);
  EXPECT_EQ(client.Read(1).code, "1317");
}

TEST(MysqlClient, AConnectionLostAtAnyByteOfTheAnswerIsBroken) {
  const std::string answer = TextResult(1, {"row"});
  for (std::size_t cut = 0; cut < answer.size(); ++cut) {
    StubServer server([&](StubConnection& connection) {
      if (!Accept(&connection)) return;
      ReadCommand(&connection);
      connection.Write(answer.substr(0, cut));
    });
    StubClient client(server.port());
    ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
    const OpResult result = client.Read(1);
    EXPECT_EQ(result.outcome, Outcome::kBroken) << cut;
    EXPECT_EQ(result.severity, Severity::kReconnect) << cut;
    EXPECT_EQ(result.code, "2013") << cut;
    EXPECT_FALSE(result.outcome_unknown) << "a read leaves nothing open";
  }
}

TEST(MysqlClient, AResetLeavesAWriteUnknownAndTheClientCanConnectAgain) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    ReadCommand(&connection);
    if (connection.number() == 0) return connection.Reset();
    connection.Write(Ok(1, 1));
    connection.ReadToEnd();
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  const OpResult lost = client.Update(1, "x");
  EXPECT_EQ(lost.outcome, Outcome::kBroken);
  EXPECT_TRUE(lost.outcome_unknown);
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  EXPECT_EQ(client.Update(1, "x").outcome, Outcome::kOk);
}

TEST(MysqlClient, AConnectionClosedBetweenOperationsIsBroken) {
  StubServer server([](StubConnection& connection) { Accept(&connection); });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  ASSERT_TRUE(server.WaitForEnds(1, kPatience));
  const OpResult lost = client.Update(1, "x");
  EXPECT_EQ(lost.outcome, Outcome::kBroken);
  EXPECT_TRUE(lost.code == "2013" || lost.code == "2006") << lost.code;
  EXPECT_TRUE(lost.outcome_unknown);
  EXPECT_EQ(client.Close().outcome, Outcome::kOk);
}

TEST(MysqlClient, FurtherResultsAreDrained) {
  std::uint8_t next = 0;
  std::string answer = TextResult(1, {"a"}, kAutocommit | kMoreResults, &next);
  answer += TextResult(next, {"b", "c"}, kAutocommit | kMoreResults, &next);
  answer += Ok(next, 0);
  StubServer server(Answering(answer));
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  for (int i = 0; i < 2; ++i) {
    const OpResult result = client.Read(1);
    EXPECT_EQ(result.outcome, Outcome::kOk) << result.text;
    EXPECT_EQ(result.rows, 3u);
  }
}

TEST(MysqlClient, AnErrorInAFurtherResultIsTheOperationsError) {
  std::uint8_t next = 0;
  std::string answer = TextResult(1, {"a"}, kAutocommit | kMoreResults, &next);
  answer += Error(next, 1213, "deadlock");
  StubServer server(Answering(answer));
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  EXPECT_EQ(client.Read(1).code, "1213");
  EXPECT_EQ(client.Read(1).code, "1213");
}

TEST(MysqlClient, BytesThatAreNoAnswerBreakTheConnection) {
  for (const std::string& answer :
       {Packet(1, std::string("\x01\x00\x00\x00", 4)), Packet(9, "out of order"), Packet(1, ""),
        Packet(1, std::string(1, '\x02')) + Packet(2, "no column definition")}) {
    StubServer server([&](StubConnection& connection) {
      if (!Accept(&connection)) return;
      ReadCommand(&connection);
      connection.Write(answer);
    });
    StubClient client(server.port());
    ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
    const OpResult result = client.Read(1);
    EXPECT_EQ(result.outcome, Outcome::kBroken) << result.text;
    EXPECT_EQ(result.severity, Severity::kReconnect);
  }
}

TEST(MysqlClient, AServerThatAsksForALocalFileGetsNone) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    ReadCommand(&connection);
    connection.Write(Packet(1, "\xfb/etc/hostname"));
    ReadCommand(&connection);  // the empty packet that ends a file
    connection.Write(Ok(3, 0));
    connection.ReadToEnd();
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  const OpResult result = client.Read(1);
  EXPECT_NE(result.outcome, Outcome::kOk);
  client.Destroy();
  ASSERT_TRUE(server.WaitForEnds(1, kPatience));
  const std::string sent = server.received(0);
  const std::size_t query = sent.find("SELECT");
  ASSERT_NE(query, std::string::npos);
  EXPECT_LT(sent.size() - query, 100u) << "nothing but the statement, an empty packet and a quit";
}

TEST(MysqlClient, TextIsEscapedAsTheServersModeWantsIt) {
  for (const auto& [status, expected] :
       {std::pair<std::uint16_t, std::string>{kAutocommit, R"(SET `a`='it\'s \\' WHERE `id`=5)"},
        {kAutocommit | kNoBackslashEscapes, R"(SET `a`='it''s \' WHERE `id`=5)"}}) {
    StubServer server([status = status](StubConnection& connection) {
      if (!Accept(&connection, status)) return;
      while (!ReadCommand(&connection).empty()) connection.Write(Ok(1, 1, status));
    });
    StubClient client(server.port());
    ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
    EXPECT_EQ(client.Update(5, "it's \\").outcome, Outcome::kOk);
    EXPECT_NE(server.received(0).find(expected), std::string::npos) << server.received(0);
  }
}

TEST(MysqlClient, ALostStatementIsPreparedAgainOnce) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    int executes = 0;
    std::uint32_t id = 0;
    for (std::string command; !(command = ReadCommand(&connection)).empty();) {
      if (command[0] == kComPrepare) connection.Write(PrepareOk(++id, 2));
      if (command[0] != kComExecute) continue;
      // The first works; the second finds its statement gone, once; the third finds it gone again
      // and again.
      const int execute = ++executes;
      const bool gone = execute == 2 || execute >= 4;
      connection.Write(gone ? Error(1, 1243, "Unknown prepared statement handler") : Ok(1, 1));
    }
  });
  StubClient client(server.port(), "prepared");
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  const OpResult first = client.Update(1, "x");
  EXPECT_EQ(first.outcome, Outcome::kOk);
  EXPECT_FALSE(first.reprepared);

  const OpResult second = client.Update(2, "y");
  EXPECT_EQ(second.outcome, Outcome::kOk) << second.text;
  EXPECT_TRUE(second.reprepared);
  EXPECT_EQ(second.rows, 1u);

  const OpResult third = client.Update(3, "z");
  EXPECT_EQ(third.outcome, Outcome::kRejected);
  EXPECT_EQ(third.code, "1243");
  EXPECT_TRUE(third.reprepared);
  client.Close();
  ASSERT_TRUE(server.WaitForEnds(1, kPatience));
}

TEST(MysqlClient, APreparedAnswerMayBeCutAndLost) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    ReadCommand(&connection);
    connection.Write(PrepareOk(1, 2));
    ReadCommand(&connection);
    for (const char byte : Ok(1, 1)) connection.Write(std::string_view(&byte, 1));
    ReadCommand(&connection);
    connection.Write(Ok(1, 1).substr(0, 6));
  });
  StubClient client(server.port(), "prepared");
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  EXPECT_EQ(client.Update(1, "x").outcome, Outcome::kOk);
  const OpResult lost = client.Update(1, "y");
  EXPECT_EQ(lost.outcome, Outcome::kBroken);
  EXPECT_TRUE(lost.outcome_unknown);
  EXPECT_EQ(lost.code, "2013");
}

TEST(MysqlClient, DestroyedAtAnyByteOfAnAnswerItLetsGo) {
  const std::string answer = TextResult(1, {"row"});
  for (std::size_t cut = 0; cut < answer.size(); ++cut) {
    StubServer server([&](StubConnection& connection) {
      if (!Accept(&connection)) return;
      ReadCommand(&connection);
      connection.Write(answer.substr(0, cut));
      connection.ReadToEnd();
    });
    StubClient client(server.port());
    ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
    PollStep step = client.StartRead(1);
    if (cut > 0 && !step.done) step = client.client().Continue(POLLIN, false);
    EXPECT_FALSE(step.done) << cut;
    client.Destroy();
    EXPECT_TRUE(server.WaitForEnds(1, kPatience)) << cut;
  }
}

TEST(MysqlClient, ClosesWithAFarewell) {
  StubServer server([](StubConnection& connection) {
    Accept(&connection);
    connection.ReadToEnd();
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  EXPECT_EQ(client.Close().outcome, Outcome::kOk);
  ASSERT_TRUE(server.WaitForEnds(1, kPatience));
  EXPECT_EQ(server.received(0).back(), kComQuit);
  // Closed once more, and closed before it ever connected.
  EXPECT_EQ(client.Close().outcome, Outcome::kOk);
  EXPECT_EQ(StubClient(server.port()).Close().outcome, Outcome::kOk);
}

}  // namespace
}  // namespace cavalry::drivers::mysql
