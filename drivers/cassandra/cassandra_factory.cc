#include "drivers/cassandra/cassandra_factory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "drivers/cassandra/cassandra_codec.h"
#include "drivers/cassandra/cassandra_router.h"

namespace cavalry::drivers::cassandra {

CassandraFactory::CassandraFactory(const TargetOptions& options, Found found,
                                   const std::vector<OperationPlan>& operations)
    : codec_(std::move(found.codec)),
      tls_(std::move(found.tls)),
      connections_(options.connections) {
  std::vector<Node>& nodes = found.topology.nodes;
  // Those that get operations first: the ring's indexes of them are then the endpoints'.
  const auto others = std::stable_partition(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.ring.datacenter == found.datacenter;
  });
  for (auto node = nodes.begin(); node != others; ++node) {
    endpoints_.push_back(MakeEndpoint(node->host, node->port));
  }
  CAVALRY_CHECK(!endpoints_.empty());
  if (found.topology.routes()) {
    std::vector<RingNode> ring;
    for (Node& node : nodes) ring.push_back(std::move(node.ring));
    ring_.emplace(ring, found.topology.replication, found.datacenter);
  }
  for (const OperationPlan& operation : operations) {
    if (statements_.size() <= operation.index) statements_.resize(operation.index + 1);
    statements_[operation.index] = PlanStatement(options.statements, operation);
  }
}

std::vector<std::size_t> CassandraFactory::EndpointsOf(const OperationPlan& /*plan*/) const {
  std::vector<std::size_t> all(endpoints_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::unique_ptr<Router> CassandraFactory::NewRouter() const {
  return std::make_unique<CassandraRouter>(statements_, ring_ ? &*ring_ : nullptr,
                                           endpoints_.size(), routers_.fetch_add(1));
}

std::unique_ptr<Codec> CassandraFactory::NewCodec(std::size_t endpoint) const {
  CAVALRY_CHECK(endpoint < endpoints_.size());
  std::unique_ptr<Codec> codec = NewCassandraCodec(codec_, statements_);
  return tls_ ? tls_->Wrap(std::move(codec), endpoints_[endpoint].host) : std::move(codec);
}

}  // namespace cavalry::drivers::cassandra
