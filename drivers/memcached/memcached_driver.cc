#include "drivers/memcached/memcached_driver.h"

#include <utility>

#include <fmt/format.h>

#include "drivers/memcached/memcached_admin.h"
#include "drivers/memcached/memcached_factory.h"

namespace cavalry::drivers::memcached {
namespace {

// Beyond it a run with blocks of connections to each server is hardly meant.
constexpr std::size_t kMaxServers = 256;

class MemcachedDriver final : public Driver {
 public:
  std::string_view kind() const override { return "memcached"; }
  const std::vector<OperationKind>& operations() const override { return operations_; }
  bool pipelines() const override { return true; }
  // One to each server; how many there are is checked again where connections are made.
  std::uint32_t files_per_session() const override { return 1; }
  bool owns_tables() const override { return true; }
  bool replaces_rows() const override { return true; }

  Status Check(const Settings& settings,
               const std::vector<OperationPlan>& operations) const override {
    CAVALRY_ASSIGN_OR_RETURN(const Options options, ReadOptions(settings));
    if (options.servers.size() > kMaxServers) {
      return InvalidArgument("memcached: {} servers; at most {}", options.servers.size(),
                             kMaxServers);
    }
    for (const OperationPlan& plan : operations) {
      CAVALRY_RETURN_IF_ERROR(CheckOperation(options, plan));
    }
    return absl::OkStatus();
  }

  std::vector<std::string> Warnings(const Settings& settings,
                                    const std::vector<OperationPlan>& operations) const override {
    const auto options = ReadOptions(settings);
    std::vector<std::string> warnings;
    if (!options.ok()) return warnings;
    for (const OperationPlan& plan : operations) {
      if (options->blind && IsWrite(plan.kind)) {
        warnings.push_back(fmt::format(
            "{} asks for no answer (blind): it is reported as sent, never as ok, and errors of the "
            "server are not told",
            plan.name));
      }
    }
    return warnings;
  }

  StatusOr<ClientFactory> NewClientFactory(const ClientConfig& config) const override {
    CAVALRY_ASSIGN_OR_RETURN(Options options, ReadOptions(*config.settings));
    CAVALRY_ASSIGN_OR_RETURN(auto tls, TlsContext::FromSettings(*config.settings));
    std::vector<PlanRequest> requests;
    for (const OperationPlan& plan : *config.operations) {
      CAVALRY_ASSIGN_OR_RETURN(PlanRequest request, PlanOperation(options, plan));
      requests.push_back(std::move(request));
    }
    std::unique_ptr<CodecFactory> factory =
        std::make_unique<MemcachedFactory>(std::move(options), std::move(requests), std::move(tls));
    return ClientFactory(std::move(factory));
  }

  StatusOr<std::unique_ptr<Admin>> NewAdmin(const Settings& settings) const override {
    return NewMemcachedAdmin(settings);
  }

 private:
  const std::vector<OperationKind> operations_ = {OperationKind::kRead,   OperationKind::kMultiRead,
                                                  OperationKind::kInsert, OperationKind::kUpdate,
                                                  OperationKind::kDelete, OperationKind::kIncrement,
                                                  OperationKind::kNative};
};

}  // namespace

const Driver& GetDriver() {
  static const MemcachedDriver driver;
  return driver;
}

}  // namespace cavalry::drivers::memcached
