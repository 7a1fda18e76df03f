// What every phase is given: its order, a way to tell how far it is, and whether to stop. Owned by
// the phase runner; the phase thread only, but for `stop`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "cavalry/v1/control.pb.h"
#include "core/base/status.h"

namespace cavalry::agent {

struct PhaseContext {
  const v1::RunPhase& order;
  std::uint32_t threads = 1;  // that a phase may use
  // done of total, counted in `what`. Any thread; call about twice a second at most.
  std::function<void(std::uint64_t done, std::uint64_t total, std::string_view what)> progress;
  const std::atomic<bool>& stop;

  Status CheckStop() const {
    return stop.load(std::memory_order_relaxed) ? Cancelled("stopped on request")
                                                : absl::OkStatus();
  }
};

}  // namespace cavalry::agent
