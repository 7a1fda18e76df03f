#include "drivers/cassandra/topology.h"

#include <algorithm>
#include <charconv>

namespace cavalry::drivers::cassandra {
namespace {

// Bounds on what a server can make us keep.
constexpr std::size_t kMaxElements = 100'000;
constexpr std::size_t kMaxNodes = 10'000;

// Addresses and ids as text, so that their form is the server's own.
constexpr std::string_view kLocalQuery =
    "SELECT cluster_name, release_version, partitioner, data_center, rack, tokens, "
    "CAST(rpc_address AS text) FROM system.local WHERE key='local'";
constexpr std::string_view kPeersQuery =
    "SELECT CAST(peer AS text), CAST(native_address AS text), data_center, rack, tokens, "
    "CAST(host_id AS text), native_port FROM system.peers_v2";
// Before Cassandra 4.0.
constexpr std::string_view kOldPeersQuery =
    "SELECT CAST(peer AS text), CAST(rpc_address AS text), data_center, rack, tokens, "
    "CAST(host_id AS text) FROM system.peers";

enum LocalField { kClusterName, kRelease, kPartitioner, kLocalDc, kLocalRack, kLocalTokens, kRpc };
constexpr std::size_t kLocalFields = 7;
enum PeerField { kPeer, kAddress, kPeerDc, kPeerRack, kPeerTokens, kHostId, kPort };
constexpr std::size_t kPeerFields = 6;  // without the port

// Four bytes, big-endian; taken off the front.
std::optional<std::uint32_t> TakeNumber(std::string_view* bytes) {
  if (bytes->size() < 4) return std::nullopt;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<unsigned char>((*bytes)[i]);
  }
  bytes->remove_prefix(4);
  return number;
}

template <typename Number>
std::optional<Number> WholeNumber(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

bool ParseTokens(std::string_view bytes, std::vector<std::int64_t>* tokens) {
  const auto texts = ParseCollection(bytes);
  if (!texts) return false;
  for (const std::string_view text : *texts) {
    // Those of other partitioners are longer; nothing is routed by them.
    if (const auto token = WholeNumber<std::int64_t>(text)) tokens->push_back(*token);
  }
  return true;
}

// A node that listens everywhere, or does not say where.
bool IsNowhere(const Field& address) {
  return address.is_null || address.text.empty() || address.text == "0.0.0.0" ||
         address.text.find_first_not_of("0:") == std::string_view::npos;
}

std::string LastPart(std::string_view name) {
  return std::string(name.substr(name.rfind('.') + 1));
}

// "3", or "3/1" where one of the three holds no rows for long.
std::uint32_t ParseFactor(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto all = WholeNumber<std::uint32_t>(text.substr(0, slash)).value_or(0);
  if (slash == text.size()) return all;
  const auto transient = WholeNumber<std::uint32_t>(text.substr(slash + 1)).value_or(0);
  return all > transient ? all - transient : 0;
}

}  // namespace

std::optional<std::vector<std::string_view>> ParseCollection(std::string_view bytes, bool is_map) {
  std::optional<std::uint32_t> count = TakeNumber(&bytes);
  if (!count || *count > kMaxElements) return std::nullopt;
  if (is_map) *count *= 2;
  std::vector<std::string_view> elements;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const std::optional<std::uint32_t> length = TakeNumber(&bytes);
    if (!length || *length > bytes.size()) return std::nullopt;
    elements.push_back(bytes.substr(0, *length));
    bytes.remove_prefix(*length);
  }
  return elements;
}

std::optional<Node> ParsePeer(std::span<const Field> fields, std::uint16_t default_port) {
  if (fields.size() < kPeerFields) return std::nullopt;
  for (const PeerField needed : {kPeerDc, kPeerRack, kPeerTokens, kHostId}) {
    if (fields[needed].is_null) return std::nullopt;
  }
  Node node;
  const bool is_nowhere = IsNowhere(fields[kAddress]);
  if (is_nowhere && IsNowhere(fields[kPeer])) return std::nullopt;
  node.host = std::string(fields[is_nowhere ? kPeer : kAddress].text);
  node.port = default_port;
  if (fields.size() > kPort && !fields[kPort].is_null) {
    const auto port = WholeNumber<std::uint16_t>(fields[kPort].text);
    if (port && *port != 0) node.port = *port;
  }
  node.ring.datacenter = std::string(fields[kPeerDc].text);
  node.ring.rack = std::string(fields[kPeerRack].text);
  if (!ParseTokens(fields[kPeerTokens].text, &node.ring.tokens)) return std::nullopt;
  return node;
}

std::optional<Node> ParseLocal(std::span<const Field> fields, const Endpoint& asked,
                               Topology* topology) {
  if (fields.size() < kLocalFields) return std::nullopt;
  topology->cluster_name = std::string(fields[kClusterName].text);
  topology->release_version = std::string(fields[kRelease].text);
  topology->partitioner = LastPart(fields[kPartitioner].text);
  Node node;
  node.host = IsNowhere(fields[kRpc]) ? asked.host : std::string(fields[kRpc].text);
  // It answers there.
  node.port = asked.port;
  node.ring.datacenter = std::string(fields[kLocalDc].text);
  node.ring.rack = std::string(fields[kLocalRack].text);
  // A node that joins has none yet.
  if (!fields[kLocalTokens].is_null && !ParseTokens(fields[kLocalTokens].text, &node.ring.tokens)) {
    return std::nullopt;
  }
  return node;
}

Replication ParseReplication(std::string_view bytes) {
  Replication replication;
  const auto elements = ParseCollection(bytes, true);
  if (!elements) return replication;
  std::string strategy;
  for (std::size_t i = 0; i < elements->size(); i += 2) {
    if ((*elements)[i] == "class") {
      strategy = LastPart((*elements)[i + 1]);
    } else if ((*elements)[i] == "replication_factor") {
      replication.factor = ParseFactor((*elements)[i + 1]);
    } else {
      replication.factors.emplace_back((*elements)[i], ParseFactor((*elements)[i + 1]));
    }
  }
  if (strategy == "SimpleStrategy") replication.strategy = Replication::Strategy::kSimple;
  if (strategy == "NetworkTopologyStrategy") replication.strategy = Replication::Strategy::kNetwork;
  return replication;
}

std::uint32_t MajorVersion(std::string_view release) {
  return WholeNumber<std::uint32_t>(release.substr(0, release.find('.'))).value_or(0);
}

StatusOr<Topology> ReadTopology(CqlSession* session, std::string_view keyspace,
                                std::uint16_t default_port) {
  Topology topology;
  std::optional<Node> local;
  CAVALRY_RETURN_IF_ERROR(session
                              ->Query(kLocalQuery,
                                      [&](std::span<const Field> fields) {
                                        local = ParseLocal(fields, session->endpoint(), &topology);
                                      })
                              .status());
  if (!local) {
    return DataLoss("{}: its row in system.local is not as a Cassandra server writes it",
                    session->endpoint().label);
  }
  topology.nodes.push_back(std::move(*local));
  const auto add_peer = [&](std::span<const Field> fields) {
    if (topology.nodes.size() >= kMaxNodes) return;
    std::optional<Node> peer = ParsePeer(fields, default_port);
    if (peer) topology.nodes.push_back(std::move(*peer));
  };
  const bool has_peers_v2 = MajorVersion(topology.release_version) >= 4;
  CAVALRY_RETURN_IF_ERROR(
      session->Query(has_peers_v2 ? kPeersQuery : kOldPeersQuery, add_peer).status());
  const Value name = Value::Text(keyspace);
  CAVALRY_RETURN_IF_ERROR(
      session
          ->Query("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name=?",
                  [&](std::span<const Field> fields) {
                    topology.has_keyspace = true;
                    if (!fields.empty()) topology.replication = ParseReplication(fields[0].text);
                  },
                  Consistency::kLocalOne, {&name, 1})
          .status());
  return topology;
}

StatusOr<std::vector<std::string>> ReadSchemaVersions(CqlSession* session) {
  std::vector<std::string> versions;
  const RowFunction add = [&](std::span<const Field> fields) {
    if (!fields.empty() && !fields[0].is_null) versions.emplace_back(fields[0].text);
  };
  for (const std::string_view cql :
       {"SELECT CAST(schema_version AS text) FROM system.local WHERE key='local'",
        "SELECT CAST(schema_version AS text) FROM system.peers"}) {
    CAVALRY_RETURN_IF_ERROR(session->Query(cql, add).status());
  }
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

}  // namespace cavalry::drivers::cassandra
