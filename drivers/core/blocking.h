// Client model "blocking": Run() returns when the operation is done; a thread per session.
#pragma once

#include <memory>

#include "drivers/core/operation.h"

namespace cavalry::drivers {

class BlockingClient {
 public:
  virtual ~BlockingClient() = default;
  virtual OpResult Connect() = 0;
  virtual OpResult Run(const Operation& operation) = 0;
};

class BlockingFactory {
 public:
  virtual ~BlockingFactory() = default;
  virtual void EnterThread() const = 0;
  virtual void LeaveThread() const = 0;
  virtual std::unique_ptr<BlockingClient> NewClient() const = 0;
};

}  // namespace cavalry::drivers
