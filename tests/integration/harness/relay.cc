#include "tests/integration/harness/relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/base/check.h"

namespace cavalry::e2e {
namespace {

constexpr int kBacklog = 256;
constexpr std::size_t kMaxWaiting = std::size_t{64} * 1024;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void NoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool WouldWait() { return errno == EAGAIN || errno == EINTR; }

// The events to wait for on the side whose bytes go to `waiting_out`, and which gets `waiting_in`.
short Events(const std::string& waiting_out, const std::string& waiting_in) {
  return static_cast<short>((waiting_out.empty() ? POLLIN : 0) |
                            (waiting_in.empty() ? 0 : POLLOUT));
}

}  // namespace

// One client and its connection to the server; none when it is to get no answer.
struct Relay::Pair {
  UniqueFd client;
  UniqueFd server;
  std::string to_server;
  std::string to_client;
};

Relay::Relay(int target_port)
    : target_port_(target_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      pass_until_(1 << 30) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  CAVALRY_CHECK(bind(listener_.get(), any, size) == 0);
  CAVALRY_CHECK(listen(listener_.get(), kBacklog) == 0);
  CAVALRY_CHECK(getsockname(listener_.get(), any, &size) == 0);
  port_ = ntohs(address.sin_port);
  int ends[2];
  CAVALRY_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  command_read_.Reset(ends[0]);
  command_write_.Reset(ends[1]);
  thread_ = std::thread([this] { Work(); });
}

Relay::~Relay() {
  Command('q');
  thread_.join();
}

void Relay::Command(char what) { CAVALRY_CHECK(write(command_write_.get(), &what, 1) == 1); }

void Relay::Accept() {
  UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client.valid()) return;  // it gave up meanwhile
  NoDelay(client.get());
  UniqueFd server;
  if (accepted_.load() < pass_until_.load()) {
    server.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(target_port_);
    const auto* const any = reinterpret_cast<const sockaddr*>(&address);
    if (connect(server.get(), any, sizeof(address)) != 0) return;
    NoDelay(server.get());
    fcntl(server.get(), F_SETFL, O_NONBLOCK);
  }
  ++accepted_;
  pairs_.push_back({std::move(client), std::move(server), "", ""});
}

// Moves bytes that `from` has, and those that wait, to `to`; false when either side has ended.
bool Relay::Pump(int from, int to, std::string* waiting) {
  if (waiting->empty()) {
    waiting->resize(kMaxWaiting);
    const ssize_t count = recv(from, waiting->data(), waiting->size(), MSG_DONTWAIT);
    const bool later = count < 0 && WouldWait();
    waiting->resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (later) return true;
    if (count <= 0) return false;
  }
  if (to < 0) {  // nobody is told
    waiting->clear();
    return true;
  }
  const ssize_t sent = send(to, waiting->data(), waiting->size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return WouldWait();
  waiting->erase(0, static_cast<std::size_t>(sent));
  return true;
}

void Relay::Work() {
  while (true) {
    std::vector<pollfd> fds = {{command_read_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      fds.push_back({pair.client.get(), Events(pair.to_server, pair.to_client), 0});
      fds.push_back({pair.server.get(), Events(pair.to_client, pair.to_server), 0});
    }
    if (poll(fds.data(), fds.size(), -1) < 0) continue;
    std::size_t i = 2;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); i += 2) {
      bool going = true;
      const bool ready = fds[i].revents != 0 || fds[i + 1].revents != 0;
      if (ready) going = Pump(pair->client.get(), pair->server.get(), &pair->to_server);
      if (ready && going && pair->server.valid()) {
        going = Pump(pair->server.get(), pair->client.get(), &pair->to_client);
      }
      pair = going ? std::next(pair) : pairs_.erase(pair);
    }
    if (fds[0].revents != 0) {
      char what = 'q';
      CAVALRY_CHECK(read(command_read_.get(), &what, 1) == 1);
      if (what == 'q') return;
      if (what == 'r') listener_.Reset();
      if (what == 'c') pairs_.clear();
      if (what == 's') {
        for (Pair& pair : pairs_) {
          pair.server.Reset();
          pair.to_client.clear();
        }
      }
    } else if (fds[1].revents != 0) {
      Accept();
    }
    open_ = static_cast<int>(pairs_.size());
  }
}

}  // namespace cavalry::e2e
