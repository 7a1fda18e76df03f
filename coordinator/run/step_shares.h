// What each agent does in a step: its exact share of sessions, iteration numbers, connects and keys
// to fill. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "cavalry/v1/workload.pb.h"

namespace cavalry::run {

struct StepShare {
  std::uint32_t sessions = 0;
  std::uint32_t first_session = 0;
  v1::Numbers numbers;
  double connect_rate = 0;                 // per second
  std::optional<std::uint32_t> pool_size;  // nothing: sessions have connections of their own
  std::uint32_t pool_overflow = 0;
};

// Iterations of measure in all, or nothing when only time bounds the step: the smaller of
// `iterations` and `passes` times the iterations that one pass over the keys of the script's first
// operation takes.
std::optional<std::uint64_t> TotalIterations(const v1::Workload& workload);

// Shares for `agents` agents, in their order. With fewer sessions than agents the last ones get
// none and there are fewer shares than agents. REQUIRES: agents > 0; ApplyDefaults was called.
std::vector<StepShare> SplitStep(const v1::Workload& workload, std::size_t agents);

// Contiguous shares of the keys 1..rows, one per agent, each at most one key larger than another;
// an agent without a key has count 0.
std::vector<v1::KeyShare> SplitKeys(const v1::Table& table, std::size_t agents);

}  // namespace cavalry::run
