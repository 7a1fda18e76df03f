#include "coordinator/clock_sync.h"

#include <limits>

namespace cavalry::coordinator {
namespace {

// Far above any uptime, far below what overflows when two are added.
constexpr Nanos kClockMax = std::numeric_limits<Nanos>::max() / 4;

bool Plausible(Nanos time) { return time >= 0 && time <= kClockMax; }

}  // namespace

v1::ClockProbe ClockSync::NextProbe(Nanos now) {
  outstanding_ = now;
  v1::ClockProbe probe;
  probe.set_sent_ns(now);
  return probe;
}

bool ClockSync::OnReply(const v1::ClockReply& reply, Nanos received) {
  if (outstanding_ == 0 || reply.probe_sent_ns() != outstanding_) return false;
  const Nanos sent = outstanding_;
  outstanding_ = 0;
  const Nanos theirs_received = reply.received_ns();
  const Nanos theirs_sent = reply.sent_ns();
  if (!Plausible(theirs_received) || !Plausible(theirs_sent)) return false;
  const Nanos held = theirs_sent - theirs_received;
  const Nanos rtt = received - sent - held;
  if (held < 0 || rtt < 0) return false;

  const Nanos offset = ((theirs_received - sent) + (theirs_sent - received)) / 2;
  const Nanos error = rtt / 2;
  const Nanos aged = rtt_ / 2 + (received - taken_) / 1'000'000 * kDriftPpm;
  if (replies_ == 0 || error <= aged) {
    offset_ = offset;
    rtt_ = rtt;
    taken_ = received;
  }
  ++replies_;
  return true;
}

}  // namespace cavalry::coordinator
