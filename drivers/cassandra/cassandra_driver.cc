#include "drivers/cassandra/cassandra_driver.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "drivers/cassandra/cassandra_admin.h"
#include "drivers/cassandra/cassandra_factory.h"
#include "drivers/cassandra/cluster.h"
#include "drivers/cassandra/statement_check.h"
#include "drivers/cassandra/target_options.h"

namespace cavalry::drivers::cassandra {
namespace {

class CassandraDriver final : public Driver {
 public:
  std::string_view kind() const override { return "cassandra"; }

  const std::vector<OperationKind>& operations() const override { return operations_; }

  bool pipelines() const override { return true; }
  // Sessions have no connections of their own: a worker's share `connections` to each node, which
  // the agent's allowance for other files covers.
  std::uint32_t files_per_session() const override { return 0; }
  bool owns_tables() const override { return true; }

  Status Check(const Settings& settings,
               const std::vector<OperationPlan>& operations) const override {
    CAVALRY_ASSIGN_OR_RETURN(const TargetOptions options, ReadOptions(settings));
    std::set<const TableSchema*> checked;
    for (const OperationPlan& operation : operations) {
      if (operation.table != nullptr && checked.insert(operation.table).second) {
        CAVALRY_RETURN_IF_ERROR(CheckTable(*operation.table));
      }
      CAVALRY_RETURN_IF_ERROR(CheckOperation(options.statements, operation));
    }
    return absl::OkStatus();
  }

  std::vector<std::string> Warnings(const Settings& settings,
                                    const std::vector<OperationPlan>& operations) const override {
    std::vector<std::string> warnings;
    const StatementOptions options = StatementOptions::FromSettings(settings);
    if (settings.Text("compression", "none") == "snappy" && !settings.Has("protocol_version")) {
      warnings.emplace_back("compression: snappy goes with protocol version 4, which is used");
    }
    std::set<const TableSchema*> told;
    for (const OperationPlan& operation : operations) {
      if (operation.table != nullptr && told.insert(operation.table).second) {
        AddTableWarnings(*operation.table, &warnings);
      }
      AddWarnings(options, operation, &warnings);
    }
    return warnings;
  }

  StatusOr<ClientFactory> NewClientFactory(const ClientConfig& config) const override {
    CAVALRY_ASSIGN_OR_RETURN(const TargetOptions options, ReadOptions(*config.settings));
    CassandraFactory::Found found;
    CAVALRY_ASSIGN_OR_RETURN(found.tls, TlsContext::FromSettings(*config.settings));
    CAVALRY_ASSIGN_OR_RETURN(Cluster cluster,
                             OpenCluster(options, {options.codec, found.tls, config.connect_timeout,
                                                   config.operation_timeout}));
    found.topology = std::move(cluster.topology);
    found.datacenter = std::move(cluster.datacenter);
    found.codec = std::move(cluster.connect.codec);
    std::unique_ptr<CodecFactory> factory =
        std::make_unique<CassandraFactory>(options, std::move(found), *config.operations);
    return ClientFactory(std::move(factory));
  }

  StatusOr<std::unique_ptr<Admin>> NewAdmin(const Settings& settings) const override {
    CAVALRY_ASSIGN_OR_RETURN(TargetOptions options, ReadOptions(settings));
    CAVALRY_ASSIGN_OR_RETURN(std::shared_ptr<const TlsContext> tls,
                             TlsContext::FromSettings(settings));
    return NewCassandraAdmin(std::move(options), std::move(tls));
  }

 private:
  const std::vector<OperationKind> operations_ = {OperationKind::kRead,   OperationKind::kMultiRead,
                                                  OperationKind::kScan,   OperationKind::kInsert,
                                                  OperationKind::kUpdate, OperationKind::kDelete,
                                                  OperationKind::kNative};
};

}  // namespace

const Driver& GetDriver() {
  static const CassandraDriver driver;
  return driver;
}

}  // namespace cavalry::drivers::cassandra
