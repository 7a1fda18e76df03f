// Socket addresses of an endpoint, looked up once before the step. Immutable; any thread.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

struct EndpointAddress {
  std::string label;  // for messages
  bool is_unix = false;
  std::vector<SocketAddress> addresses;  // at least one; attempts take them in turn
};

// Looks the endpoint's name up (blocking). Fails with the resolver's words.
StatusOr<EndpointAddress> ResolveEndpoint(const Endpoint& endpoint);

// Begins a connection without waiting. On return `error` is 0: connected; EINPROGRESS: wait for
// POLLOUT, then ask ConnectError(); else it failed (EAGAIN: a Unix listener's queue is full).
UniqueFd BeginConnect(const EndpointAddress& endpoint, std::size_t attempt, int* error);

// What became of a connection that was in progress: 0 or an errno.
int ConnectError(int socket);

}  // namespace cavalry::drivers
