// What a cluster tells of itself: its nodes with their tokens, and how a keyspace is replicated.
// Read once per step, over a connection of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/cassandra/cql_session.h"
#include "drivers/cassandra/token_ring.h"

namespace cavalry::drivers::cassandra {

struct Node {
  std::string host;  // the address for clients
  std::uint16_t port = 0;
  RingNode ring;
};

struct Topology {
  std::string cluster_name;
  std::string release_version;
  std::string partitioner;  // "Murmur3Partitioner": without its package
  std::vector<Node> nodes;  // the first is the one that was asked
  bool has_keyspace = false;
  Replication replication;  // of the keyspace

  bool routes() const { return partitioner == "Murmur3Partitioner"; }
};

// Reads system.local, system.peers_v2 (4.0 and later, else system.peers) and the keyspace's row of
// system_schema.keyspaces. Errors begin with the endpoint's label.
StatusOr<Topology> ReadTopology(CqlSession* session, std::string_view keyspace,
                                std::uint16_t default_port);

// 5 of "5.0.6"; 0 when it is no number.
std::uint32_t MajorVersion(std::string_view release);

// The schema's version on every node, sorted, without repetition: DDL has reached all when there is
// one.
StatusOr<std::vector<std::string>> ReadSchemaVersions(CqlSession* session);

// The elements of a set or list as it goes on the wire (native protocol, section 6: count, then
// length and bytes of each); nothing when the bytes are no such thing. A map is a list of its keys
// and values in turn.
std::optional<std::vector<std::string_view>> ParseCollection(std::string_view bytes,
                                                             bool is_map = false);

// Rows as the queries of ReadTopology give them, for tests. A peer without tokens or host id is on
// its way in or out: nothing.
std::optional<Node> ParsePeer(std::span<const Field> fields, std::uint16_t default_port);
std::optional<Node> ParseLocal(std::span<const Field> fields, const Endpoint& asked,
                               Topology* topology);
// Of a map's bytes: {'class': …, 'replication_factor': '3'} or a factor per datacenter.
Replication ParseReplication(std::string_view bytes);

}  // namespace cavalry::drivers::cassandra
