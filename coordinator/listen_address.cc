#include "coordinator/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/unique_fd.h"

namespace cavalry::coordinator {
namespace {

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return false;
}

}  // namespace

StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  ListenAddress address;
  CAVALRY_ASSIGN_OR_RETURN(static_cast<HostPort&>(address), ParseHostPort(text));
  if (address.host.empty()) address.host = "0.0.0.0";
  address.loopback = IsLoopback(address.host);
  return address;
}

Status TryListen(const std::string& address) {
  CAVALRY_ASSIGN_OR_RETURN(const ListenAddress parsed, ParseListenAddress(address));
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(parsed.port);
  const int error = getaddrinfo(parsed.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return Unavailable("cannot listen on {}: {}", address, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  const UniqueFd fd(socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return ErrnoStatus(errno, "socket");
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0 && listen(fd.get(), 1) == 0) {
    return absl::OkStatus();
  }
  if (errno == EADDRINUSE) {
    return Unavailable(
        "cannot listen on {}: the port is in use, maybe by another cavalry run; end it, or choose "
        "another port with --listen",
        address);
  }
  return Unavailable("cannot listen on {}: {}", address, std::strerror(errno));
}

}  // namespace cavalry::coordinator
