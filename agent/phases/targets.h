// Targets of a workload as the phases use them: settings with their secrets resolved, and admin
// connections. Blocking; the phase thread only.
#pragma once

#include <memory>
#include <string_view>

#include "agent/target_plan.h"
#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"
#include "drivers/core/admin.h"

namespace cavalry::agent {

// A connected admin of the target; an error says that its kind owns no tables, or why it cannot be
// reached.
StatusOr<std::unique_ptr<drivers::Admin>> ConnectAdmin(const v1::Workload& workload,
                                                       std::string_view target);

// Asks the targets named by { from: TARGET } for the secrets that `settings` leave open. `kind`:
// the driver they are for.
Status ResolveSecrets(const v1::Workload& workload, std::string_view kind, Settings* settings);

}  // namespace cavalry::agent
