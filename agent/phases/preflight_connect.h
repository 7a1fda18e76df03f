// Whether anything listens where a codec driver's sessions will connect. Blocking; the phase
// thread.
#pragma once

#include <vector>

#include "agent/target_plan.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::agent {

// Connects once to each endpoint of the target and closes; other client models pass.
Status TryEndpoints(const TargetPlan& target, const std::vector<drivers::OperationPlan>& operations,
                    Nanos timeout);

}  // namespace cavalry::agent
