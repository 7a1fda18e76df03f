#include "drivers/mysql/mysql_driver.h"

#include <set>

#include "drivers/mysql/blocking_mysql_client.h"
#include "drivers/mysql/mysql_admin.h"
#include "drivers/mysql/mysql_client.h"
#include "drivers/mysql/operation_check.h"

namespace cavalry::drivers::mysql {
namespace {

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

class BlockingMysqlFactory final : public BlockingFactory {
 public:
  explicit BlockingMysqlFactory(SessionPlan plan)
      : plan_(std::move(plan)), watch_(plan_.operation_timeout) {}

  void EnterThread() const override { mysql_thread_init(); }
  void LeaveThread() const override { mysql_thread_end(); }
  std::unique_ptr<BlockingClient> NewClient() const override {
    return std::make_unique<BlockingMysqlClient>(plan_, &watch_);
  }

 private:
  const SessionPlan plan_;
  mutable DeadlineWatch watch_;  // thread-safe
};

bool IsPrepared(const Settings& settings) {
  return settings.Text("statements", "text") == "prepared";
}

bool IsStatement(OperationKind kind) {
  return kind != OperationKind::kResetConnection && kind != OperationKind::kChangeUser;
}

class MysqlDriver final : public Driver {
 public:
  std::string_view kind() const override { return "mysql"; }

  const std::vector<OperationKind>& operations() const override {
    static const std::vector<OperationKind> operations = {
        OperationKind::kRead,      OperationKind::kMultiRead, OperationKind::kScan,
        OperationKind::kInsert,    OperationKind::kUpdate,    OperationKind::kDelete,
        OperationKind::kIncrement, OperationKind::kNative,    OperationKind::kBegin,
        OperationKind::kCommit,    OperationKind::kRollback,  OperationKind::kResetConnection,
        OperationKind::kChangeUser};
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
      if (operation.table != nullptr && checked.insert(operation.table).second) {
        CAVALRY_RETURN_IF_ERROR(CheckTable(*operation.table));
      }
      CAVALRY_RETURN_IF_ERROR(CheckOperation(operation));
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
    if (settings.Text("client", "nonblocking") != "blocking" && settings.Has("threads")) {
      warnings.emplace_back("threads is set, but only client: blocking uses it");
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
    plan.blocking = config.settings->Text("client", "nonblocking") == "blocking";
    plan.connect_timeout = config.connect_timeout;
    plan.operation_timeout = config.operation_timeout;
    for (const OperationPlan& operation : *config.operations) {
      if (plan.statements.size() <= operation.index) plan.statements.resize(operation.index + 1);
      if (!IsStatement(operation.kind)) continue;
      const StatementTemplate& statement = plan.statements[operation.index].emplace(operation);
      // Only where it is wanted: without it, a value that should ever get out of its quotes cannot
      // become a statement of its own.
      if (statement.is_several()) plan.client_flags |= CLIENT_MULTI_STATEMENTS;
      if (operation.kind == OperationKind::kNative) plan.client_flags |= CLIENT_MULTI_RESULTS;
    }
    InitializeLibrary();
    if (plan.blocking) {
      return ClientFactory(std::make_unique<BlockingMysqlFactory>(std::move(plan)));
    }
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
