// A load thread must not wait for a core while others use it: its own waiting would be measured as
// the server's. Where the system allows it (root, CAP_SYS_NICE, an rtprio limit) it gets the lowest
// real-time priority, which runs before every normal thread and leaves the kernel's reserve to
// them.
#pragma once

namespace cavalry::run {

// For the calling thread and none that it starts. False when the system does not allow it.
bool TakeRealtimePriority();

}  // namespace cavalry::run
