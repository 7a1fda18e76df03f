// Exact shares: the sum over agents is the whole, always. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace cavalry::run {

// Splits `whole` by largest remainder: shares differ by at most one, the first agents get more.
// REQUIRES: parts > 0.
std::vector<std::uint64_t> SplitEvenly(std::uint64_t whole, std::size_t parts);

// Splits `whole` in proportion to `weights` by largest remainder (ties to the lower index).
// An agent of weight 0 gets 0. REQUIRES: a weight above 0, unless whole is 0.
std::vector<std::uint64_t> SplitByWeight(std::uint64_t whole,
                                         const std::vector<std::uint64_t>& weights);

}  // namespace cavalry::run
