// Errors of a connection's socket as results of operations. Any thread.
#pragma once

#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers {

// "ECONNREFUSED" and the like; "local_port_exhausted" for EADDRNOTAVAIL.
std::string_view ErrnoCode(int error);
// The class of a failed connect: not_sent, unless the connection was made before it was lost.
OpResult ErrnoResult(int error, Outcome outcome);

}  // namespace cavalry::drivers
