// A client of either model, for tests of what both must do alike.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/core/driver.h"
#include "tests/integration/mysql/fixture.h"

namespace cavalry::drivers::mysql {

class AnyClient {
 public:
  // The settings' `client` says which model. `plans` must outlive the client.
  AnyClient(Settings settings, const std::vector<OperationPlan>& plans,
            Nanos operation_timeout = 10 * kSecond, Nanos connect_timeout = 5 * kSecond);

  Result Connect();
  Result Run(const OperationPlan& plan, Key key = Key(Value::Null()),
             std::span<const Value> values = {}, RowVisitor* rows = nullptr);
  Result Close();
  std::string RequestText() const;
  // Null where the model is another.
  BlockingClient* blocking() { return blocking_.get(); }
  PollableClient* pollable() { return pollable_.get(); }

 private:
  Settings settings_;
  const std::vector<OperationPlan>& plans_;
  ClientFactory factory_;
  std::unique_ptr<PollableClient> pollable_;
  std::unique_ptr<BlockingClient> blocking_;
};

}  // namespace cavalry::drivers::mysql
