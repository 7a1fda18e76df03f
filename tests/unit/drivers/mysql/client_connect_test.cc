// Connects of the client that go wrong, against scripted servers.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/unique_fd.h"
#include "tests/unit/drivers/mysql/stub_mysql.h"

namespace cavalry::drivers::mysql {
namespace {

using fakes::StubConnection;
using fakes::StubServer;

constexpr Nanos kPatience = 10 * kSecond;

// A connect to a server that says so instead of greeting.
struct Refusal {
  OpResult op;
  std::string code;
  std::string text;
};

Refusal RefusedWith(const std::string& answer) {
  StubServer server([&](StubConnection& connection) { connection.Write(answer); });
  StubClient client(server.port());
  const OpResult result = client.Connect();
  return {result, std::string(result.code), std::string(result.text)};
}

TEST(MysqlConnect, ARefusedConnectionIsNotSent) {
  StubServer server([](StubConnection&) {});
  StubClient client(server.port());
  server.Stop();
  const OpResult result = client.Connect();
  EXPECT_EQ(result.outcome, Outcome::kNotSent);
  EXPECT_EQ(result.severity, Severity::kReconnect);
  EXPECT_TRUE(result.code == "2002" || result.code == "2003") << result.code;
  const std::string text(result.text);
  EXPECT_EQ(text.find("127.0.0.1:" + std::to_string(server.port()) + ": "), 0u) << text;
  EXPECT_NE(text.find("Connection refused"), std::string::npos) << text;
  EXPECT_NE(text.find("is the server running"), std::string::npos) << text;
}

TEST(MysqlConnect, EveryAddressOfAHostNameIsTried) {
  StubServer server([](StubConnection& connection) {
    Accept(&connection);
    connection.ReadToEnd();
  });
  // Where the name has an IPv6 address too, that one comes first and is refused.
  StubClient client(server.port(), "text", "localhost");
  const OpResult result = client.Connect();
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.text;
}

TEST(MysqlConnect, AFullServerIsTriedAgainAndDoesNotEndTheRun) {
  const Refusal refusal = RefusedWith(Packet(0, std::string("\xff\x10\x04Too many connections")));
  EXPECT_EQ(refusal.op.outcome, Outcome::kRejected);
  EXPECT_EQ(refusal.op.severity, Severity::kReconnect);
  EXPECT_EQ(refusal.code, "1040");
  EXPECT_NE(refusal.text.find("max_connections"), std::string::npos) << refusal.text;
}

TEST(MysqlConnect, ABlockedHostIsFatal) {
  const Refusal refusal = RefusedWith(Packet(0, std::string("\xff\x69\x04Host is blocked")));
  EXPECT_EQ(refusal.op.severity, Severity::kFatal);
  EXPECT_EQ(refusal.code, "1129");
  EXPECT_NE(refusal.text.find("FLUSH HOSTS"), std::string::npos) << refusal.text;
}

TEST(MysqlConnect, AWrongPasswordIsFatal) {
  StubServer server([](StubConnection& connection) {
    connection.Write(Greeting());
    ReadCommand(&connection);
    connection.Write(Error(2, 1045, "Access denied for user 'u'@'localhost'"));
  });
  StubClient client(server.port());
  const OpResult result = client.Connect();
  EXPECT_EQ(result.outcome, Outcome::kRejected);
  EXPECT_EQ(result.severity, Severity::kFatal);
  EXPECT_EQ(result.code, "1045");
}

TEST(MysqlConnect, AServerThatClosesOrSpeaksAnotherLanguageIsNotUsed) {
  for (const std::string& greeting : {std::string(), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
                                      Packet(0,
                                             "\x09"
                                             "4.0.1"),
                                      Greeting().substr(0, 30), Packet(0, "")}) {
    const Refusal refusal = RefusedWith(greeting);
    EXPECT_NE(refusal.op.outcome, Outcome::kOk) << greeting;
    EXPECT_NE(refusal.op.severity, Severity::kNormal) << greeting;
    EXPECT_FALSE(refusal.code.empty());
    EXPECT_EQ(refusal.text.find("127.0.0.1:"), 0u) << refusal.text;
  }
}

TEST(MysqlConnect, AServerThatNeverGreetsTimesOutByTheLibrarysTimer) {
  StubServer server([](StubConnection& connection) { connection.ReadToEnd(); });
  StubClient client(server.port());
  PollStep step = client.client().StartConnect();
  // First the connect itself, then the wait for the greeting, which gets nothing but its timer.
  for (int i = 0; i < 3 && !step.done && (step.wait.events & POLLOUT) != 0; ++i) {
    pollfd waiting{step.wait.fd, step.wait.events, 0};
    ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
    step = client.client().Continue(waiting.revents, false);
  }
  ASSERT_FALSE(step.done);
  EXPECT_EQ(step.wait.events, POLLIN);
  EXPECT_EQ(step.wait.timeout, 3 * kSecond);
  step = client.client().Continue(0, true);
  ASSERT_TRUE(step.done);
  EXPECT_EQ(step.result.outcome, Outcome::kTimeout);
  EXPECT_EQ(step.result.severity, Severity::kReconnect);
  EXPECT_NE(step.result.text.find("connect timeout"), std::string::npos) << step.result.text;
  EXPECT_TRUE(server.WaitForEnds(1, kPatience)) << "the socket is closed";
}

TEST(MysqlConnect, DestroyedAtAnyStepItLetsGo) {
  // Steps of a connect that the server answers byte by byte: far more than a real one has.
  for (int steps = 0; steps < 200; steps += 7) {
    StubServer server([](StubConnection& connection) {
      for (const char byte : Greeting()) connection.Write(std::string_view(&byte, 1));
      if (ReadCommand(&connection).empty()) return;
      for (const char byte : Ok(2, 0)) connection.Write(std::string_view(&byte, 1));
      connection.ReadToEnd();
    });
    StubClient client(server.port());
    PollStep step = client.client().StartConnect();
    for (int i = 0; i < steps && !step.done; ++i) {
      pollfd waiting{step.wait.fd, step.wait.events, 0};
      ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
      step = client.client().Continue(waiting.revents, false);
    }
    client.Destroy();
    EXPECT_TRUE(server.WaitForEnds(server.connections(), kPatience));
  }
}

// A Unix socket that listens but never accepts, with its backlog full.
class FullSocket {
 public:
  FullSocket() : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    char folder[] = "/tmp/cavalry-XXXXXX";
    EXPECT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    address_.sun_family = AF_UNIX;
    std::strncpy(address_.sun_path, path().c_str(), sizeof(address_.sun_path) - 1);
    EXPECT_EQ(bind(fd_.get(), generic(), sizeof(address_)), 0);
    EXPECT_EQ(listen(fd_.get(), 0), 0);
    do {
      clients_.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    } while (connect(clients_.back().get(), generic(), sizeof(address_)) == 0);
  }
  ~FullSocket() { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/s"; }
  // Takes one connection from the backlog.
  UniqueFd Accept() { return UniqueFd(accept(fd_.get(), nullptr, nullptr)); }

 private:
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address_); }

  UniqueFd fd_;
  std::string folder_;
  sockaddr_un address_{};
  std::vector<UniqueFd> clients_;
};

// Goes on until the client waits for its own timer alone.
PollStep UntilBackOff(PollableClient* client, PollStep step) {
  for (int i = 0; i < 10 && !step.done && step.wait.events != 0; ++i) {
    pollfd waiting{step.wait.fd, step.wait.events, 0};
    EXPECT_EQ(poll(&waiting, 1, 10'000), 1);
    step = client->Continue(waiting.revents, false);
  }
  return step;
}

TEST(MysqlConnect, AFullBacklogOfAUnixSocketIsTriedAgain) {
  FullSocket server;
  StubClient client(server.path());
  PollStep step = UntilBackOff(&client.client(), client.client().StartConnect());
  ASSERT_FALSE(step.done);
  EXPECT_EQ(step.wait.events, 0);
  EXPECT_EQ(step.wait.timeout, kMillisecond);
  step = UntilBackOff(&client.client(), client.client().Continue(0, true));
  ASSERT_FALSE(step.done);
  EXPECT_EQ(step.wait.timeout, 2 * kMillisecond);

  const UniqueFd first = server.Accept();
  step = client.client().Continue(0, true);
  ASSERT_FALSE(step.done);
  // Now it is in the backlog and waits for its greeting.
  const UniqueFd second = server.Accept();
  EXPECT_EQ(step.wait.events, POLLIN);
  const std::string greeting = Greeting();
  EXPECT_EQ(send(second.get(), greeting.data(), greeting.size(), 0),
            static_cast<ssize_t>(greeting.size()));
}

TEST(MysqlConnect, AFailedPrepareFailsTheConnect) {
  for (const auto& [code, severity] :
       {std::pair<std::uint16_t, Severity>{1146, Severity::kFatal}, {1461, Severity::kReconnect}}) {
    StubServer server([code = code](StubConnection& connection) {
      if (!Accept(&connection)) return;
      ReadCommand(&connection);
      connection.Write(Error(1, code, "no"));
      connection.ReadToEnd();
    });
    StubClient client(server.port(), "prepared");
    const OpResult result = client.Connect();
    EXPECT_EQ(result.outcome, Outcome::kRejected);
    EXPECT_EQ(result.severity, severity);
    EXPECT_EQ(result.code, std::to_string(code));
    EXPECT_TRUE(server.WaitForEnds(1, kPatience)) << "the socket is closed";
  }
}

TEST(MysqlConnect, SendsTheFlagsThatItPromises) {
  StubServer server([](StubConnection& connection) {
    Accept(&connection);
    connection.ReadToEnd();
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  client.Destroy();
  ASSERT_TRUE(server.WaitForEnds(1, kPatience));
  const std::string login = server.received(0);
  ASSERT_GT(login.size(), 13u);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(login[i]); };
  EXPECT_TRUE(byte(4) & 0x02) << "CLIENT_FOUND_ROWS";
  EXPECT_FALSE(byte(4) & 0x80) << "CLIENT_LOCAL_FILES";
  EXPECT_FALSE(byte(6) & 0x01) << "CLIENT_MULTI_STATEMENTS";
  EXPECT_EQ(byte(12), 45u) << "utf8mb4_general_ci";
}

}  // namespace
}  // namespace cavalry::drivers::mysql
