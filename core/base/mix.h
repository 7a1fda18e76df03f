// How the alternatives of a mix share iterations: of kMixBlock iterations in a row each alternative
// has an exact number, in an order shuffled by the seed. So the share is exact over whole blocks,
// and how many iterations of an alternative came before one is arithmetic. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cavalry {

inline constexpr std::uint32_t kMixBlock = 10'000;

// Iterations of each alternative in a block: by weight, largest remainders, at least 1 each.
// REQUIRES: 1 to kMixBlock weights, each finite and above 0.
std::vector<std::uint32_t> MixCounts(std::span<const double> weights);

}  // namespace cavalry
