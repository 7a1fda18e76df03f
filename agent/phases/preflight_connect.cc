#include "agent/phases/preflight_connect.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/unique_fd.h"

namespace cavalry::agent {
namespace {

Status ConnectOnce(int family, const sockaddr* address, socklen_t length, Nanos timeout,
                   std::string_view label) {
  const UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return ErrnoStatus(errno, "socket");
  if (::connect(fd.get(), address, length) == 0) return absl::OkStatus();
  if (errno != EINPROGRESS) return ErrnoStatus(errno, fmt::format("connect {}", label));
  pollfd wanted{fd.get(), POLLOUT, 0};
  if (::poll(&wanted, 1, static_cast<int>(timeout / kMillisecond)) <= 0) {
    return DeadlineExceeded("connect {}: no answer within {} ms", label, timeout / kMillisecond);
  }
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == ECONNREFUSED) {
    return Unavailable(
        "connect {}: Connection refused; is the server running, and are host and port right?",
        label);
  }
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, fmt::format("connect {}", label));
}

Status TryEndpoint(const drivers::Endpoint& endpoint, Nanos timeout) {
  if (!endpoint.unix_path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (endpoint.unix_path.size() >= sizeof(address.sun_path)) {
      return InvalidArgument("{}: the socket's path is too long", endpoint.label);
    }
    std::memcpy(address.sun_path, endpoint.unix_path.data(), endpoint.unix_path.size());
    return ConnectOnce(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof(address), timeout,
                       endpoint.label);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(endpoint.host.c_str(), fmt::format("{}", endpoint.port).c_str(),
                                  &hints, &found);
  if (error != 0) {
    return Unavailable("{}: host name '{}': {}", endpoint.label, endpoint.host,
                       ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  Status status;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    status = ConnectOnce(address->ai_family, address->ai_addr, address->ai_addrlen, timeout,
                         endpoint.label);
    if (status.ok()) return status;
  }
  return status;
}

}  // namespace

Status TryEndpoints(const TargetPlan& target, const std::vector<drivers::OperationPlan>& operations,
                    Nanos timeout) {
  const drivers::ClientConfig config{&target.settings, &operations};
  CAVALRY_ASSIGN_OR_RETURN(const drivers::ClientFactory factory,
                           target.driver->NewClientFactory(config));
  const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&factory);
  if (codecs == nullptr) return absl::OkStatus();
  for (const drivers::Endpoint& endpoint : (*codecs)->endpoints()) {
    CAVALRY_RETURN_IF_ERROR(Annotate(TryEndpoint(endpoint, timeout), target.name));
  }
  return absl::OkStatus();
}

}  // namespace cavalry::agent
