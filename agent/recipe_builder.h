// The recipes of a step: how each operation of the spec gets its keys and values. Split from
// plan.h, which calls it. Any thread; reads the files that a workload names.
#pragma once

#include "agent/plan.h"

namespace cavalry::agent {

// Fills script, recipes, tables and operations of `plan` from the workload; `next_keys` and the
// session numbers must be set in the assignment. `replaces_rows`: as the driver says.
Status BuildRecipes(const v1::Assignment& assignment, bool replaces_rows, run::LoadPlan* plan);

}  // namespace cavalry::agent
