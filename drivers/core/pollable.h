// Client model "pollable": a client library that owns its socket and tells what to wait for
// (Connector/C's _start/_cont). One object is one connection; one operation at a time; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers {

// Events, as poll(2) names them, so that a loop can pass them on.
struct Wait {
  int fd = -1;
  short events = 0;   // POLLIN | POLLOUT | POLLPRI; 0: only the timeout
  Nanos timeout = 0;  // the library's own timer; 0: none
};

struct PollStep {
  bool done = false;
  Wait wait;        // when not done
  OpResult result;  // when done
};

class PollableClient {
 public:
  // May close the socket at once without farewell (an operation given up). REQUIRES: no poll on its
  // descriptor is pending.
  virtual ~PollableClient() = default;

  // Connects, authenticates and prepares statements. Result ok: ready for operations.
  virtual PollStep StartConnect() = 0;
  // REQUIRES: connected, nothing in progress. The operation's bytes must live until done.
  virtual PollStep Start(const Operation& operation) = 0;
  // Goes on after `events` (as in Wait; really happened), or 0 with `timed_out` when Wait::timeout
  // passed. REQUIRES: the last step was not done.
  virtual PollStep Continue(short events, bool timed_out) = 0;
  // Farewell: closes in order. Done at once when not connected. Afterwards StartConnect or
  // destruction.
  virtual PollStep StartClose() = 0;
  // What the last operation sent, as a person reads it (--trace); valid until the next Start.
  virtual std::string_view request_text() const { return {}; }
};

// Made once per step and target; workers call NewClient from their own threads.
class PollableFactory {
 public:
  virtual ~PollableFactory() = default;
  // Called at the start and end of each worker thread (mysql_thread_init/_end).
  virtual void EnterThread() const = 0;
  virtual void LeaveThread() const = 0;
  virtual std::unique_ptr<PollableClient> NewClient() const = 0;
};

}  // namespace cavalry::drivers
