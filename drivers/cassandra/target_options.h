// A cassandra target's options with the driver's defaults. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/cassandra/cassandra_codec.h"
#include "drivers/cassandra/statement.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers::cassandra {

inline constexpr std::uint16_t kDefaultPort = 9042;
inline constexpr std::uint8_t kNewestVersion = 5;
inline constexpr std::uint8_t kOldestVersion = 4;

struct TargetOptions {
  std::vector<Endpoint> contact_points;  // at least one
  std::uint16_t port = kDefaultPort;     // of nodes that tell none
  std::string replication;               // of a keyspace that is made
  std::string table_options;             // empty: none
  std::string datacenter;                // empty: of the first contact point that answers
  std::uint32_t connections = 1;         // per node and worker
  bool negotiates = true;                // codec.version is the first to try
  CodecOptions codec;
  StatementOptions statements;  // with the keyspace
};

// Fails on a contact point, port or keyspace that cannot be.
StatusOr<TargetOptions> ReadOptions(const Settings& settings);

// "127.0.0.1:9042", "[::1]:9042".
Endpoint MakeEndpoint(std::string_view host, std::uint16_t port);

}  // namespace cavalry::drivers::cassandra
