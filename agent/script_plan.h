// The script of a workload, unrolled: repeats, variants of a mix, waits, and which of a table's new
// keys each insert takes. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/load/iteration.h"
#include "agent/operation_plan.h"
#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"

namespace cavalry::agent {

struct UnrolledScript {
  load::ScriptPlan plan;
  std::vector<std::uint32_t> per_iteration;  // by operation: times it occurs, most of all variants
  std::vector<std::uint64_t> insert_slots;   // by table: keys that a block of iterations inserts
};

StatusOr<UnrolledScript> UnrollScript(const v1::Workload& workload, const OperationSet& set);

}  // namespace cavalry::agent
