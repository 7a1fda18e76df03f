// The client with blocking calls against scripted servers: what it does when they say nothing, too
// little or goodbye.
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "drivers/core/driver.h"
#include "drivers/mysql/mysql_driver.h"
#include "tests/unit/drivers/mysql/stub_mysql.h"

namespace cavalry::drivers::mysql {
namespace {

using fakes::StubConnection;
using fakes::StubServer;

constexpr Nanos kShort = 200 * kMillisecond;
constexpr Nanos kLong = 30 * kSecond;
constexpr Nanos kPatience = 10 * kSecond;

class BlockingStub {
 public:
  BlockingStub(std::uint16_t port, Nanos connect_timeout, Nanos operation_timeout) {
    OperationPlan& commit = plans_.plans.emplace_back();
    commit.index = 2;
    commit.kind = OperationKind::kCommit;
    settings_.Add({"host", "127.0.0.1"});
    settings_.Add({"port", std::to_string(port)});
    settings_.Add({"user", "u"});
    settings_.Add({"database", "d"});
    settings_.Add({"client", "blocking"});
    ClientConfig config;
    config.settings = &settings_;
    config.operations = &plans_.plans;
    config.connect_timeout = connect_timeout;
    config.operation_timeout = operation_timeout;
    auto factory = GetDriver().NewClientFactory(config);
    EXPECT_TRUE(factory.ok()) << factory.status();
    factory_ = std::get<std::unique_ptr<BlockingFactory>>(std::move(*factory));
    client_ = factory_->NewClient();
  }

  BlockingClient& client() { return *client_; }
  OpResult Read() { return client_->Run({&plans_.plans[0], Value::Unsigned(1), {}, nullptr}); }
  OpResult Update() {
    const Value value = Value::Text("x");
    return client_->Run({&plans_.plans[1], Value::Unsigned(1), {&value, 1}, nullptr});
  }
  OpResult Commit() { return client_->Run({&plans_.plans[2], {}, {}, nullptr}); }

 private:
  StubPlans plans_;
  Settings settings_;
  std::unique_ptr<BlockingFactory> factory_;
  std::unique_ptr<BlockingClient> client_;
};

TEST(BlockingMysqlClient, ReadsUpdatesAndSaysGoodbye) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    for (std::string command; !(command = ReadCommand(&connection)).empty();) {
      connection.Write(command.find("SELECT") == std::string::npos ? Ok(1, 0)
                                                                   : TextResult(1, {"a", "b"}));
    }
  });
  BlockingStub stub(server.port(), kLong, kLong);
  ASSERT_EQ(stub.client().Connect().outcome, Outcome::kOk);
  EXPECT_EQ(stub.Read().rows, 2u);
  EXPECT_EQ(stub.Update().outcome, Outcome::kMiss);
  stub.client().Close();
  EXPECT_TRUE(server.WaitForEnds(1, kPatience));
  stub.client().Close();
}

// C24: as often as sessions would try.
TEST(BlockingMysqlClient, AServerThatNeverGreetsTimesOutInTime) {
  StubServer server([](StubConnection& connection) { connection.ReadToEnd(); });
  BlockingStub stub(server.port(), kShort, kLong);
  for (int i = 1; i <= 5; ++i) {
    const Nanos begin = MonotonicNow();
    const OpResult result = stub.client().Connect();
    const Nanos took = MonotonicNow() - begin;
    EXPECT_EQ(result.outcome, Outcome::kTimeout);
    EXPECT_EQ(result.severity, Severity::kReconnect);
    EXPECT_GE(took, kShort);
    EXPECT_LT(took, 5 * kShort);
    EXPECT_TRUE(server.WaitForEnds(i, kPatience)) << "the socket is closed";
  }
}

TEST(BlockingMysqlClient, ARefusedConnectionIsNotSent) {
  StubServer server([](StubConnection&) {});
  BlockingStub stub(server.port(), kLong, kLong);
  server.Stop();
  for (int i = 0; i < 100; ++i) {
    const OpResult result = stub.client().Connect();
    EXPECT_EQ(result.outcome, Outcome::kNotSent);
    EXPECT_TRUE(result.code == "2002" || result.code == "2003") << result.code;
  }
}

TEST(BlockingMysqlClient, AnAnswerThatNeverComesTimesOutAndLeavesAWriteUnknown) {
  StubServer server([](StubConnection& connection) {
    if (Accept(&connection)) connection.ReadToEnd();
  });
  BlockingStub stub(server.port(), kLong, kShort);
  for (const bool write : {false, true}) {
    ASSERT_EQ(stub.client().Connect().outcome, Outcome::kOk);
    const Nanos begin = MonotonicNow();
    const OpResult result = write ? stub.Update() : stub.Read();
    const Nanos took = MonotonicNow() - begin;
    EXPECT_EQ(result.outcome, Outcome::kTimeout);
    EXPECT_EQ(result.severity, Severity::kReconnect);
    EXPECT_EQ(result.outcome_unknown, write);
    EXPECT_GE(took, kShort);
    EXPECT_LT(took, 5 * kShort);
  }
}

TEST(BlockingMysqlClient, AConnectionLostInAnAnswerIsBrokenAndMadeAnew) {
  const std::string answer = TextResult(1, {"a"});
  for (std::size_t length = 0; length < answer.size(); length += 3) {
    StubServer server([&](StubConnection& connection) {
      if (!Accept(&connection) || ReadCommand(&connection).empty()) return;
      connection.Write(std::string_view(answer).substr(0, length));
    });
    BlockingStub stub(server.port(), kLong, kLong);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(stub.client().Connect().outcome, Outcome::kOk);
      const OpResult result = stub.Read();
      EXPECT_EQ(result.outcome, Outcome::kBroken) << length;
      EXPECT_EQ(result.severity, Severity::kReconnect);
    }
  }
}

TEST(BlockingMysqlClient, ACommitThatIsNotAnsweredMayHaveBeenDone) {
  StubServer server([](StubConnection& connection) {
    if (!Accept(&connection)) return;
    EXPECT_EQ(ReadCommand(&connection),
              "\x03"
              "COMMIT");
  });
  BlockingStub stub(server.port(), kLong, kLong);
  ASSERT_EQ(stub.client().Connect().outcome, Outcome::kOk);
  const OpResult result = stub.Commit();
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_EQ(result.code, "2013");
  EXPECT_TRUE(result.outcome_unknown);
}

TEST(BlockingMysqlClient, AnInterruptEndsConnectsAndOperations) {
  StubServer server([](StubConnection& connection) { connection.ReadToEnd(); });
  BlockingStub connecting(server.port(), kLong, kLong);
  std::thread other([&] {
    EXPECT_TRUE(server.WaitForConnections(1, kPatience));
    connecting.client().Interrupt();
  });
  EXPECT_EQ(connecting.client().Connect().outcome, Outcome::kBroken);
  other.join();
  EXPECT_EQ(connecting.client().Connect().outcome, Outcome::kBroken);
}

}  // namespace
}  // namespace cavalry::drivers::mysql
