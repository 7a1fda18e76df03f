#include "drivers/core/connect_error.h"

#include <cerrno>
#include <cstring>

namespace cavalry::drivers {

std::string_view ErrnoCode(int error) {
  if (error == 0) return "closed_by_peer";
  // No free port for this destination: the generator's limit, not the server's.
  if (error == EADDRNOTAVAIL) return "local_port_exhausted";
  const char* const name = strerrorname_np(error);
  return name != nullptr ? name : "unknown_errno";
}

OpResult ErrnoResult(int error, Outcome outcome) {
  OpResult result;
  result.outcome = outcome;
  result.severity = Severity::kReconnect;
  result.outcome_unknown = outcome == Outcome::kBroken;
  result.code = ErrnoCode(error);
  const char* const text = error == 0 ? nullptr : strerrordesc_np(error);
  result.text = error == 0               ? "the peer closed the connection"
                : error == EADDRNOTAVAIL ? "no free local port for this destination: use Unix "
                                           "sockets, or keep connections"
                : text != nullptr        ? text
                                         : "";
  return result;
}

}  // namespace cavalry::drivers
