#include "tests/fakes/line_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace cavalry::fakes {

struct LineServer::Connection {
  UniqueFd fd;
  std::uint64_t number = 0;
  std::uint64_t requests = 0;
  std::string received;
};

// A write or close to come.
struct LineServer::Pending {
  Nanos due = 0;
  std::uint64_t order = 0;
  std::weak_ptr<Connection> connection;
  std::string text;
  bool close = false;
};

LineServer::LineServer(LineServerOptions options)
    : options_(std::move(options)), stop_(eventfd(0, EFD_CLOEXEC)) {
  Listen();
  thread_ = std::thread([this] { Serve(); });
}

LineServer::~LineServer() {
  const std::uint64_t one = 1;
  CAVALRY_CHECK(::write(stop_.get(), &one, sizeof one) == sizeof one);
  thread_.join();
}

void LineServer::Listen() {
  if (!options_.unix_path.empty()) {
    listener_.Reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, options_.unix_path.c_str(), sizeof address.sun_path - 1);
    CAVALRY_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ==
                  0);
  } else {
    listener_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CAVALRY_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ==
                  0);
    socklen_t length = sizeof address;
    CAVALRY_CHECK(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) ==
                  0);
    port_ = ntohs(address.sin_port);
  }
  CAVALRY_CHECK(::listen(listener_.get(), options_.backlog) == 0);
}

void LineServer::Serve() {
  std::vector<std::shared_ptr<Connection>> connections;
  std::vector<Pending> pending;
  std::uint64_t order = 0;
  std::vector<pollfd> polled;
  std::vector<char> buffer(64 * 1024);

  const auto earlier = [](const Pending& a, const Pending& b) {
    return std::pair(a.due, a.order) < std::pair(b.due, b.order);
  };
  const auto schedule = [&](const std::shared_ptr<Connection>& connection, LineReply reply) {
    Nanos due = MonotonicNow() + reply.delay;
    const std::size_t piece = reply.piece == 0 ? reply.text.size() : reply.piece;
    for (std::size_t at = 0; at < reply.text.size(); at += piece) {
      if (at > 0) due += kMillisecond;
      pending.push_back({due, order++, connection, reply.text.substr(at, piece), false});
    }
    if (reply.close) pending.push_back({due, order++, connection, "", true});
  };
  const auto run_due = [&] {
    std::sort(pending.begin(), pending.end(), earlier);
    std::size_t done = 0;
    while (done < pending.size() && pending[done].due <= MonotonicNow()) {
      const Pending& one = pending[done++];
      const std::shared_ptr<Connection> connection = one.connection.lock();
      if (connection == nullptr || !connection->fd.valid()) continue;
      if (one.close) {
        connection->fd.Reset();
      } else {
        [[maybe_unused]] const ssize_t sent =
            ::send(connection->fd.get(), one.text.data(), one.text.size(), MSG_NOSIGNAL);
      }
    }
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(done));
  };

  for (;;) {
    std::erase_if(connections, [](const auto& connection) { return !connection->fd.valid(); });
    polled.clear();
    polled.push_back({stop_.get(), POLLIN, 0});
    polled.push_back({options_.accept ? listener_.get() : -1, POLLIN, 0});
    for (const auto& connection : connections) {
      polled.push_back({connection->fd.get(), POLLIN, 0});
    }
    timespec wait{};
    timespec* limit = nullptr;
    if (!pending.empty()) {
      const Nanos due = std::min_element(pending.begin(), pending.end(), earlier)->due;
      const Nanos left = std::max<Nanos>(due - MonotonicNow(), 0);
      wait.tv_sec = left / kSecond;
      wait.tv_nsec = left % kSecond;
      limit = &wait;
    }
    ::ppoll(polled.data(), polled.size(), limit, nullptr);
    if (polled[0].revents != 0) return;
    for (std::size_t i = 2; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const std::shared_ptr<Connection> connection = connections[i - 2];
      const ssize_t got = ::recv(connection->fd.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        connection->fd.Reset();
        continue;
      }
      ++reads_;
      connection->received.append(buffer.data(), static_cast<std::size_t>(got));
      std::uint64_t lines = 0;
      std::size_t end;
      while ((end = connection->received.find('\n')) != std::string::npos) {
        const std::string line = connection->received.substr(0, end);
        connection->received.erase(0, end + 1);
        ++lines;
        ++requests_;
        schedule(connection, options_.reply(connection->number, connection->requests++, line));
      }
      if (lines > most_lines_.load()) most_lines_.store(lines);
    }
    if (polled[1].revents != 0) {
      auto connection = std::make_shared<Connection>();
      connection->fd.Reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const int on = 1;
      setsockopt(connection->fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connection->number = connections_++;
      if (connection->fd.valid()) connections.push_back(std::move(connection));
    }
    run_due();
  }
}

}  // namespace cavalry::fakes
