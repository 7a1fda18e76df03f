#include "drivers/cassandra/token_ring.h"

#include <algorithm>
#include <set>

namespace cavalry::drivers::cassandra {
namespace {

using Owners = std::vector<std::pair<std::int64_t, std::uint32_t>>;  // by token

bool Has(const std::vector<std::uint32_t>& nodes, std::uint32_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// The replicas of one datacenter while the ring is walked. As NetworkTopologyStrategy does it: a
// rack comes twice only when there are fewer racks than replicas, and only so often as that needs.
class RackWalk {
 public:
  RackWalk(std::uint32_t factor, std::size_t nodes, std::size_t racks)
      : left_(std::min<std::size_t>(factor, nodes)),
        repeats_(factor > racks ? factor - racks : 0) {}

  bool done() const { return left_ == 0; }

  void Offer(std::uint32_t node, const std::string& rack, std::vector<std::uint32_t>* replicas) {
    if (done() || Has(*replicas, node)) return;
    if (!racks_.insert(rack).second) {
      if (repeats_ == 0) return;
      --repeats_;
    }
    --left_;
    replicas->push_back(node);
  }

 private:
  std::size_t left_;
  std::size_t repeats_;
  std::set<std::string> racks_;
};

// `at`: the position among the owners from where the ring is walked.
std::vector<std::uint32_t> WalkSimple(const Owners& owners, std::size_t at, std::uint32_t factor) {
  std::vector<std::uint32_t> replicas;
  for (std::size_t i = 0; i < owners.size() && replicas.size() < factor; ++i) {
    const std::uint32_t node = owners[(at + i) % owners.size()].second;
    if (!Has(replicas, node)) replicas.push_back(node);
  }
  return replicas;
}

std::vector<std::uint32_t> WalkDatacenter(const Owners& owners, std::size_t at,
                                          const std::vector<RingNode>& nodes, RackWalk walk,
                                          const std::string& datacenter) {
  std::vector<std::uint32_t> replicas;
  for (std::size_t i = 0; i < owners.size() && !walk.done(); ++i) {
    const std::uint32_t node = owners[(at + i) % owners.size()].second;
    if (nodes[node].datacenter == datacenter) walk.Offer(node, nodes[node].rack, &replicas);
  }
  return replicas;
}

std::uint32_t FactorOf(const Replication& replication, const std::string& datacenter) {
  for (const auto& [name, factor] : replication.factors) {
    if (name == datacenter) return factor;
  }
  return 0;
}

}  // namespace

TokenRing::TokenRing(const std::vector<RingNode>& nodes, const Replication& replication,
                     const std::string& datacenter) {
  if (replication.strategy == Replication::Strategy::kNone) return;
  Owners owners;
  std::set<std::string> racks;
  std::size_t nodes_there = 0;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const std::int64_t token : nodes[i].tokens) owners.emplace_back(token, i);
    if (nodes[i].datacenter != datacenter || nodes[i].tokens.empty()) continue;
    racks.insert(nodes[i].rack);
    ++nodes_there;
  }
  std::sort(owners.begin(), owners.end());
  const RackWalk walk(FactorOf(replication, datacenter), nodes_there, racks.size());
  for (std::size_t at = 0; at < owners.size(); ++at) {
    const bool is_simple = replication.strategy == Replication::Strategy::kSimple;
    for (const std::uint32_t node : is_simple
                                        ? WalkSimple(owners, at, replication.factor)
                                        : WalkDatacenter(owners, at, nodes, walk, datacenter)) {
      if (nodes[node].datacenter == datacenter) replicas_.push_back(node);
    }
    tokens_.push_back(owners[at].first);
    ends_.push_back(static_cast<std::uint32_t>(replicas_.size()));
  }
}

std::span<const std::uint32_t> TokenRing::ReplicasOf(std::int64_t token) const {
  if (tokens_.empty()) return {};
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), token);
  const auto at =
      found == tokens_.end() ? std::size_t{0} : static_cast<std::size_t>(found - tokens_.begin());
  const std::uint32_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::span(replicas_).subspan(begin, ends_[at] - begin);
}

}  // namespace cavalry::drivers::cassandra
