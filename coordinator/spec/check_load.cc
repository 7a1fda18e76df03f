#include "coordinator/spec/checker.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/clock.h"
#include "core/wire/operation_keys.h"

namespace cavalry::spec {
namespace {

constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxPipeline = 1'024;
constexpr std::uint32_t kMaxRetries = 1'000;
constexpr std::uint64_t kMaxDuration = 366ULL * 24 * 3'600 * kSecond;

void CheckDuration(const std::string& path, bool given, std::uint64_t value, bool may_be_zero,
                   Checker* checker) {
  if (!given) return;
  if (value == 0 && !may_be_zero) checker->Fault(path, "must be above 0");
  if (value > kMaxDuration) checker->Fault(path, "is longer than a year");
}

// As written: a bound that is left out is none.
void CheckStopAfter(const std::string& path, const v1::StopAfter& stop, Checker* checker) {
  if (!stop.has_duration() && !stop.has_iterations() && !stop.has_passes()) {
    checker->Fault(path, "needs one of: duration, iterations, passes");
  }
  CheckDuration(path + ".duration", stop.has_duration(), stop.duration(), false, checker);
  if (stop.has_iterations() && stop.iterations() == 0) {
    checker->Fault(path + ".iterations", "must be at least 1; leave it out for no bound");
  }
  if (stop.has_passes() && stop.passes() == 0) {
    checker->Fault(path + ".passes", "must be at least 1; leave it out for no bound");
  }
}

// What a load says itself.
void CheckValues(const std::string& path, const v1::Load& load, Checker* checker) {
  if (load.has_sessions()) {
    CheckPositive(path + ".sessions", load.sessions(), kMaxSessions, checker);
  }
  if (load.has_pipeline()) {
    CheckPositive(path + ".pipeline", load.pipeline(), kMaxPipeline, checker);
  }
  if (load.has_connect_rate()) {
    CheckPositive(path + ".connect_rate", load.connect_rate(), kMaxSessions, checker);
  }
  CheckDuration(path + ".warmup", load.has_warmup(), load.warmup(), true, checker);
  CheckDuration(path + ".operation_timeout", load.has_operation_timeout(), load.operation_timeout(),
                false, checker);
  CheckDuration(path + ".connect_timeout", load.has_connect_timeout(), load.connect_timeout(),
                false, checker);
  CheckDuration(path + ".drain_timeout", load.has_drain_timeout(), load.drain_timeout(), true,
                checker);
  CheckDuration(path + ".think_time", load.has_think_time(), load.think_time(), true, checker);
  if (load.retries() > kMaxRetries) {
    checker->Fault(path + ".retries", "{} is too large: at most {}", load.retries(), kMaxRetries);
  }
  if (load.has_stop_after()) CheckStopAfter(path + ".stop_after", load.stop_after(), checker);
  if (!load.has_pool()) return;
  CheckPositive(path + ".pool.size", load.pool().size(), kMaxSessions, checker);
  if (load.pool().overflow() > kMaxSessions) {
    checker->Fault(path + ".pool.overflow", "{} is too large: at most {}", load.pool().overflow(),
                   kMaxSessions);
  }
}

// What a session with several operations in flight cannot do; "" if all of it can be.
std::string HinderingPipeline(const v1::Workload& workload) {
  const v1::Load& load = workload.load();
  if (load.has_pool()) return "a pool";
  if (load.connections() == v1::CONNECTION_USE_PER_ITERATION) return "connections: per_iteration";
  if (load.think_time() > 0) return "think_time";
  for (const std::string& name : OperationsOfScript(workload)) {
    for (const v1::OperationSpec& operation : workload.operations()) {
      if (operation.name() != name) continue;
      const bool on_table = wire::KeysOf(operation) != nullptr || operation.has_insert();
      if (!on_table) return fmt::format("'{}' in the script", name);
    }
  }
  return "";
}

void CheckPasses(const std::string& path, const v1::Workload& workload, Checker* checker) {
  if (workload.script().mix_size() > 0) {
    checker->Fault(path,
                   "a pass is over the keys of the script's first operation, and a mix has "
                   "no first one; use iterations");
  } else if (workload.script().steps_size() > 0 && PassOperation(workload) == nullptr) {
    checker->Fault(path,
                   "a pass is over the keys of the script's first operation, and that draws "
                   "none of a known number; use iterations");
  }
}

// Sessions of a cassandra target have no connections of their own.
void CheckSharedConnections(const std::string& path, const v1::Workload& workload,
                            Checker* checker) {
  const v1::Load& load = workload.load();
  const bool per_iteration = load.connections() == v1::CONNECTION_USE_PER_ITERATION;
  if (!load.has_pool() && !per_iteration) return;
  for (const v1::Target& target : workload.targets()) {
    if (!target.has_cassandra() || !IsLoaded(target)) continue;
    checker->Fault(path + (load.has_pool() ? ".pool" : ".connections"),
                   "the sessions of '{}' share connections, so neither a pool nor connections per "
                   "iteration go with it; leave it out, or give this target load: false",
                   target.name());
  }
}

// How load and script of a workload (with defaults, without stages) go together. `path`: of the
// load.
void CheckTogether(const std::string& path, const v1::Workload& workload, Checker* checker) {
  const v1::Load& load = workload.load();
  if (load.pipeline() > 1) {
    const std::string hindering = HinderingPipeline(workload);
    if (!hindering.empty()) {
      checker->Fault(path + ".pipeline", "several operations in flight do not go with {}",
                     hindering);
    }
  }
  if (load.has_pool() && load.connections() == v1::CONNECTION_USE_PER_ITERATION) {
    checker->Fault(path + ".pool",
                   "a pool keeps connections, 'connections: per_iteration' does "
                   "not; keep one of them");
  }
  CheckSharedConnections(path, workload, checker);
  if (load.stop_after().has_passes()) CheckPasses(path + ".stop_after.passes", workload, checker);
  for (const v1::Condition& condition : workload.conditions()) {
    if (!condition.stop_after().has_passes()) continue;
    CheckPasses(fmt::format("conditions.{}.stop_after.passes", condition.name()), workload,
                checker);
  }
}

void CheckConditionLoads(Checker* checker) {
  for (const v1::Condition& condition : checker->written().conditions()) {
    const std::string path = fmt::format("conditions.{}", condition.name());
    CheckDuration(path + ".warmup", condition.has_warmup(), condition.warmup(), true, checker);
    if (condition.has_stop_after()) {
      CheckStopAfter(path + ".stop_after", condition.stop_after(), checker);
    }
  }
}

}  // namespace

void CheckLoads(Checker* checker) {
  const v1::Workload& written = checker->written();
  const v1::Workload& filled = checker->filled();
  CheckValues("load", written.load(), checker);
  CheckConditionLoads(checker);
  if (written.stages_size() == 0) {
    CheckTogether("load", filled, checker);
    return;
  }
  for (int i = 0; i < written.stages_size(); ++i) {
    const std::string path = fmt::format("stages.{}.load", written.stages(i).name());
    CheckValues(path, written.stages(i).load(), checker);
    CheckTogether(path, StageWorkload(filled, i), checker);
  }
}

}  // namespace cavalry::spec
