// An address as people write it: HOST:PORT, an IPv6 address in brackets. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cavalry {

struct HostPort {
  std::string host;  // a name or an address, without brackets; may be empty
  int port = 0;      // 0 to 65535

  std::string text() const;  // "host:port", "[::1]:7400"
};

// "db1:7400", "[::1]:7400", ":7400". The error says what is wrong and how it is written.
StatusOr<HostPort> ParseHostPort(std::string_view text);

}  // namespace cavalry
