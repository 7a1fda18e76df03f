// Reads a few rows of filled tables over a target's own way to them and compares them with what the
// seed gives: targets whose rows all are as they should be return the same bytes for the same keys.
// Blocking; the phase thread only.
#pragma once

#include "agent/phases/phase_context.h"
#include "agent/target_plan.h"
#include "drivers/core/admin.h"

namespace cavalry::agent {

// `admin`: of the target that owns the tables, connected. Tells in `done` which tables were looked
// at, and warns of rows that are not as they were filled, with key, column and both values. Tables
// that are not filled, or are used as they are, are left out. `target`: secrets resolved.
Status ProbeRows(const PhaseContext& context, const TargetPlan& target, drivers::Admin* admin,
                 v1::PhaseDone* done);

}  // namespace cavalry::agent
