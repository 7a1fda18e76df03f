#include "agent/plan.h"

#include <algorithm>
#include <cmath>

#include "agent/recipe_builder.h"
#include "agent/target_plan.h"

namespace cavalry::agent {
namespace {

constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxPipeline = 1'024;
constexpr std::uint64_t kMaxTime = 366ULL * 24 * 3'600 * kSecond;
// Numbers times what an iteration writes stay far from the end of 64 bits.
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 48;
constexpr double kMinConnectRate = 0.001;
constexpr double kMaxConnectRate = 1e6;

Status SetNumbers(const v1::Numbers& numbers, Nanos warmup, load::NumberPlan* plan) {
  *plan = {numbers.first(), std::max<std::uint64_t>(numbers.stride(), 1), std::nullopt,
           numbers.warmup_first(), numbers.warmup_stride()};
  if (numbers.has_count()) plan->count = numbers.count();
  for (const std::uint64_t number : {plan->first, plan->stride, plan->count.value_or(0),
                                     plan->warmup_first, plan->warmup_stride}) {
    if (number > kMaxNumber) return InvalidArgument("iteration number {} is too large", number);
  }
  if (plan->count && *plan->count > 0 && warmup > 0 && plan->warmup_stride == 0) {
    return InvalidArgument("a counted load with a warm-up needs numbers for the warm-up");
  }
  return absl::OkStatus();
}

Status SetTime(std::string_view what, bool given, std::uint64_t value, Nanos* time) {
  if (!given) return absl::OkStatus();
  if (value > kMaxTime) return InvalidArgument("load.{} is longer than a year", what);
  *time = static_cast<Nanos>(value);
  return absl::OkStatus();
}

Status SetTimes(const v1::Load& load, run::LoadPlan* plan) {
  CAVALRY_RETURN_IF_ERROR(SetTime("warmup", load.has_warmup(), load.warmup(), &plan->warmup));
  if (load.stop_after().has_duration()) {
    plan->duration = 0;
    CAVALRY_RETURN_IF_ERROR(
        SetTime("stop_after.duration", true, load.stop_after().duration(), &*plan->duration));
  }
  CAVALRY_RETURN_IF_ERROR(SetTime("operation_timeout", load.operation_timeout() > 0,
                                  load.operation_timeout(), &plan->operation_timeout));
  CAVALRY_RETURN_IF_ERROR(SetTime("connect_timeout", load.connect_timeout() > 0,
                                  load.connect_timeout(), &plan->connect_timeout));
  return SetTime("drain_timeout", load.has_drain_timeout(), load.drain_timeout(),
                 &plan->drain_timeout);
}

Status SetSessions(const v1::Assignment& assignment, run::LoadPlan* plan) {
  const v1::Load& load = assignment.workload().load();
  plan->sessions = assignment.sessions();
  plan->first_session = assignment.first_session();
  plan->total_sessions = std::max<std::uint32_t>(load.sessions(), 1);
  if (plan->sessions == 0) return InvalidArgument("an assignment without sessions");
  if (plan->total_sessions > kMaxSessions) {
    return InvalidArgument("{} sessions are more than {}", plan->total_sessions, kMaxSessions);
  }
  if (std::uint64_t{plan->first_session} + plan->sessions > plan->total_sessions) {
    return InvalidArgument("sessions {} to {} are not among {}", plan->first_session,
                           plan->first_session + plan->sessions, plan->total_sessions);
  }
  if (load.pipeline() > kMaxPipeline) {
    return InvalidArgument("load.pipeline {} is more than {}", load.pipeline(), kMaxPipeline);
  }
  // It applies where it can: preflight has said where not.
  plan->pipeline = plan->driver->pipelines() ? std::max<std::uint32_t>(load.pipeline(), 1) : 1;
  if (std::isfinite(assignment.connect_rate()) && assignment.connect_rate() > 0) {
    plan->connect_rate = std::clamp(assignment.connect_rate(), kMinConnectRate, kMaxConnectRate);
  }
  return absl::OkStatus();
}

constexpr std::uint32_t kMaxRetries = 1'000;
constexpr std::uint32_t kMaxTrace = 10'000;

Status SetConnections(const v1::Assignment& assignment, run::LoadPlan* plan) {
  const v1::Load& load = assignment.workload().load();
  plan->connect_per_iteration = load.connections() == v1::CONNECTION_USE_PER_ITERATION;
  if (assignment.has_pool_size()) {
    // More than one each is never used.
    plan->pool_size = std::clamp<std::uint32_t>(assignment.pool_size(), 1, plan->sessions);
    plan->pool_overflow = std::min(assignment.pool_overflow(), plan->sessions);
  }
  plan->retries = load.retries();
  if (plan->retries > kMaxRetries) {
    return InvalidArgument("load.retries {} is more than {}", plan->retries, kMaxRetries);
  }
  plan->trace = std::min(assignment.trace(), kMaxTrace);
  return SetTime("think_time", load.has_think_time(), load.think_time(), &plan->think_time);
}

// Sessions of a blocking client: a thread each, unless the target says how many.
void SetBlockingThreads(const v1::Assignment& assignment, run::LoadPlan* plan) {
  for (const v1::Target& target : assignment.workload().targets()) {
    if (target.name() != assignment.target() || target.mysql().threads() == 0) continue;
    plan->blocking_threads = std::min(target.mysql().threads(), plan->sessions);
  }
}

// What a session with several operations in flight cannot do.
Status CheckPipeline(const run::LoadPlan& plan) {
  if (plan.pipeline == 1) return absl::OkStatus();
  bool waits = plan.think_time > 0 || plan.pool_size || plan.connect_per_iteration;
  for (const load::ScriptStep& step : plan.script.steps) {
    waits = waits || step.sleep > 0 || !drivers::HasTable(plan.operations[step.operation].kind);
  }
  if (!waits) return absl::OkStatus();
  return InvalidArgument(
      "load.pipeline {}: only for scripts of operations on tables, with connections of the "
      "sessions' own and no pauses",
      plan.pipeline);
}

}  // namespace

StatusOr<std::unique_ptr<run::LoadPlan>> MakeLoadPlan(const v1::Assignment& assignment,
                                                      std::uint32_t workers, run::LoopKind loop) {
  auto plan = std::make_unique<run::LoadPlan>();
  const v1::Workload& workload = assignment.workload();
  CAVALRY_ASSIGN_OR_RETURN(TargetPlan target, MakeTargetPlan(workload, assignment.target()));
  plan->driver = target.driver;
  CAVALRY_RETURN_IF_ERROR(SetSessions(assignment, plan.get()));
  CAVALRY_RETURN_IF_ERROR(SetTimes(workload.load(), plan.get()));
  CAVALRY_RETURN_IF_ERROR(SetConnections(assignment, plan.get()));
  SetBlockingThreads(assignment, plan.get());
  CAVALRY_RETURN_IF_ERROR(SetNumbers(assignment.numbers(), plan->warmup, &plan->numbers));
  if (!plan->duration && !plan->numbers.count) {
    return InvalidArgument("the load has no end: neither a duration nor a count");
  }
  plan->next_version = std::max<std::uint64_t>(assignment.next_version(), 1);
  if (plan->next_version > load::kMaxKey) {
    return InvalidArgument("version {} is too large", plan->next_version);
  }
  plan->workers = std::max<std::uint32_t>(workers, 1);
  plan->loop = loop;
  plan->keep_ledger = assignment.audit();
  CAVALRY_RETURN_IF_ERROR(BuildRecipes(assignment, plan->driver->replaces_rows(), plan.get()));
  CAVALRY_RETURN_IF_ERROR(CheckPipeline(*plan));
  // The clients are made from these without another look.
  CAVALRY_RETURN_IF_ERROR(CheckOperations(target, plan->operations));
  plan->some_sent = plan->driver->asks_for_no_answer(target.settings);
  plan->settings = std::move(target.settings);
  return plan;
}

}  // namespace cavalry::agent
