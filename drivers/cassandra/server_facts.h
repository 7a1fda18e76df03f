// What a cluster tells of itself for a report: versions and settings, counters, and the limits that
// a run could meet. Settings and counters are those of the node that is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "drivers/cassandra/cluster.h"

namespace cavalry::drivers::cassandra {

// Name and value, in a fixed order; what the server does not have is left out.
// `replication_to_be`: of a keyspace that is not there yet.
StatusOr<std::vector<std::pair<std::string, std::string>>> ReadServerVariables(
    Cluster* cluster, std::string_view keyspace, std::string_view replication_to_be);

// Counters since the node's start, in a fixed order; empty before Cassandra 4.0, which shows none
// over CQL.
StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> ReadCounters(Cluster* cluster);

// Sentences on limits below what a run asks, each naming the setting to raise. `request_bytes`: of
// the largest request; 0: not known.
StatusOr<std::vector<std::string>> ReadLimits(Cluster* cluster, std::uint64_t request_bytes);

// "50KiB", "16MiB" as bytes; nothing when it is no such text.
std::optional<std::uint64_t> ParseDataSize(std::string_view text);

}  // namespace cavalry::drivers::cassandra
