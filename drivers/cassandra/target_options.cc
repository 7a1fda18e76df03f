#include "drivers/cassandra/target_options.h"

#include <algorithm>

#include "core/base/host_port.h"
#include "drivers/cassandra/names.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::uint64_t kMaxPort = 65'535;
// A connection is a socket on both sides; far below what would help.
constexpr std::uint64_t kMaxConnections = 1'024;

StatusOr<Endpoint> ParseContactPoint(std::string_view text, std::uint16_t port) {
  const auto colons = std::count(text.begin(), text.end(), ':');
  const bool has_port = colons == 1 || text.starts_with('[');
  if (!has_port) return MakeEndpoint(text, port);
  const StatusOr<HostPort> parsed = ParseHostPort(text);
  if (!parsed.ok()) return Annotate(parsed.status(), "cassandra: contact_points");
  if (parsed->host.empty() || parsed->port == 0) {
    return InvalidArgument("cassandra: contact_points: \"{}\" is no host, nor host:port", text);
  }
  return MakeEndpoint(parsed->host, static_cast<std::uint16_t>(parsed->port));
}

Status ReadContactPoints(const Settings& settings, TargetOptions* options) {
  const std::string list = settings.Text("contact_points", "127.0.0.1");
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view text = std::string_view(list).substr(begin, comma - begin);
    begin = comma + 1;
    if (text.empty()) continue;
    CAVALRY_ASSIGN_OR_RETURN(Endpoint endpoint, ParseContactPoint(text, options->port));
    options->contact_points.push_back(std::move(endpoint));
  }
  if (!options->contact_points.empty()) return absl::OkStatus();
  return InvalidArgument("cassandra: contact_points is empty: name at least one node");
}

Compression ReadCompression(const Settings& settings) {
  const std::string word = settings.Text("compression", "none");
  if (word == "lz4") return Compression::kLz4;
  return word == "snappy" ? Compression::kSnappy : Compression::kNone;
}

Status ReadVersion(const Settings& settings, TargetOptions* options) {
  const std::uint64_t version = settings.Number("protocol_version", 0);
  options->negotiates = version == 0;
  options->codec.version = static_cast<std::uint8_t>(version);
  if (version == 0) {
    // Version 5 has no snappy (native_protocol_v5.spec, section 2.2).
    const bool is_snappy = options->codec.compression == Compression::kSnappy;
    options->codec.version = is_snappy ? kOldestVersion : kNewestVersion;
    return absl::OkStatus();
  }
  if (version >= kOldestVersion && version <= kNewestVersion) return absl::OkStatus();
  return InvalidArgument("cassandra: protocol_version: {} is neither {} nor {}", version,
                         kOldestVersion, kNewestVersion);
}

}  // namespace

Endpoint MakeEndpoint(std::string_view host, std::uint16_t port) {
  Endpoint endpoint;
  endpoint.host = std::string(host);
  endpoint.port = port;
  endpoint.label = HostPort{endpoint.host, port}.text();
  return endpoint;
}

StatusOr<TargetOptions> ReadOptions(const Settings& settings) {
  TargetOptions options;
  const std::uint64_t port = settings.Number("port", kDefaultPort);
  if (port < 1 || port > kMaxPort) {
    return InvalidArgument("cassandra: port: {} is not a port (1 to {})", port, kMaxPort);
  }
  options.port = static_cast<std::uint16_t>(port);
  CAVALRY_RETURN_IF_ERROR(ReadContactPoints(settings, &options));
  options.replication =
      settings.Text("replication", "{'class': 'SimpleStrategy', 'replication_factor': 1}");
  options.table_options = settings.Text("table_options", "");
  options.datacenter = settings.Text("datacenter", "");
  const std::uint64_t connections = settings.Number("connections", 1);
  if (connections < 1 || connections > kMaxConnections) {
    return InvalidArgument("cassandra: connections: {} per node and worker, but 1 to {} can be",
                           connections, kMaxConnections);
  }
  options.connections = static_cast<std::uint32_t>(connections);
  options.statements = StatementOptions::FromSettings(settings);
  CAVALRY_RETURN_IF_ERROR(CheckFolderName("keyspace", options.statements.keyspace));
  options.codec.compression = ReadCompression(settings);
  CAVALRY_RETURN_IF_ERROR(ReadVersion(settings, &options));
  options.codec.user = settings.Text("user", "");
  options.codec.password = settings.Text("password", "");
  options.codec.prepared = options.statements.prepared;
  options.codec.page_size = options.statements.page_size;
  return options;
}

}  // namespace cavalry::drivers::cassandra
