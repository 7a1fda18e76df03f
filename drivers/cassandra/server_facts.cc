#include "drivers/cassandra/server_facts.h"

#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "drivers/cassandra/names.h"

namespace cavalry::drivers::cassandra {
namespace {

// The virtual tables of system_views are there since this release.
constexpr std::uint32_t kVirtualTables = 4;

constexpr std::array<std::string_view, 16> kSettings = {"num_tokens",
                                                        "commitlog_sync",
                                                        "commitlog_sync_period",
                                                        "memtable_heap_space",
                                                        "memtable_offheap_space",
                                                        "memtable_allocation_type",
                                                        "concurrent_reads",
                                                        "concurrent_writes",
                                                        "key_cache_size",
                                                        "row_cache_size",
                                                        "read_request_timeout",
                                                        "write_request_timeout",
                                                        "native_transport_max_threads",
                                                        "native_transport_max_frame_size",
                                                        "batch_size_fail_threshold",
                                                        "auto_snapshot"};

constexpr std::array<std::string_view, 5> kPools = {"Native-Transport-Requests", "ReadStage",
                                                    "MutationStage", "CompactionExecutor",
                                                    "MemtableFlushWriter"};

bool HasViews(const Cluster& cluster) {
  return MajorVersion(cluster.topology.release_version) >= kVirtualTables;
}

template <std::size_t kCount>
std::string TextList(const std::array<std::string_view, kCount>& texts) {
  std::string list;
  for (const std::string_view text : texts) {
    list += fmt::format("{}{}", list.empty() ? "" : ",", QuotedText(text));
  }
  return list;
}

StatusOr<std::map<std::string, std::string, std::less<>>> ReadSettings(CqlSession* session) {
  std::map<std::string, std::string, std::less<>> settings;
  CAVALRY_RETURN_IF_ERROR(
      session
          ->Query(fmt::format("SELECT name, value FROM system_views.settings WHERE name IN ({})",
                              TextList(kSettings)),
                  [&](std::span<const Field> fields) {
                    if (fields.size() == 2 && !fields[1].is_null) {
                      settings[std::string(fields[0].text)] = std::string(fields[1].text);
                    }
                  })
          .status());
  return settings;
}

// The keyspace's replication as CQL shows it.
StatusOr<std::string> ReadReplication(CqlSession* session, std::string_view keyspace) {
  std::string replication;
  const Value name = Value::Text(keyspace);
  CAVALRY_RETURN_IF_ERROR(
      session
          ->Query("SELECT toJson(replication) FROM system_schema.keyspaces WHERE "
                  "keyspace_name=?",
                  [&](std::span<const Field> fields) {
                    if (!fields.empty()) replication = fields[0].text;
                  },
                  Consistency::kLocalOne, {&name, 1})
          .status());
  return replication;
}

}  // namespace

std::optional<std::uint64_t> ParseDataSize(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  constexpr std::array<std::string_view, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const std::size_t shift = i * 10;
    if (unit == kUnits[i] && number <= (UINT64_MAX >> shift)) return number << shift;
  }
  return std::nullopt;
}

StatusOr<std::vector<std::pair<std::string, std::string>>> ReadServerVariables(
    Cluster* cluster, std::string_view keyspace, std::string_view replication_to_be) {
  const Topology& topology = cluster->topology;
  std::size_t nodes_there = 0;
  for (const Node& node : topology.nodes) {
    nodes_there += node.ring.datacenter == cluster->datacenter;
  }
  std::vector<std::pair<std::string, std::string>> variables = {
      {"release_version", topology.release_version},
      {"native_protocol_version", fmt::format("{}", cluster->connect.codec.version)},
      {"cluster_name", topology.cluster_name},
      {"partitioner", topology.partitioner},
      {"nodes", fmt::format("{}", topology.nodes.size())},
      {"datacenter", cluster->datacenter},
      {"nodes_of_datacenter", fmt::format("{}", nodes_there)}};
  CAVALRY_ASSIGN_OR_RETURN(std::string replication,
                           ReadReplication(cluster->session.get(), keyspace));
  if (replication.empty()) replication = std::string(replication_to_be);
  variables.emplace_back("replication", std::move(replication));
  if (!HasViews(*cluster)) return variables;
  CAVALRY_ASSIGN_OR_RETURN(const auto settings, ReadSettings(cluster->session.get()));
  for (const std::string_view name : kSettings) {
    const auto found = settings.find(name);
    if (found != settings.end()) variables.emplace_back(name, found->second);
  }
  return variables;
}

StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> ReadCounters(Cluster* cluster) {
  std::vector<std::pair<std::string, std::uint64_t>> counters;
  if (!HasViews(*cluster)) return counters;
  std::map<std::string, std::uint64_t, std::less<>> found;
  const auto read = [&](std::string_view cql, std::span<const std::string_view> names) -> Status {
    return cluster->session
        ->Query(cql,
                [&](std::span<const Field> fields) {
                  for (std::size_t i = 0; i < names.size() && i + 1 < fields.size(); ++i) {
                    std::uint64_t number = 0;
                    const std::string_view text = fields[i + 1].text;
                    std::from_chars(text.data(), text.data() + text.size(), number);
                    found[fmt::format("{}.{}", fields[0].text, names[i])] = number;
                  }
                })
        .status();
  };
  constexpr std::array<std::string_view, 2> kTasks = {"completed_tasks", "blocked_tasks_all_time"};
  CAVALRY_RETURN_IF_ERROR(
      read("SELECT name, completed_tasks, blocked_tasks_all_time FROM system_views.thread_pools",
           kTasks));
  constexpr std::array<std::string_view, 2> kCache = {"hit_count", "request_count"};
  CAVALRY_RETURN_IF_ERROR(
      read("SELECT name, hit_count, request_count FROM system_views.caches", kCache));
  const auto add = [&](std::string_view name, std::span<const std::string_view> fields) {
    for (const std::string_view field : fields) {
      const auto one = found.find(fmt::format("{}.{}", name, field));
      if (one != found.end()) counters.emplace_back(one->first, one->second);
    }
  };
  for (const std::string_view pool : kPools) add(pool, kTasks);
  for (const std::string_view cache : {"chunks", "keys", "rows"}) add(cache, kCache);
  return counters;
}

StatusOr<std::vector<std::string>> ReadLimits(Cluster* cluster, std::uint64_t request_bytes) {
  std::vector<std::string> limits;
  if (request_bytes == 0 || !HasViews(*cluster)) return limits;
  CAVALRY_ASSIGN_OR_RETURN(const auto settings, ReadSettings(cluster->session.get()));
  const auto found = settings.find("native_transport_max_frame_size");
  if (found == settings.end()) return limits;
  const std::optional<std::uint64_t> most = ParseDataSize(found->second);
  if (most && *most < request_bytes) {
    limits.push_back(
        fmt::format("a request has up to {} bytes, but native_transport_max_frame_size is {}: "
                    "raise it, or send fewer rows or smaller values at a time",
                    request_bytes, found->second));
  }
  return limits;
}

}  // namespace cavalry::drivers::cassandra
