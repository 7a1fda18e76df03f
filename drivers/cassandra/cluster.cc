#include "drivers/cassandra/cluster.h"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace cavalry::drivers::cassandra {
namespace {

// Native protocol, section 8: a version that the server does not speak is a protocol error.
constexpr std::string_view kProtocolError = "0x000A";

// Sets connect->codec.version to what the server speaks.
StatusOr<std::unique_ptr<CqlSession>> OpenNegotiated(const Endpoint& endpoint, bool negotiates,
                                                     ConnectPlan* connect) {
  while (true) {
    auto session = CqlSession::Open(endpoint, *connect);
    if (session.ok() || !negotiates || connect->codec.version <= kOldestVersion) return session;
    if (StatusText(session.status()).find(kProtocolError) == std::string::npos) return session;
    --connect->codec.version;
  }
}

std::string DatacenterNames(const Topology& topology) {
  std::set<std::string> names;
  for (const Node& node : topology.nodes) names.insert(node.ring.datacenter);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Moves the session to a node of the datacenter when it is not there already.
Status EnterDatacenter(const TargetOptions& options, Cluster* cluster) {
  const std::vector<Node>& nodes = cluster->topology.nodes;
  const auto is_there = [&](const Node& node) {
    return node.ring.datacenter == cluster->datacenter;
  };
  if (is_there(nodes.front())) return absl::OkStatus();
  Status last = FailedPrecondition(
      "{}: the cluster has no datacenter \"{}\": option datacenter is to be one of {}",
      cluster->session->endpoint().label, cluster->datacenter, DatacenterNames(cluster->topology));
  for (const Node& node : nodes) {
    if (!is_there(node)) continue;
    auto session = CqlSession::Open(MakeEndpoint(node.host, node.port), cluster->connect);
    if (session.ok()) {
      cluster->session = *std::move(session);
      CAVALRY_ASSIGN_OR_RETURN(
          cluster->topology,
          ReadTopology(cluster->session.get(), options.statements.keyspace, options.port));
      return absl::OkStatus();
    }
    last = session.status();
  }
  return last;
}

StatusOr<Cluster> OpenFrom(const Endpoint& contact, const TargetOptions& options,
                           ConnectPlan connect) {
  Cluster cluster;
  CAVALRY_ASSIGN_OR_RETURN(cluster.session, OpenNegotiated(contact, options.negotiates, &connect));
  cluster.connect = std::move(connect);
  CAVALRY_ASSIGN_OR_RETURN(
      cluster.topology,
      ReadTopology(cluster.session.get(), options.statements.keyspace, options.port));
  cluster.datacenter = options.datacenter.empty() ? cluster.topology.nodes.front().ring.datacenter
                                                  : options.datacenter;
  CAVALRY_RETURN_IF_ERROR(EnterDatacenter(options, &cluster));
  return cluster;
}

}  // namespace

StatusOr<Cluster> OpenCluster(const TargetOptions& options, ConnectPlan connect) {
  std::vector<std::string> faults;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  for (const Endpoint& contact : options.contact_points) {
    StatusOr<Cluster> cluster = OpenFrom(contact, options, connect);
    if (cluster.ok()) return cluster;
    code = cluster.status().code();
    faults.push_back(StatusText(cluster.status()));
  }
  return MakeStatus(code, fmt::format("{}", fmt::join(faults, "; ")));
}

}  // namespace cavalry::drivers::cassandra
