#include "coordinator/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "core/base/unique_fd.h"

namespace cavalry::coordinator {
namespace {

constexpr int kMaxPort = 65'535;

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return false;
}

}  // namespace

std::string ListenAddress::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return InvalidArgument("'{}' is no address to listen on: write host:port, as 0.0.0.0:7400",
                           text);
  }
  ListenAddress address;
  address.host = std::string(text.substr(0, colon));
  if (address.host.size() >= 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return InvalidArgument("'{}': write an IPv6 address in brackets, as [::1]:7400", text);
  }
  if (address.host.empty()) address.host = "0.0.0.0";
  const std::string_view port = text.substr(colon + 1);
  const auto result = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || result.ec != std::errc() || result.ptr != port.data() + port.size() ||
      address.port < 0 || address.port > kMaxPort) {
    return InvalidArgument("'{}': the port is a number from 0 to {}", text, kMaxPort);
  }
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
