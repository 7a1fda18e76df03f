// Which nodes hold the rows of a token. Immutable after building; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cavalry::drivers::cassandra {

// A node as the ring sees it.
struct RingNode {
  std::string datacenter;
  std::string rack;
  std::vector<std::int64_t> tokens;
};

// How a keyspace's rows are spread.
struct Replication {
  enum class Strategy : std::uint8_t {
    kNone,     // not known: no node is known to hold a row
    kSimple,   // the next `factor` nodes of the ring
    kNetwork,  // `factors` nodes of each datacenter, of as many racks as there are
  };
  Strategy strategy = Strategy::kNone;
  std::uint32_t factor = 0;                                    // kSimple
  std::vector<std::pair<std::string, std::uint32_t>> factors;  // kNetwork: by datacenter
};

class TokenRing {
 public:
  // Keeps only the replicas in `datacenter`.
  TokenRing(const std::vector<RingNode>& nodes, const Replication& replication,
            const std::string& datacenter);

  // Indexes into `nodes`, in the order of the ring; empty: not known. The owner of a token is the
  // node of the first token that is not below it, after the last one the first.
  std::span<const std::uint32_t> ReplicasOf(std::int64_t token) const;

 private:
  std::vector<std::int64_t> tokens_;  // sorted
  std::vector<std::uint32_t> ends_;   // of each token's replicas in replicas_
  std::vector<std::uint32_t> replicas_;
};

}  // namespace cavalry::drivers::cassandra
