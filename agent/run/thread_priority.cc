#include "agent/run/thread_priority.h"

#include <sched.h>

namespace cavalry::run {

bool TakeRealtimePriority() {
  sched_param parameters{};
  parameters.sched_priority = 1;
  // Round robin: two load threads on one core share it.
  return sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) == 0;
}

}  // namespace cavalry::run
