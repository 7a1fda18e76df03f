#include "drivers/mysql/server_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <string_view>

namespace cavalry::drivers::mysql {
namespace {

constexpr std::uint64_t kDefaultPort = 3306;
// MariaDB's own bounds (Knowledge Base: Identifier Names). User names may be longer than others.
constexpr std::size_t kMaxUserBytes = 80 * 4;
// sun_path holds a terminating zero too.
constexpr std::size_t kMaxSocketPathBytes = sizeof(sockaddr_un::sun_path) - 1;

bool HasZeroByte(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Status CheckUnix(const ServerAddress& address) {
  if (address.socket.empty()) {
    return InvalidArgument(
        "transport: unix needs the path of the server's socket, such as "
        "socket: /run/mysqld/mysqld.sock");
  }
  if (address.socket.size() > kMaxSocketPathBytes || HasZeroByte(address.socket)) {
    return InvalidArgument("socket: the path is longer than {} bytes, the system's limit",
                           kMaxSocketPathBytes);
  }
  return absl::OkStatus();
}

StatusOr<TlsOptions> ReadTls(const Settings& settings) {
  TlsOptions tls;
  tls.enabled = settings.Text("tls", "false") == "true";
  tls.ca = settings.Text("tls.ca", "");
  tls.cert = settings.Text("tls.cert", "");
  tls.key = settings.Text("tls.key", "");
  tls.verify = settings.Text("tls.verify", "true") == "true";
  if (tls.cert.empty() != tls.key.empty()) {
    return InvalidArgument("tls: cert and key belong together, and one of them is missing");
  }
  if (HasZeroByte(tls.ca) || HasZeroByte(tls.cert) || HasZeroByte(tls.key)) {
    return InvalidArgument("tls: a path with a zero byte in it");
  }
  return tls;
}

}  // namespace

StatusOr<ServerAddress> ReadServerAddress(const Settings& settings) {
  ServerAddress address;
  address.host = settings.Text("host", "127.0.0.1");
  address.transport =
      settings.Text("transport", "tcp") == "unix" ? Transport::kUnix : Transport::kTcp;
  address.socket = settings.Text("socket", "");
  address.user = settings.Text("user", "root");
  address.password = settings.Text("password", "");
  address.database = settings.Text("database", "");
  const std::uint64_t port = settings.Number("port", kDefaultPort);
  if (port == 0 || port > 65'535) return InvalidArgument("port: {} is not from 1 to 65535", port);
  address.port = static_cast<std::uint16_t>(port);
  if (address.transport == Transport::kUnix) {
    CAVALRY_RETURN_IF_ERROR(CheckUnix(address));
    address.label = address.socket;
  } else {
    if (address.host.empty() || HasZeroByte(address.host)) {
      return InvalidArgument("host: \"{}\" is not a host name or address", address.host);
    }
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    address.label = fmt::format("{}{}{}:{}", is_ipv6 ? "[" : "", address.host, is_ipv6 ? "]" : "",
                                address.port);
  }
  CAVALRY_ASSIGN_OR_RETURN(address.tls, ReadTls(settings));
  address.compress = settings.Text("compress", "false") == "true";
  address.plugin_dir = settings.Text("plugin_dir", "");
  if (address.database.empty()) {
    return InvalidArgument("database: name the database that holds the tables");
  }
  if (address.user.size() > kMaxUserBytes || HasZeroByte(address.user) ||
      HasZeroByte(address.password)) {
    return InvalidArgument("user, password: too long, or with a zero byte in them");
  }
  return address;
}

Status Resolve(ServerAddress* address) {
  address->candidates.clear();
  if (address->transport == Transport::kUnix) {
    address->candidates.emplace_back();
    return absl::OkStatus();
  }
  if (address->tls.enabled && address->tls.verify) {
    address->candidates.push_back(address->host);
    return absl::OkStatus();
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address->host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    return Unavailable("{}: no address for the host name: {}", address->label, gai_strerror(error));
  }
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::find(address->candidates.begin(), address->candidates.end(), text) ==
        address->candidates.end()) {
      address->candidates.emplace_back(text);
    }
  }
  freeaddrinfo(found);
  if (address->candidates.empty()) {
    return Unavailable("{}: no address for the host name", address->label);
  }
  return absl::OkStatus();
}

}  // namespace cavalry::drivers::mysql
