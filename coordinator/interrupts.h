// Ctrl-C, SIGTERM and a closed terminal as readable events, so that the coordinator's one thread
// sees them in its loop. Make it before any thread is started: they must inherit the blocked
// signals.
#pragma once

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace cavalry::coordinator {

class Interrupts {
 public:
  static StatusOr<Interrupts> Create();

  int fd() const { return fd_.get(); }
  // How many came since the last call; never waits.
  int Take();

 private:
  explicit Interrupts(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace cavalry::coordinator
