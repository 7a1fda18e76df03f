// Phases about a target's server rather than its tables: a statement of the spec, and counters.
#pragma once

#include "agent/phases/phase_context.h"

namespace cavalry::agent {

// Runs the order's statement on its target and drops the rows; their number goes into `done`.
Status RunNative(const PhaseContext& context, v1::PhaseDone* done);

// Reads what the server counts.
Status ReadCounters(const PhaseContext& context, v1::PhaseDone* done);

}  // namespace cavalry::agent
