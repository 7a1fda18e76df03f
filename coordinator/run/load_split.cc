#include "coordinator/run/load_split.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"

namespace cavalry::run {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

std::vector<std::uint64_t> SplitEvenly(std::uint64_t whole, std::size_t parts) {
  CAVALRY_CHECK(parts > 0);
  std::vector<std::uint64_t> shares(parts, whole / parts);
  for (std::size_t i = 0; i < whole % parts; ++i) ++shares[i];
  return shares;
}

std::vector<std::uint64_t> SplitByWeight(std::uint64_t whole,
                                         const std::vector<std::uint64_t>& weights) {
  // 128 bits: neither the sum of weights nor whole x weight may wrap.
  Wide total = 0;
  for (const std::uint64_t weight : weights) total += weight;
  std::vector<std::uint64_t> shares(weights.size(), 0);
  if (whole == 0) return shares;
  CAVALRY_CHECK(total > 0);
  std::vector<Wide> remainders(weights.size());
  std::uint64_t left = whole;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Wide product = Wide{whole} * weights[i];
    shares[i] = static_cast<std::uint64_t>(product / total);
    remainders[i] = product % total;
    left -= shares[i];
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  // What is left is the sum of the remainders over `total`, each below one: so fewer than there are
  // remainders above 0, and an agent of weight 0 gets none.
  for (std::size_t i = 0; i < left; ++i) ++shares[order[i]];
  return shares;
}

}  // namespace cavalry::run
