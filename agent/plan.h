// Messages -> plain types: a workload and an assignment become what agent/load, agent/run and the
// drivers work with (tables: table_plan.h, operations: operation_plan.h, targets: target_plan.h).
// The workload has its defaults filled in by the coordinator; what cannot be used all the same is
// an error that names it, never a crash. Any thread; reads the files that a workload names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/operation_plan.h"
#include "agent/run/load_plan.h"
#include "agent/table_plan.h"
#include "cavalry/v1/control.pb.h"
#include "core/base/status.h"
#include "drivers/core/driver.h"

namespace cavalry::agent {

// Everything a step needs but the resolved secrets. `workers`: threads this agent may use.
StatusOr<std::unique_ptr<run::LoadPlan>> MakeLoadPlan(const v1::Assignment& assignment,
                                                      std::uint32_t workers, run::LoopKind loop);

}  // namespace cavalry::agent
