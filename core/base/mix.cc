#include "core/base/mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.h"

namespace cavalry {

std::vector<std::uint32_t> MixCounts(std::span<const double> weights) {
  CAVALRY_CHECK(!weights.empty() && weights.size() <= kMixBlock);
  // Divided by the largest, so that no sum overflows.
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (const double weight : weights) {
    CAVALRY_CHECK(std::isfinite(weight) && weight > 0);
    sum += weight / largest;
  }
  std::vector<std::uint32_t> counts;
  std::vector<double> rests;
  for (const double weight : weights) {
    const double exact = weight / largest / sum * kMixBlock;
    counts.push_back(std::max<std::uint32_t>(static_cast<std::uint32_t>(exact), 1));
    rests.push_back(exact - counts.back());
  }
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rests[a] > rests[b]; });
  std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  for (std::size_t i = 0; total < kMixBlock; i = (i + 1) % order.size(), ++total) {
    ++counts[order[i]];
  }
  // Raised to 1 above their share: taken back from the largest.
  for (; total > kMixBlock; --total) --*std::max_element(counts.begin(), counts.end());
  return counts;
}

}  // namespace cavalry
