#include "tests/fakes/stub_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

namespace cavalry::fakes {
namespace {

constexpr Nanos kPatience = 10 * kSecond;

UniqueFd Connect(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
  return fd;
}

void Send(const UniqueFd& fd, std::string_view bytes) {
  EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// All bytes until the server closes.
std::string Receive(const UniqueFd& fd) {
  std::string all;
  char bytes[256];
  ssize_t count = 0;
  while ((count = recv(fd.get(), bytes, sizeof(bytes), 0)) > 0) {
    all.append(bytes, static_cast<std::size_t>(count));
  }
  return count == 0 ? all : all + " and an error";
}

TEST(StubServer, RunsTheScriptForEachConnection) {
  StubServer server([](StubConnection& client) {
    const std::string line = client.ReadLine();
    client.Write(line + std::to_string(client.number()) + client.Read(3));
  });
  for (int i = 0; i < 3; ++i) {
    const UniqueFd fd = Connect(server.port());
    Send(fd, "hello\nabcdef");
    EXPECT_EQ(Receive(fd), "hello\n" + std::to_string(i) + "abc");
  }
  EXPECT_EQ(server.connections(), 3U);
  EXPECT_EQ(server.received(2), "hello\nabcdef");
  EXPECT_TRUE(server.WaitForEnds(3, kPatience));
}

TEST(StubServer, ResetsOnRequest) {
  StubServer server([](StubConnection& client) {
    client.ReadLine();
    client.Reset();
  });
  const UniqueFd fd = Connect(server.port());
  Send(fd, "x\n");
  char byte = 0;
  EXPECT_EQ(recv(fd.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
}

TEST(StubServer, StopsWhileScriptsWait) {
  StubServer server([](StubConnection& client) { client.ReadToEnd(); });
  const UniqueFd first = Connect(server.port());
  const UniqueFd second = Connect(server.port());
  ASSERT_TRUE(server.WaitForConnections(2, kPatience));
  server.Stop();
  EXPECT_EQ(Receive(first), "");
  EXPECT_EQ(Receive(second), "");
  EXPECT_FALSE(Connect(server.port()).valid());
}

TEST(StubServer, SeesTheClientClose) {
  bool closed_by_client = false;
  StubServer server([&](StubConnection& client) { closed_by_client = client.ReadToEnd(); });
  Connect(server.port()).Reset();
  ASSERT_TRUE(server.WaitForEnds(1, kPatience));
  server.Stop();
  EXPECT_TRUE(closed_by_client);
}

}  // namespace
}  // namespace cavalry::fakes
