// Finds a cluster from a target's contact points: the version it speaks, its nodes, and which of
// them get the operations. Blocking; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "drivers/cassandra/cql_session.h"
#include "drivers/cassandra/target_options.h"
#include "drivers/cassandra/topology.h"

namespace cavalry::drivers::cassandra {

struct Cluster {
  std::unique_ptr<CqlSession> session;  // to a node of `datacenter`
  ConnectPlan connect;                  // with the version that was agreed on
  Topology topology;
  std::string datacenter;
};

// Asks the contact points in turn, with version 5 and then 4 where none is set. With the option
// datacenter the session goes to a node of it. Errors name every contact point and what came back.
StatusOr<Cluster> OpenCluster(const TargetOptions& options, ConnectPlan connect);

}  // namespace cavalry::drivers::cassandra
