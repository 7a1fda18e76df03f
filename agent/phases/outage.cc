#include "agent/phases/outage.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "agent/phases/targets.h"
#include "core/base/clock.h"

namespace cavalry::agent {
namespace {

constexpr Nanos kShortestWait = 20 * kMillisecond;
constexpr Nanos kLongestWait = kSecond;
// How soon a request to stop is seen.
constexpr Nanos kStopLook = 50 * kMillisecond;

// Waits; not ok when the phase is to stop.
Status Wait(const PhaseContext& context, Nanos duration) {
  const Nanos until = MonotonicNow() + duration;
  for (Nanos left = duration; left > 0; left = until - MonotonicNow()) {
    CAVALRY_RETURN_IF_ERROR(context.CheckStop());
    ::poll(nullptr, 0, static_cast<int>(std::min(left, kStopLook) / kMillisecond) + 1);
  }
  return context.CheckStop();
}

// Does `attempt` until it succeeds, fails for another reason, or the patience has ended.
Status UntilReached(const PhaseContext& context, Nanos until,
                    const std::function<Status()>& attempt) {
  Nanos wait = kShortestWait;
  while (true) {
    Status status = attempt();
    if (!IsOutage(status) || MonotonicNow() >= until) return status;
    CAVALRY_RETURN_IF_ERROR(Wait(context, wait));
    wait = std::min(2 * wait, kLongestWait);
  }
}

}  // namespace

bool IsOutage(const Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

Status OutliveOutages(drivers::Admin* admin, const PhaseContext& context,
                      const std::function<Status()>& work, Nanos patience) {
  const Nanos until = MonotonicNow() + patience;
  bool connected = true;
  return UntilReached(context, until, [&] {
    if (!connected) CAVALRY_RETURN_IF_ERROR(admin->Connect());
    connected = false;
    return work();
  });
}

StatusOr<std::unique_ptr<drivers::Admin>> AwaitAdmin(const PhaseContext& context, Nanos patience) {
  std::unique_ptr<drivers::Admin> admin;
  CAVALRY_RETURN_IF_ERROR(UntilReached(context, MonotonicNow() + patience, [&]() -> Status {
    auto connected = ConnectAdmin(context.order.workload(), context.order.target());
    if (!connected.ok()) return connected.status();
    admin = *std::move(connected);
    return absl::OkStatus();
  }));
  return admin;
}

}  // namespace cavalry::agent
