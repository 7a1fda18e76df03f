// A server that is gone for a while in the middle of a phase: connects again with back-off.
// Blocking; the phase thread only.
#pragma once

#include <functional>
#include <memory>

#include "agent/phases/phase_context.h"
#include "core/base/clock.h"
#include "drivers/core/admin.h"

namespace cavalry::agent {

// How long a server may be gone, from the first failure on.
inline constexpr Nanos kOutagePatience = 30 * kSecond;

// Whether the status says that the server could not be reached or is gone, so that a new connection
// may help.
bool IsOutage(const Status& status);

// Does `work`; while it fails for an outage, connects `admin` again and does the whole of it once
// more. Gives the last failure when the server was gone for longer than `patience`, and Cancelled
// when the phase is to stop.
Status OutliveOutages(drivers::Admin* admin, const PhaseContext& context,
                      const std::function<Status()>& work, Nanos patience = kOutagePatience);

// A connected admin of the order's target, waited for in the same way.
StatusOr<std::unique_ptr<drivers::Admin>> AwaitAdmin(const PhaseContext& context,
                                                     Nanos patience = kOutagePatience);

}  // namespace cavalry::agent
