// How the coordinator's single thread sees its agents' streams: events that arrived, messages to
// send. The real one is control_service (gRPC); tests have a scripted one. Each stream has its own
// number, never used again.
#pragma once

#include <cstdint>
#include <string>

#include "cavalry/v1/control.pb.h"
#include "core/base/clock.h"

namespace cavalry::coordinator {

using StreamId = std::uint64_t;

struct ControlEvent {
  enum class Kind : std::uint8_t { kOpened, kMessage, kClosed };
  StreamId stream = 0;
  Kind kind = Kind::kOpened;
  Nanos at = 0;           // our clock, when it happened (not when it is handled)
  v1::FromAgent message;  // of kMessage
  std::string reason;     // of kClosed
};

class ControlLink {
 public:
  virtual ~ControlLink() = default;

  // Queues a message. A stream that is gone ignores it; one whose queue is full is closed, since
  // its agent reads nothing.
  virtual void Send(StreamId stream, const v1::ToAgent& message) = 0;
  // Ends the stream: at once, or when everything queued has been written.
  virtual void Close(StreamId stream, bool after_writing) = 0;
};

}  // namespace cavalry::coordinator
