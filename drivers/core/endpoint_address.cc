#include "drivers/core/endpoint_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace cavalry::drivers {

StatusOr<EndpointAddress> ResolveEndpoint(const Endpoint& endpoint) {
  EndpointAddress result;
  result.label = endpoint.label;
  if (!endpoint.unix_path.empty()) {
    result.is_unix = true;
    SocketAddress address;
    auto* unix_address = reinterpret_cast<sockaddr_un*>(&address.storage);
    if (endpoint.unix_path.size() >= sizeof unix_address->sun_path) {
      return InvalidArgument("{}: the socket's path is longer than {} bytes", endpoint.label,
                             sizeof unix_address->sun_path - 1);
    }
    unix_address->sun_family = AF_UNIX;
    std::memcpy(unix_address->sun_path, endpoint.unix_path.data(), endpoint.unix_path.size());
    address.length = sizeof(sockaddr_un);
    result.addresses.push_back(address);
    return result;
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", endpoint.port);
  const int error = getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return Unavailable("{}: cannot look up {}: {}", endpoint.label, endpoint.host,
                       error == EAI_SYSTEM ? strerrordesc_np(errno) : gai_strerror(error));
  }
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    result.addresses.push_back(address);
  }
  freeaddrinfo(found);
  return result;
}

UniqueFd BeginConnect(const EndpointAddress& endpoint, std::size_t attempt, int* error) {
  const SocketAddress& address = endpoint.addresses[attempt % endpoint.addresses.size()];
  const int family = address.storage.ss_family;
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    *error = errno;
    return fd;
  }
  if (!endpoint.is_unix) {
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const auto* raw = reinterpret_cast<const sockaddr*>(&address.storage);
  *error = ::connect(fd.get(), raw, address.length) == 0 ? 0 : errno;
  return fd;
}

int ConnectError(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

}  // namespace cavalry::drivers
