// Phase audit: reads back every acknowledged write of the last step over another route, and tells
// what is lost, stale, unexpected or wrong (design.md section 6).
#pragma once

#include <memory>
#include <vector>

#include "agent/load/ledger.h"
#include "agent/phases/outage.h"
#include "agent/phases/phase_context.h"
#include "agent/run/load_plan.h"
#include "drivers/core/admin.h"

namespace cavalry::agent {

// The writes of the last step on this agent. The plan outlives the step for this.
struct StepLedger {
  std::unique_ptr<run::LoadPlan> plan;
  std::vector<std::unique_ptr<load::Ledger>> ledgers;  // one per worker; none null
};

// Reads over `admin`, which is connected again when the server was gone for a while; null: nothing
// can be read. On an error (a server that stays away) every acknowledged key that was not read is
// counted as unaudited.
Status AuditWrites(const StepLedger& step, drivers::Admin* admin, std::uint32_t list,
                   const PhaseContext& context, v1::AuditResult* result,
                   Nanos patience = kOutagePatience);

}  // namespace cavalry::agent
