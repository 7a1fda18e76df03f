// Where the coordinator listens: "host:port" as --listen takes it. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/host_port.h"
#include "core/base/status.h"

namespace cavalry::coordinator {

// Port 0: a free one.
struct ListenAddress : HostPort {
  bool loopback = false;  // only programs of this machine can reach it
};

// "0.0.0.0:7400", "[::]:7400", "localhost:7400", ":7400" (all addresses).
StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// Tries to listen, and stops again: ok, or why it cannot be done and what to do.
Status TryListen(const std::string& address);

}  // namespace cavalry::coordinator
