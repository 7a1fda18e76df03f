// A driver for tests, over LineServer's protocol, as codec, pollable or blocking client. A request
// is a letter and a key ("R 17"; B begin, C commit, K rollback); an answer "OK <rows> <insert id>",
// both optional, "MISS", "ERR <code> <text>" (rejected), "RETRY <code> <text>" (the same,
// retryable), "BYE <code> <text>" (rejected, the connection is of no further use) or "FATAL <code>
// <text>". With `greet` a client first sends "HELLO" and waits for "WELCOME". On shared connections a
// request ends in a serial number (" @7"), with which its answer begins ("@7 OK"), in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/core/driver.h"

namespace cavalry::fakes {

struct LineDriverOptions {
  std::vector<drivers::Endpoint> endpoints;  // reads go to the first, writes to the last
  bool greet = false;
  bool pollable = false;
  bool blocking = false;
  std::uint64_t unsendable_key = 0;  // Encode refuses it; 0: none
  // Connections per endpoint that sessions share; an operation goes to the endpoint of its key's
  // remainder, else to those that follow.
  std::uint32_t shared_connections = 0;
};

class LineDriver final : public drivers::Driver {
 public:
  explicit LineDriver(LineDriverOptions options) : options_(std::move(options)) {}

  std::string_view kind() const override { return "line"; }
  const std::vector<drivers::OperationKind>& operations() const override { return operations_; }
  bool pipelines() const override { return true; }
  std::uint32_t files_per_session() const override { return 2; }
  bool owns_tables() const override { return false; }
  Status Check(const Settings&, const std::vector<drivers::OperationPlan>&) const override {
    return absl::OkStatus();
  }
  std::vector<std::string> Warnings(const Settings&,
                                    const std::vector<drivers::OperationPlan>&) const override {
    return {};
  }
  StatusOr<drivers::ClientFactory> NewClientFactory(
      const drivers::ClientConfig& config) const override;
  StatusOr<std::unique_ptr<drivers::Admin>> NewAdmin(const Settings&) const override {
    return FailedPrecondition("none");
  }

 private:
  LineDriverOptions options_;
  std::vector<drivers::OperationKind> operations_;
};

}  // namespace cavalry::fakes
