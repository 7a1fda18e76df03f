#include "agent/phases/targets.h"

namespace cavalry::agent {

StatusOr<std::unique_ptr<drivers::Admin>> ConnectAdmin(const v1::Workload& workload,
                                                       std::string_view target) {
  CAVALRY_ASSIGN_OR_RETURN(TargetPlan plan, MakeTargetPlan(workload, target));
  if (!plan.driver->owns_tables()) {
    return InvalidArgument(
        "{}: a {} target cannot create, fill or read back tables; name one that "
        "can (tables_of, audit.via)",
        target, plan.driver->kind());
  }
  CAVALRY_RETURN_IF_ERROR(ResolveSecrets(workload, plan.driver->kind(), &plan.settings));
  CAVALRY_ASSIGN_OR_RETURN(std::unique_ptr<drivers::Admin> admin,
                           plan.driver->NewAdmin(plan.settings));
  CAVALRY_RETURN_IF_ERROR(Annotate(admin->Connect(), target));
  return admin;
}

Status ResolveSecrets(const v1::Workload& workload, std::string_view kind, Settings* settings) {
  for (Setting& setting : settings->all()) {
    if (setting.from.empty()) continue;
    // A target may not ask itself or in a circle: only owners of tables are asked, and theirs is
    // checked first.
    CAVALRY_ASSIGN_OR_RETURN(const TargetPlan source, MakeTargetPlan(workload, setting.from));
    for (const Setting& inner : source.settings.all()) {
      if (!inner.from.empty()) {
        return InvalidArgument("{}: '{}' is itself asked of another target", setting.from,
                               inner.name);
      }
    }
    CAVALRY_ASSIGN_OR_RETURN(const std::unique_ptr<drivers::Admin> admin,
                             ConnectAdmin(workload, setting.from));
    auto secret = admin->LookUpSecret(kind, setting.name);
    if (!secret.ok()) {
      return Annotate(secret.status(), fmt::format("{} from {}", setting.name, setting.from));
    }
    setting.value = *std::move(secret);
    setting.from.clear();
  }
  return absl::OkStatus();
}

}  // namespace cavalry::agent
