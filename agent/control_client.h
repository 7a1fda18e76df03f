// The agent's end of the one stream to its coordinator; the only file of the agent that knows gRPC.
// Open, then Send and Receive. Send from any thread: it queues and never waits; one writer thread
// owns Write. Receive from one thread. The destructor cancels the stream and joins.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cavalry/v1/control.pb.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::agent {

inline constexpr std::size_t kMaxQueuedMessages = 4096;
inline constexpr int kMaxMessageBytes = 64 * 1024 * 1024;

class ControlClient {
 public:
  // Dials `address` ("host:port"); fails when it has not answered after `timeout`.
  static StatusOr<std::unique_ptr<ControlClient>> Open(const std::string& address, Nanos timeout);
  ~ControlClient();

  // False when the stream has ended or kMaxQueuedMessages wait (then the stream is ended too: a
  // coordinator that reads nothing for so long is as good as gone).
  bool Send(v1::FromAgent message);

  // The next message, or nothing when the monotonic `deadline` passed or the stream has ended.
  std::optional<v1::ToAgent> Receive(Nanos deadline);

  bool ended() const;

  // Waits until everything queued has been written, or the monotonic `deadline` passed.
  void Flush(Nanos deadline);

 private:
  struct Impl;
  explicit ControlClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cavalry::agent
