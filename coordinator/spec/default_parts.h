// The parts of ApplyDefaults, in the order in which it takes them. One thread.
#pragma once

#include "cavalry/v1/workload.pb.h"
#include "core/base/column_type.h"

namespace cavalry::spec {

// Bounds of a rule of values that says none.
void FillRule(const ColumnType& type, v1::ValueRule* rule);

// Tables, columns, keys and values of operations. REQUIRES: tables are filled in.
void FillOperations(v1::Workload* workload);

// Scripts, those of stages too: what they leave out, begin and commit of transactions, and the
// operations that need not be listed. Sleeps are put behind all other operations.
void FillScripts(v1::Workload* workload);

// The loads of stages. REQUIRES: the workload's own is filled in.
void FillStageLoads(v1::Workload* workload);

}  // namespace cavalry::spec
