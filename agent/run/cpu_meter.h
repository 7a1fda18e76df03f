// What the calling thread used between Begin and End: user and system time, time it was ready but
// waited for a core, wall time. Both on the same thread.
#pragma once

#include "core/base/clock.h"

namespace cavalry::run {

class CpuMeter {
 public:
  struct Usage {
    Nanos user = 0;
    Nanos system = 0;
    Nanos run_queue_wait = 0;  // 0 where the kernel does not tell
    Nanos wall = 0;
  };

  void Begin() { began_ = Read(); }
  Usage End() const;

 private:
  static Usage Read();
  Usage began_;
};

}  // namespace cavalry::run
