#include "coordinator/requirements.h"

#include <algorithm>

#include <fmt/format.h>

#include "coordinator/spec/spec_check.h"
#include "core/base/units.h"

namespace cavalry::coordinator {
namespace {

std::set<std::string> OperationsUsed(const v1::Workload& workload) {
  std::set<std::string> kinds;
  for (const std::string& name : spec::OperationsOfScript(workload)) {
    for (const v1::OperationSpec& operation : workload.operations()) {
      // A sleep is the agent's own, no driver's.
      if (operation.name() != name || operation.has_sleep()) continue;
      kinds.insert(spec::KindName(operation));
      if (operation.has_begin()) kinds.insert("rollback");
    }
  }
  return kinds;
}

// Names of an agent's drivers, for a message.
std::string DriverNames(const v1::Hello& hello) {
  std::string names;
  for (const v1::DriverInfo& driver : hello.drivers()) {
    names += (names.empty() ? "" : ", ") + driver.kind();
  }
  return names.empty() ? "none" : names;
}

Status CheckRequirement(const v1::Hello& hello, const Requirement& need, std::size_t agents) {
  const auto found =
      std::find_if(hello.drivers().begin(), hello.drivers().end(),
                   [&](const v1::DriverInfo& driver) { return driver.kind() == need.driver; });
  if (found == hello.drivers().end()) {
    return FailedPrecondition(
        "target {} needs the driver {}, which this cavalry-agent was built without (it has: {})",
        need.target, need.driver, DriverNames(hello));
  }
  for (const std::string& kind : need.operations) {
    if (std::find(found->operations().begin(), found->operations().end(), kind) ==
        found->operations().end()) {
      return InvalidArgument("target {}: the driver {} cannot do the operation '{}'", need.target,
                             need.driver, kind);
    }
  }
  const std::uint64_t share = (need.sessions + agents - 1) / agents;
  const std::uint64_t files = share * found->files_per_session() + kFilesBesideSessions;
  if (files > hello.max_open_files()) {
    return FailedPrecondition(
        "{} sessions on {} need {} open files, but the agent may open {}: raise the limit (ulimit "
        "-n, "
        "or LimitNOFILE in a systemd unit), use fewer load.sessions, or more agents",
        FormatCount(share), need.target, FormatCount(files), FormatCount(hello.max_open_files()));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Requirement> RequirementsOf(const run::RunPlan& plan) {
  std::vector<Requirement> needs;
  for (const v1::Target& target : plan.workload.targets()) {
    Requirement need;
    need.target = target.name();
    need.driver = spec::DriverOf(target);
    for (const run::PlannedStep& step : plan.steps) {
      if (step.step.target() != target.name()) continue;
      need.operations.merge(OperationsUsed(step.workload));
      need.sessions = std::max<std::uint64_t>(need.sessions, step.workload.load().sessions());
    }
    needs.push_back(std::move(need));
  }
  return needs;
}

Status CheckHello(const v1::Hello& hello, const std::string& version,
                  const std::vector<Requirement>& requirements, std::size_t agents) {
  if (hello.version() != version) {
    return FailedPrecondition(
        "cavalry-agent is version {}, cavalry is {}: install the same version on every host",
        hello.version().empty() ? "unknown" : hello.version(), version);
  }
  for (const Requirement& need : requirements) {
    CAVALRY_RETURN_IF_ERROR(CheckRequirement(hello, need, agents));
  }
  return absl::OkStatus();
}

}  // namespace cavalry::coordinator
