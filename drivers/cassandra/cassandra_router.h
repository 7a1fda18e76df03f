// Sends each operation to a node that holds the row: the replicas of its partition key in turn, so
// that they share the load; operations without a key to all nodes in turn. Each operation of the
// spec has turns of its own: a script of two of them would else send one to the same replica each
// time. One worker's: one thread. Allocates nothing once its buffers have their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "drivers/cassandra/statement.h"
#include "drivers/cassandra/token_ring.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers::cassandra {

class CassandraRouter final : public Router {
 public:
  // The ring's nodes are the endpoints by their indexes; null: nothing is routed by key. `first`
  // is where the turns begin, another for each worker. All outlives the router.
  CassandraRouter(const std::vector<StatementPlan>& statements, const TokenRing* ring,
                  std::size_t endpoints, std::size_t first);

  std::size_t First(const Operation& operation) override;
  // The other replicas, then all other endpoints.
  std::size_t Next() override;

 private:
  std::span<const std::uint32_t> ReplicasOf(const Operation& operation);
  bool ReadKey(const StatementPlan& plan, const Operation& operation);

  const std::vector<StatementPlan>& statements_;
  const TokenRing* const ring_;
  const std::size_t endpoints_;
  std::vector<std::size_t> turns_;  // by operation
  ByteBuffer value_;                // one part's value, with its length
  ByteBuffer key_;                  // the partition key as it is hashed
  // Of the operation that First was last asked for.
  std::span<const std::uint32_t> replicas_;
  std::size_t begin_ = 0;  // the turn it was given
  std::size_t given_ = 0;  // replicas given
  std::size_t tried_ = 0;  // endpoints looked at after them
};

}  // namespace cavalry::drivers::cassandra
