#include "drivers/mysql/mysql_driver.h"

#include <algorithm>
#include <set>

#include "drivers/mysql/mysql_admin.h"
#include "drivers/mysql/mysql_client.h"

namespace cavalry::drivers::mysql {
namespace {

// Placeholders of one prepared statement (the protocol counts them in 16 bits).
constexpr std::size_t kMaxParameters = 65'535;

class MysqlFactory final : public PollableFactory {
 public:
  explicit MysqlFactory(SessionPlan plan) : plan_(std::move(plan)) {}

  void EnterThread() const override { mysql_thread_init(); }
  void LeaveThread() const override { mysql_thread_end(); }
  std::unique_ptr<PollableClient> NewClient() const override {
    return std::make_unique<MysqlClient>(plan_);
  }

 private:
  const SessionPlan plan_;
};

bool IsPrepared(const Settings& settings) {
  return settings.Text("statements", "text") == "prepared";
}

Status CheckTable(const TableSchema& table) {
  CAVALRY_RETURN_IF_ERROR(CheckName("table", table.name));
  for (const Column& column : table.columns) {
    CAVALRY_RETURN_IF_ERROR(
        CheckName(fmt::format("table \"{}\", column", table.name), column.name));
  }
  const bool plain_engine =
      !table.engine.empty() && std::all_of(table.engine.begin(), table.engine.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
      });
  if (!plain_engine) {
    return InvalidArgument("table \"{}\": engine \"{}\" is no engine's name, such as InnoDB",
                           table.name, table.engine);
  }
  return absl::OkStatus();
}

class MysqlDriver final : public Driver {
 public:
  std::string_view kind() const override { return "mysql"; }

  const std::vector<OperationKind>& operations() const override {
    static const std::vector<OperationKind> operations = {
        OperationKind::kRead, OperationKind::kInsert, OperationKind::kUpdate,
        OperationKind::kDelete};
    return operations;
  }

  bool pipelines() const override { return false; }
  std::uint32_t files_per_session() const override { return 1; }
  bool owns_tables() const override { return true; }

  Status Check(const Settings& settings,
               const std::vector<OperationPlan>& operations) const override {
    CAVALRY_ASSIGN_OR_RETURN(const ServerAddress address, ReadServerAddress(settings));
    CAVALRY_RETURN_IF_ERROR(CheckName("database", address.database));
    std::set<const TableSchema*> checked;
    for (const OperationPlan& operation : operations) {
      if (checked.insert(operation.table).second) {
        CAVALRY_RETURN_IF_ERROR(CheckTable(*operation.table));
      }
      if (operation.columns.size() >= kMaxParameters) {
        return InvalidArgument("operation \"{}\": {} columns, but a statement carries {} values",
                               operation.name, operation.columns.size(), kMaxParameters);
      }
    }
    return absl::OkStatus();
  }

  std::vector<std::string> Warnings(
      const Settings& settings, const std::vector<OperationPlan>& /*operations*/) const override {
    std::vector<std::string> warnings;
    const bool is_unix = settings.Text("transport", "tcp") == "unix";
    if (!is_unix && settings.Has("socket")) {
      warnings.emplace_back(
          "socket is set, but transport is tcp, so TCP is used; write transport: unix to use the "
          "socket");
    }
    if (is_unix && (settings.Has("host") || settings.Has("port"))) {
      warnings.emplace_back("host and port are set, but transport is unix, so the socket is used");
    }
    return warnings;
  }

  StatusOr<ClientFactory> NewClientFactory(const ClientConfig& config) const override {
    SessionPlan plan;
    CAVALRY_ASSIGN_OR_RETURN(plan.address, ReadServerAddress(*config.settings));
    CAVALRY_RETURN_IF_ERROR(Resolve(&plan.address));
    plan.prepared = IsPrepared(*config.settings);
    plan.connect_timeout = config.connect_timeout;
    for (const OperationPlan& operation : *config.operations) {
      if (plan.statements.size() <= operation.index) plan.statements.resize(operation.index + 1);
      plan.statements[operation.index].emplace(operation);
    }
    InitializeLibrary();
    return ClientFactory(std::make_unique<MysqlFactory>(std::move(plan)));
  }

  StatusOr<std::unique_ptr<Admin>> NewAdmin(const Settings& settings) const override {
    AdminConfig config;
    CAVALRY_ASSIGN_OR_RETURN(config.address, ReadServerAddress(settings));
    config.prepared = IsPrepared(settings);
    InitializeLibrary();
    return NewMysqlAdmin(std::move(config));
  }
};

}  // namespace

const Driver& GetDriver() {
  static const MysqlDriver driver;
  return driver;
}

}  // namespace cavalry::drivers::mysql
