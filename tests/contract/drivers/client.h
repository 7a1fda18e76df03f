// One session's client of any driver, of whichever model, for the contract's tests: blocking, with
// results that outlive the next call. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/settings.h"
#include "drivers/core/blocking_channel.h"
#include "drivers/core/driver.h"

namespace cavalry::driver_contract {

using Row = std::vector<std::optional<std::string>>;  // nothing: NULL

// Result and rows of one operation.
struct Done {
  Outcome outcome = Outcome::kOk;
  Severity severity = Severity::kNormal;
  bool outcome_unknown = false;
  std::uint32_t row_count = 0;  // as the driver counts
  std::uint64_t bytes = 0;
  std::string code;
  std::string text;
  std::vector<Row> rows;
};
// For messages of tests.
std::ostream& operator<<(std::ostream& out, const Done& done);

struct Timeouts {
  Nanos connect = 10 * kSecond;
  Nanos operation = 10 * kSecond;
};

class Client {
 public:
  // Checks and makes a client that is not connected. `plans` must outlive it and stay as they are.
  static StatusOr<std::unique_ptr<Client>> Make(const drivers::Driver& driver, Settings settings,
                                                const std::vector<drivers::OperationPlan>& plans,
                                                Timeouts timeouts = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Makes the connections to all endpoints that the plans go to; also after some were lost.
  Status Connect();
  Done Run(const drivers::Operation& operation);
  // All of them, up to 64 in flight where the driver can; results in the order of the operations.
  std::vector<Done> RunAll(const std::vector<drivers::Operation>& operations);
  void Close();

 private:
  Client(Settings settings, const std::vector<drivers::OperationPlan>& plans, Timeouts timeouts)
      : settings_(std::move(settings)), plans_(plans), timeouts_(timeouts) {}

  drivers::OpResult Drive(drivers::PollStep step);
  drivers::BlockingChannel* ChannelFor(const drivers::Operation& operation);

  const Settings settings_;
  const std::vector<drivers::OperationPlan>& plans_;
  const Timeouts timeouts_;
  // Of one of the models.
  std::unique_ptr<drivers::CodecFactory> codecs_;
  std::unique_ptr<drivers::Router> router_;
  std::vector<std::unique_ptr<drivers::BlockingChannel>> channels_;  // by endpoint; null: none
  std::unique_ptr<drivers::PollableFactory> pollables_;
  std::unique_ptr<drivers::PollableClient> pollable_;
  std::unique_ptr<drivers::BlockingFactory> blockings_;
  std::unique_ptr<drivers::BlockingClient> blocking_;
};

}  // namespace cavalry::driver_contract
