// Estimates how far an agent's monotonic clock is from ours, from probes and answers: half the best
// round trip is the error. Later answers replace an older one as it ages, since clocks drift. Pure;
// one thread.
#pragma once

#include <cstddef>

#include "cavalry/v1/control.pb.h"
#include "core/base/clock.h"

namespace cavalry::coordinator {

class ClockSync {
 public:
  static constexpr std::size_t kProbesToBegin = 8;
  // What two clocks may drift apart, in parts of a million of the time between.
  static constexpr Nanos kDriftPpm = 10;

  // The probe to send now; an older one that is not answered yet is forgotten.
  v1::ClockProbe NextProbe(Nanos now);
  // False for an answer that cannot be (no such probe, times that contradict each other): ignored.
  bool OnReply(const v1::ClockReply& reply, Nanos received);

  bool known() const { return replies_ >= kProbesToBegin; }
  bool awaits_reply() const { return outstanding_ != 0; }
  Nanos offset() const { return offset_; }  // the agent's clock minus ours
  Nanos rtt() const { return rtt_; }

 private:
  Nanos outstanding_ = 0;  // sent_ns of the probe that awaits its answer
  std::size_t replies_ = 0;
  Nanos offset_ = 0;
  Nanos rtt_ = 0;
  Nanos taken_ = 0;  // when the best answer was
};

}  // namespace cavalry::coordinator
