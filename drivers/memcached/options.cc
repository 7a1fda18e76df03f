#include "drivers/memcached/options.h"

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/host_port.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr std::uint64_t kDefaultPort = 11211;
constexpr std::uint64_t kMaxPort = 65'535;

StatusOr<Endpoint> TcpEndpoint(const std::string& host, std::uint64_t port) {
  if (host.empty()) return InvalidArgument("memcached: host is empty");
  if (port < 1 || port > kMaxPort) {
    return InvalidArgument("memcached: {} is not a port (1 to {})", port, kMaxPort);
  }
  Endpoint endpoint;
  endpoint.host = host;
  endpoint.port = static_cast<std::uint16_t>(port);
  const bool is_address6 = host.find(':') != std::string::npos;
  endpoint.label =
      is_address6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
  return endpoint;
}

Status ReadServers(const Settings& settings, std::vector<Endpoint>* servers) {
  const std::string socket = settings.Text("socket", "");
  if (!socket.empty()) {
    Endpoint endpoint;
    endpoint.unix_path = socket;
    endpoint.label = socket;
    servers->push_back(std::move(endpoint));
    return absl::OkStatus();
  }
  std::string list = settings.Text("servers", "");
  if (list.empty()) {
    CAVALRY_ASSIGN_OR_RETURN(Endpoint endpoint, TcpEndpoint(settings.Text("host", "127.0.0.1"),
                                                            settings.Number("port", kDefaultPort)));
    servers->push_back(std::move(endpoint));
    return absl::OkStatus();
  }
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto place = ParseHostPort(list.substr(0, comma));
    if (!place.ok()) return Annotate(place.status(), "memcached: servers");
    CAVALRY_ASSIGN_OR_RETURN(Endpoint endpoint,
                             TcpEndpoint(place->host, static_cast<std::uint64_t>(place->port)));
    servers->push_back(std::move(endpoint));
    list.erase(0, comma + 1);
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<Options> ReadOptions(const Settings& settings) {
  Options options;
  CAVALRY_RETURN_IF_ERROR(ReadServers(settings, &options.servers));
  const std::string protocol = settings.Text("protocol", "text");
  options.protocol = protocol == "meta"     ? Protocol::kMeta
                     : protocol == "binary" ? Protocol::kBinary
                                            : Protocol::kText;
  options.user = settings.Text("user", "");
  options.password = settings.Text("password", "");
  options.key = settings.Text("key", options.key);
  options.value =
      settings.Text("value", "packed") == "bytes" ? ValueForm::kBytes : ValueForm::kPacked;
  options.blind = settings.Text("blind", "false") == "true";
  const std::uint64_t expire = settings.Number("expire_after", 0);
  options.expire_after_seconds =
      expire / kSecond + (expire % kSecond != 0 ? 1 : 0);  // memcached knows whole seconds
  if (!options.user.empty() && options.protocol == Protocol::kBinary) {
    return InvalidArgument(
        "memcached: user: the binary protocol's authentication (SASL) is not spoken here; use "
        "protocol: text or meta");
  }
  return options;
}

}  // namespace cavalry::drivers::memcached
