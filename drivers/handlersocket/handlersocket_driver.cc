#include "drivers/handlersocket/handlersocket_driver.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "drivers/handlersocket/handlersocket_factory.h"
#include "drivers/handlersocket/plan_check.h"
#include "drivers/handlersocket/plan_warnings.h"

namespace cavalry::drivers::handlersocket {
namespace {

// One connection to each port.
constexpr std::uint32_t kFilesPerSession = 2;

class HandlerSocketDriver final : public Driver {
 public:
  std::string_view kind() const override { return "handlersocket"; }

  const std::vector<OperationKind>& operations() const override { return operations_; }

  bool pipelines() const override { return true; }
  std::uint32_t files_per_session() const override { return kFilesPerSession; }
  bool owns_tables() const override { return false; }

  Status Check(const Settings& settings,
               const std::vector<OperationPlan>& operations) const override {
    CAVALRY_ASSIGN_OR_RETURN(const Options options, ReadOptions(settings));
    if (options.host.empty()) return InvalidArgument("handlersocket: host is empty");
    // The database may still be to come from the target in tables_of.
    if (!options.database.empty()) {
      CAVALRY_RETURN_IF_ERROR(CheckName("database", options.database, false));
    }
    for (const OperationPlan& plan : operations) CAVALRY_RETURN_IF_ERROR(CheckOperation(plan));
    return absl::OkStatus();
  }

  std::vector<std::string> Warnings(const Settings& /*settings*/,
                                    const std::vector<OperationPlan>& operations) const override {
    std::vector<std::string> warnings;
    for (const OperationPlan& plan : operations) AddWarnings(plan, &warnings);
    return warnings;
  }

  StatusOr<ClientFactory> NewClientFactory(const ClientConfig& config) const override {
    CAVALRY_ASSIGN_OR_RETURN(const Options options, ReadOptions(*config.settings));
    if (options.database.empty()) {
      return InvalidArgument(
          "handlersocket: no database: set it, or name in tables_of the mysql target whose "
          "database holds the tables");
    }
    CAVALRY_RETURN_IF_ERROR(CheckName("database", options.database, false));
    std::unique_ptr<CodecFactory> factory =
        std::make_unique<HandlerSocketFactory>(options, *config.operations);
    return ClientFactory(std::move(factory));
  }

  StatusOr<std::unique_ptr<Admin>> NewAdmin(const Settings& /*settings*/) const override {
    return FailedPrecondition(
        "handlersocket creates and reads back no tables: name a mysql target in tables_of");
  }

 private:
  const std::vector<OperationKind> operations_ = {
      OperationKind::kRead,     OperationKind::kMultiRead, OperationKind::kScan,
      OperationKind::kInsert,   OperationKind::kUpdate,    OperationKind::kDelete,
      OperationKind::kIncrement};
};

}  // namespace

const Driver& GetDriver() {
  static const HandlerSocketDriver driver;
  return driver;
}

}  // namespace cavalry::drivers::handlersocket
