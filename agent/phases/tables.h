// Phases on whole tables: reset, prepare, marks, cleanup, and the preflight. Nothing that cavalry
// did not create is emptied or dropped: the mark in a table's comment decides.
#pragma once

#include "agent/phases/phase_context.h"
#include "drivers/core/admin.h"

namespace cavalry::agent {

// The driver's own check of the spec; with order.connect also of its server.
Status Preflight(const PhaseContext& context, v1::PhaseDone* done);
// Empties marked tables that are not as the spec says, drops those of another schema.
Status ResetTables(const PhaseContext& context, v1::PhaseDone* done);
// Creates and marks missing tables; checks those used as they are.
Status PrepareTables(const PhaseContext& context, v1::PhaseDone* done);
// Marks the tables filled, or used.
Status MarkTables(const PhaseContext& context, drivers::TableMark mark, v1::PhaseDone* done);
// Drops the tables that cavalry created.
Status CleanUpTables(const PhaseContext& context, v1::PhaseDone* done);

}  // namespace cavalry::agent
