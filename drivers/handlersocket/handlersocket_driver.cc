#include "drivers/handlersocket/handlersocket_driver.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "drivers/handlersocket/handlersocket_factory.h"
#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

// One connection to each port.
constexpr std::uint32_t kFilesPerSession = 2;

// open_index names are not escaped, so some bytes cannot be in them; a comma parts columns.
Status CheckName(std::string_view what, std::string_view name, bool in_list) {
  if (name.empty()) return InvalidArgument("handlersocket: a {} has no name", what);
  if (FindByteKinds(name).needs_escape) {
    return InvalidArgument(
        "handlersocket: {} \"{}\" holds a control character, which HandlerSocket cannot take in a "
        "name; rename it",
        what, name);
  }
  if (in_list && name.find(',') != std::string_view::npos) {
    return InvalidArgument(
        "handlersocket: {} \"{}\" holds a comma, which HandlerSocket cannot take in a column's "
        "name; rename it or leave it out",
        what, name);
  }
  return absl::OkStatus();
}

Status CheckColumns(const OperationPlan& plan) {
  const TableSchema& table = *plan.table;
  for (const std::uint32_t column : plan.columns) {
    if (column >= table.columns.size()) {
      return InvalidArgument("handlersocket: operation {}: table {} has no column number {}",
                             plan.name, table.name, column);
    }
    CAVALRY_RETURN_IF_ERROR(CheckName(fmt::format("operation {}: column", plan.name),
                                      table.columns[column].name, true));
  }
  if (plan.columns.empty() && plan.kind != OperationKind::kDelete) {
    return InvalidArgument("handlersocket: operation {}: a {} needs at least one column", plan.name,
                           OperationKindName(plan.kind));
  }
  if (plan.kind == OperationKind::kInsert && plan.columns.size() != table.columns.size()) {
    return InvalidArgument(
        "handlersocket: operation {}: an insert must list all {} columns of {}: HandlerSocket runs "
        "no defaults and would put 0 or '' where SQL puts NULL",
        plan.name, table.columns.size(), table.name);
  }
  return absl::OkStatus();
}

Status CheckOperation(const OperationPlan& plan) {
  if (plan.table == nullptr) {
    return InvalidArgument("handlersocket: operation {} names no table", plan.name);
  }
  const TableSchema& table = *plan.table;
  CAVALRY_RETURN_IF_ERROR(
      CheckName(fmt::format("operation {}: table", plan.name), table.name, false));
  if (table.key_columns.front() >= table.columns.size() ||
      !table.key_column().type.is_integer()) {
    return InvalidArgument("handlersocket: table {}: the primary key must be an integer column",
                           table.name);
  }
  CAVALRY_RETURN_IF_ERROR(CheckName(fmt::format("table {}: key column", table.name),
                                    table.key_column().name, true));
  return CheckColumns(plan);
}

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
    for (const OperationPlan& plan : operations) {
      if (plan.table == nullptr || !plan.table->use_as_is || PortOf(plan.kind) == Port::kRead) {
        continue;
      }
      // A table of cavalry's own making has none of these.
      warnings.push_back(fmt::format(
          "operation {}: HandlerSocket runs no triggers, CHECK constraints, DEFAULT "
          "CURRENT_TIMESTAMP or ON UPDATE of table {}, and gives columns that the spec does not "
          "list 0 or '' instead of NULL",
          plan.name, plan.table->name));
    }
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
  const std::vector<OperationKind> operations_ = {OperationKind::kRead, OperationKind::kInsert,
                                                  OperationKind::kUpdate, OperationKind::kDelete};
};

}  // namespace

const Driver& GetDriver() {
  static const HandlerSocketDriver driver;
  return driver;
}

}  // namespace cavalry::drivers::handlersocket
