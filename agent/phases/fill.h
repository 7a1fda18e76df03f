// Phase fill: writes the rows of this agent's share of keys, in parallel batches.
#pragma once

#include "agent/phases/phase_context.h"

namespace cavalry::agent {

Status FillTables(const PhaseContext& context, v1::PhaseDone* done);

}  // namespace cavalry::agent
