#include "tests/fakes/stub_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "absl/time/time.h"
#include "core/base/check.h"

namespace cavalry::fakes {
namespace {

constexpr int kBacklog = 128;
constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

}  // namespace

bool StubConnection::Fill() {
  std::string bytes(kReadBytes, '\0');
  while (fd_.valid() && server_.Wait(fd_.get(), POLLIN)) {
    const ssize_t count = recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes.resize(static_cast<std::size_t>(count));
      server_.Keep(number_, bytes);
      unread_ += bytes;
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) return false;
  }
  return false;
}

std::string StubConnection::ReadLine() {
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    if (!Fill()) return std::exchange(unread_, {});
  }
  std::string line = unread_.substr(0, end + 1);
  unread_.erase(0, end + 1);
  return line;
}

std::string StubConnection::Read(std::size_t bytes) {
  while (unread_.size() < bytes) {
    if (!Fill()) return std::exchange(unread_, {});
  }
  std::string head = unread_.substr(0, bytes);
  unread_.erase(0, bytes);
  return head;
}

std::string StubConnection::ReadSome() {
  if (unread_.empty()) Fill();
  return std::exchange(unread_, {});
}

bool StubConnection::ReadToEnd() {
  while (Fill()) unread_.clear();
  return fd_.valid() && server_.Wait(fd_.get(), POLLIN);
}

bool StubConnection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!fd_.valid() || !server_.Wait(fd_.get(), POLLOUT)) return false;
    const ssize_t count = send(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
  }
  return true;
}

void StubConnection::Reset() {
  if (!fd_.valid()) return;
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  CAVALRY_CHECK(setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0);
  fd_.Reset();
}

StubServer::StubServer(std::function<void(StubConnection&)> script)
    : script_(std::move(script)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  CAVALRY_CHECK(listener_.valid() && stop_.valid());
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  CAVALRY_CHECK(bind(listener_.get(), any, size) == 0);
  CAVALRY_CHECK(listen(listener_.get(), kBacklog) == 0);
  CAVALRY_CHECK(getsockname(listener_.get(), any, &size) == 0);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

void StubServer::Stop() {
  if (!accepting_.joinable()) return;
  CAVALRY_CHECK(eventfd_write(stop_.get(), 1) == 0);
  accepting_.join();
  for (std::thread& script : scripts_) script.join();
  scripts_.clear();
}

void StubServer::Accept() {
  while (Wait(listener_.get(), POLLIN)) {
    UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid()) continue;  // the client gave up meanwhile
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    std::size_t number = 0;
    {
      const absl::MutexLock lock(&mutex_);
      if (received_.size() == kMaxConnections) continue;
      number = received_.size();
      received_.emplace_back();
    }
    scripts_.emplace_back(
        [this, number, client = std::move(fd)]() mutable { Serve(number, std::move(client)); });
  }
  listener_.Reset();
}

void StubServer::Serve(std::size_t number, UniqueFd fd) {
  {
    StubConnection connection(*this, number, std::move(fd));
    script_(connection);
  }
  const absl::MutexLock lock(&mutex_);
  ++ended_;
}

void StubServer::Keep(std::size_t connection, std::string_view bytes) {
  const absl::MutexLock lock(&mutex_);
  received_[connection].append(bytes);
}

bool StubServer::Wait(int fd, short events) const {
  pollfd polled[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                     {.fd = fd, .events = events, .revents = 0}};
  while (poll(polled, 2, -1) < 0) CAVALRY_CHECK(errno == EINTR);
  return polled[0].revents == 0;
}

std::size_t StubServer::connections() const {
  const absl::MutexLock lock(&mutex_);
  return received_.size();
}

std::string StubServer::received(std::size_t connection) const {
  const absl::MutexLock lock(&mutex_);
  CAVALRY_CHECK(connection < received_.size());
  return received_[connection];
}

bool StubServer::WaitForConnections(std::size_t count, Nanos timeout) const {
  const auto enough = [this, count]()
                          ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return received_.size() >= count; };
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Nanoseconds(timeout));
}

bool StubServer::WaitForEnds(std::size_t count, Nanos timeout) const {
  const auto enough = [this, count]()
                          ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return ended_ >= count; };
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Nanoseconds(timeout));
}

}  // namespace cavalry::fakes
