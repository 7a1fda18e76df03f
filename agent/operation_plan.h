// The operations of a spec over its tables, as drivers see them. Any thread; reads the files of
// `rows_from`, hence blocks.
#pragma once

#include <memory>
#include <vector>

#include "agent/load/row_generator.h"
#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::agent {

inline constexpr int kMaxOperations = 4096;
// Rows of a batch, keys of a multi-read.
inline constexpr std::uint32_t kMaxBatch = 10'000;

struct OperationSet {
  std::vector<std::unique_ptr<drivers::TableSchema>> tables;
  std::vector<std::vector<load::ColumnRule>> rules;  // by table and column
  // All but sleeps, which the workload has behind the others: so a plan's index is that of its
  // operation in the workload.
  std::vector<drivers::OperationPlan> operations;
};

// `replaces_rows`: as the target's driver says (drivers/core/driver.h).
StatusOr<OperationSet> MakeOperationSet(const v1::Workload& workload, bool replaces_rows = false);

}  // namespace cavalry::agent
