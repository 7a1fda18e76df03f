// A driver: everything cavalry knows of one kind of back-end. Stateless; any thread. To add one:
// see drivers/README.md.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/admin.h"
#include "drivers/core/blocking.h"
#include "drivers/core/codec.h"
#include "drivers/core/operation.h"
#include "drivers/core/pollable.h"

namespace cavalry::drivers {

// What a client is made from. All of it must outlive the clients.
struct ClientConfig {
  const Settings* settings = nullptr;  // secrets resolved, database set
  const std::vector<OperationPlan>* operations = nullptr;
  Nanos connect_timeout = 5 * kSecond;
  Nanos operation_timeout = 10 * kSecond;
};

using ClientFactory = std::variant<std::unique_ptr<CodecFactory>, std::unique_ptr<PollableFactory>,
                                   std::unique_ptr<BlockingFactory>>;

class Driver {
 public:
  virtual ~Driver() = default;

  virtual std::string_view kind() const = 0;  // "mysql"
  virtual const std::vector<OperationKind>& operations() const = 0;
  virtual bool pipelines() const = 0;
  // Open files per session at most; 0: sessions share connections, a few a worker.
  virtual std::uint32_t files_per_session() const = 0;
  // Whether targets of this kind create, fill and audit tables.
  virtual bool owns_tables() const = 0;
  // Whether a write replaces the row whole, as under a key-value store: updates then come with all
  // columns but the key's, those that the spec does not set as they were filled.
  virtual bool replaces_rows() const { return false; }
  // Whether some operations end as sent, under these settings.
  virtual bool asks_for_no_answer(const Settings& /*settings*/) const { return false; }
  // The driver's own check of settings and operations, without a connection: names that cannot be
  // sent, columns it cannot write. Errors say what to change.
  virtual Status Check(const Settings& settings,
                       const std::vector<OperationPlan>& operations) const = 0;
  // Sentences worth telling before the run (columns that get no default, …).
  virtual std::vector<std::string> Warnings(const Settings& settings,
                                            const std::vector<OperationPlan>& operations) const = 0;
  // REQUIRES: Check passed. May look up names, and ask a cluster for its nodes within the connect
  // timeout; blocking.
  virtual StatusOr<ClientFactory> NewClientFactory(const ClientConfig& config) const = 0;
  // REQUIRES: owns_tables().
  virtual StatusOr<std::unique_ptr<Admin>> NewAdmin(const Settings& settings) const = 0;
};

}  // namespace cavalry::drivers
