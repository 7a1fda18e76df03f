#include "agent/run/shared_run.h"

#include <unistd.h>

#include <cstdint>

namespace cavalry::run {

void SharedRun::Wake(std::uint32_t worker) {
  const std::uint64_t one = 1;
  // Can only fail when it is already about to wake.
  [[maybe_unused]] const ssize_t written = ::write(wake_fds[worker].get(), &one, sizeof one);
}

void SharedRun::WakeAll() {
  // A run that could not be started may have made none yet.
  for (std::uint32_t worker = 0; worker < wake_fds.size(); ++worker) Wake(worker);
}

void SharedRun::RaiseStop(StopLevel level) {
  StopLevel before = stop.load();
  while (before < level && !stop.compare_exchange_weak(before, level)) {
  }
  if (before < level) WakeAll();
}

}  // namespace cavalry::run
