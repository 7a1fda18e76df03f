// Makes Cassandra codecs for the nodes of one datacenter. Made once per step and target; read by
// all workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "drivers/cassandra/cluster.h"
#include "drivers/cassandra/statement.h"
#include "drivers/cassandra/target_options.h"
#include "drivers/cassandra/token_ring.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers::cassandra {

class CassandraFactory final : public CodecFactory {
 public:
  // What is needed of a cluster that was found.
  struct Found {
    Topology topology;
    std::string datacenter;
    CodecOptions codec;                     // with the version agreed on
    std::shared_ptr<const TlsContext> tls;  // null: none
  };

  // `operations` outlives the factory and its codecs. REQUIRES: Driver::Check passed; the topology
  // has a node in the datacenter.
  CassandraFactory(const TargetOptions& options, Found found,
                   const std::vector<OperationPlan>& operations);

  const std::vector<Endpoint>& endpoints() const override { return endpoints_; }
  // All: any node can do any operation.
  std::vector<std::size_t> EndpointsOf(const OperationPlan& plan) const override;
  std::unique_ptr<Router> NewRouter() const override;
  std::unique_ptr<Codec> NewCodec(std::size_t endpoint) const override;
  std::uint32_t shared_connections() const override { return connections_; }
  std::uint32_t max_in_flight() const override { return codec_.max_in_flight; }
  bool endpoints_are_nodes() const override { return true; }

 private:
  const CodecOptions codec_;
  const std::shared_ptr<const TlsContext> tls_;
  const std::uint32_t connections_;
  std::vector<Endpoint> endpoints_;
  std::vector<StatementPlan> statements_;
  std::optional<TokenRing> ring_;  // nothing: another partitioner than Murmur3Partitioner
  mutable std::atomic<std::size_t> routers_{0};
};

}  // namespace cavalry::drivers::cassandra
