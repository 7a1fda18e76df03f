#include "coordinator/cli/prepared_run.h"

#include "coordinator/requirements.h"
#include "coordinator/run_session.h"
#include "coordinator/spec/override.h"
#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"

namespace cavalry::cli {
namespace {

// Guesses, as seen with a server on the same machine.
constexpr Nanos kStepOverhead = 600 * kMillisecond;  // connects, the start instant, the drain
constexpr std::uint64_t kFillRowsPerSecond = 50'000;

}  // namespace

StatusOr<PreparedRun> PrepareRun(const std::string& spec_path,
                                 const std::vector<std::string>& assignments) {
  CAVALRY_ASSIGN_OR_RETURN(spec::SpecDocument document, spec::LoadSpec(spec_path));
  for (const std::string& assignment : assignments) {
    CAVALRY_RETURN_IF_ERROR(spec::ApplyAssignment(&document, assignment));
  }
  CAVALRY_RETURN_IF_ERROR(spec::CheckSpec(document));
  CAVALRY_RETURN_IF_ERROR(spec::ResolveSecrets(&document));
  PreparedRun prepared;
  CAVALRY_ASSIGN_OR_RETURN(prepared.steps, run::MakeSchedule(document));
  prepared.workload = std::move(document.workload);
  spec::ApplyDefaults(&prepared.workload);
  prepared.expected = ExpectedRunTime(prepared.workload, prepared.steps);
  return prepared;
}

Nanos ExpectedRunTime(const v1::Workload& workload, const std::vector<run::PlannedStep>& steps) {
  Nanos expected = 0;
  for (const run::PlannedStep& step : steps) {
    expected += run::ExpectedLoadTime(step.workload) + kStepOverhead;
  }
  if (workload.reset() == v1::RESET_NEVER) return expected;
  const std::vector<std::string> owners = spec::TableOwners(workload);
  std::uint64_t rows = 0;
  for (const v1::Table& table : workload.tables()) {
    if (table.existing() != v1::EXISTING_USE) rows += table.rows() * owners.size();
  }
  const bool every_step = workload.reset() == v1::RESET_STEP && spec::ScriptWrites(workload);
  if (every_step) rows = rows / owners.size() * steps.size();
  return expected + static_cast<Nanos>(rows / kFillRowsPerSecond) * kSecond;
}

run::RunEngine::Options EngineOptions(const PreparedRun& prepared, std::size_t agents,
                                      bool strict) {
  run::RunEngine::Options options;
  options.plan.run_id = coordinator::RandomToken();
  options.plan.workload = prepared.workload;
  options.plan.steps = prepared.steps;
  options.plan.agents = agents;
  options.registry.run_id = options.plan.run_id;
  options.registry.version = CAVALRY_VERSION;
  options.registry.agents = agents;
  options.registry.requirements = coordinator::RequirementsOf(options.plan);

  v1::RunStarted& started = options.started;
  started.set_run_id(options.plan.run_id);
  *started.mutable_workload() = spec::RedactSecrets(prepared.workload);
  for (const run::PlannedStep& step : prepared.steps) *started.add_steps() = step.step;
  started.set_version(CAVALRY_VERSION);
  for (const std::string& threshold : prepared.workload.thresholds()) {
    started.add_thresholds(threshold);
  }
  started.set_strict(strict);
  started.set_expected_ns(static_cast<std::uint64_t>(prepared.expected));
  return options;
}

}  // namespace cavalry::cli
