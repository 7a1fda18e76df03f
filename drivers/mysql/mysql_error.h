// What an error number of the server (1000 to 1999, 3000 and up) or of Connector/C (2000 to 2999,
// 5000 and up) means for an operation. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/outcome.h"
#include "drivers/mysql/server_address.h"

namespace cavalry::drivers::mysql {

struct ErrorClass {
  Outcome outcome = Outcome::kRejected;
  Severity severity = Severity::kNormal;
  // Whether a write that ended so may have been done.
  bool write_unknown = false;
  // Whether the same may well succeed when it is tried again from its transaction's begin.
  bool retryable = false;
};

enum class ErrorPhase { kConnect, kOperation };

ErrorClass ClassifyError(unsigned int error, ErrorPhase phase);

// Whether a connect to a Unix socket failed because the server's backlog is full: the library takes
// the socket for connected then, and its first read fails with EINVAL.
bool IsFullBacklog(unsigned int error, std::string_view text, const ServerAddress& address);

// What to tell of an error met while connecting: address, the server's or library's own text, and
// what can be done about it.
std::string ConnectErrorText(unsigned int error, std::string_view text,
                             const ServerAddress& address);

}  // namespace cavalry::drivers::mysql
