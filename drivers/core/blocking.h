// Client model "blocking": Run() returns when the operation is done; a thread per session, or one
// on which sessions take turns. One object is one connection. A thread at a time, but for
// Interrupt.
#pragma once

#include <memory>
#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers {

class BlockingClient {
 public:
  virtual ~BlockingClient() = default;
  // Connects, authenticates, prepares statements; gives up after the connect timeout. Also after a
  // lost connection and after Close.
  virtual OpResult Connect() = 0;
  // Gives up after the operation timeout, with Outcome::kTimeout and Severity::kReconnect.
  virtual OpResult Run(const Operation& operation) = 0;
  // Farewell; no-op when not connected.
  virtual void Close() = 0;
  // Makes a call of Connect or Run that another thread waits in, and all later ones, end soon.
  virtual void Interrupt() = 0;
  // What the last operation sent, as a person reads it (--trace); valid until the next Run.
  virtual std::string_view request_text() const { return {}; }
};

class BlockingFactory {
 public:
  virtual ~BlockingFactory() = default;
  virtual void EnterThread() const = 0;
  virtual void LeaveThread() const = 0;
  virtual std::unique_ptr<BlockingClient> NewClient() const = 0;
};

}  // namespace cavalry::drivers
