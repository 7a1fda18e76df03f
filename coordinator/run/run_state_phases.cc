// The phases of a run other than the load: preflight, reset, prepare, fill, marks, audit, cleanup.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "coordinator/run/run_state.h"
#include "coordinator/run/step_shares.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/units.h"
#include "core/wire/status_codec.h"

namespace cavalry::run {
namespace {

// Phases without which the measurements stand.
bool StandsWithout(v1::Phase phase) {
  return phase == v1::PHASE_AUDIT || phase == v1::PHASE_CLEANUP || phase == v1::PHASE_COUNTERS;
}

// The agent's error with the target before it (unless it begins so), and who says so.
Status PhaseError(const PhaseTask& task, std::size_t agents) {
  const Status status = wire::FromMessage(task.done.status());
  const std::string prefix = task.request.target();
  std::string text = StatusText(status);
  if (text.rfind(prefix + ":", 0) != 0) text = fmt::format("{}: {}", prefix, text);
  if (!task.load_point.empty()) text += fmt::format(" (at {})", task.load_point);
  if (agents > 1) text += fmt::format(" ({} on {})", PhaseName(task.request.phase()), task.agent);
  return MakeStatus(status.code(), text);
}

}  // namespace

PhaseTask RunState::MakeTask(std::size_t agent, v1::Phase phase, const v1::Workload& workload,
                             const std::string& target) const {
  const std::vector<Member> alive = Alive();
  PhaseTask task;
  if (!alive.empty()) task.agent = alive[agent % alive.size()].name;
  task.request.set_phase(phase);
  *task.request.mutable_workload() = workload;
  task.request.set_target(target);
  for (const std::string& table : plan_.allow_destroy) task.request.add_allow_destroy(table);
  return task;
}

void RunState::BeginPhase(v1::Phase phase, std::uint64_t step_id, std::vector<PhaseTask> tasks,
                          Nanos now) {
  if (agents_alive() == 0) {
    return Finish(v1::RUN_END_FAILED, Unavailable("every agent is lost; {}", last_loss_), now);
  }
  PhaseRunner::Options options;
  options.phase = phase;
  options.step_id = step_id;
  switch (phase) {
    case v1::PHASE_PREFLIGHT:
      options.timeout = plan_.deadlines.preflight;
      break;
    case v1::PHASE_RESET:
      options.timeout = plan_.deadlines.reset;
      break;
    case v1::PHASE_PREPARE:
      options.timeout = plan_.deadlines.prepare;
      break;
    case v1::PHASE_CLEANUP:
      options.timeout = plan_.deadlines.cleanup;
      break;
    case v1::PHASE_NATIVE:
      options.timeout = plan_.deadlines.native;
      break;
    case v1::PHASE_COUNTERS:
      options.timeout = plan_.deadlines.counters;
      break;
    case v1::PHASE_FILL:
    case v1::PHASE_AUDIT:
      options.timeout = plan_.deadlines.progress;
      options.progress_extends = true;
      break;
    default:
      options.timeout = plan_.deadlines.mark;
      break;
  }
  stage_ = Stage::kPhase;
  stage_since_ = now;
  phases_.Begin(options, std::move(tasks), now, &actions_);
  if (phases_.done()) PhaseEnded(now);
}

// One task a target, and one more for each load point that changes the target's own options.
void RunState::BeginPreflight(Nanos now) {
  std::vector<PhaseTask> tasks;
  std::set<std::string> seen;
  const auto add = [&](const v1::Workload& workload, const v1::Target& target,
                       const std::string& load_point) {
    if (!seen.insert(target.SerializeAsString()).second) return;
    PhaseTask task = MakeTask(tasks.size(), v1::PHASE_PREFLIGHT, workload, target.name());
    // Judged by the step with the most sessions and the one with the deepest pipeline; a target
    // that is not loaded has none.
    std::uint32_t sessions = 0;
    std::uint32_t pipeline = 1;
    for (const PlannedStep& step : plan_.steps) {
      if (step.step.target() != target.name()) continue;
      sessions = std::max(sessions, step.workload.load().sessions());
      pipeline = std::max(pipeline, step.workload.load().pipeline());
    }
    task.request.mutable_workload()->mutable_load()->set_sessions(sessions);
    task.request.mutable_workload()->mutable_load()->set_pipeline(pipeline);
    task.request.set_connect(plan_.connect);
    task.load_point = load_point;
    tasks.push_back(std::move(task));
  };
  for (const v1::Target& target : plan_.workload.targets()) add(plan_.workload, target, "");
  for (const PlannedStep& step : plan_.steps) {
    std::string load_point;
    for (const v1::NameValue& value : step.step.set()) {
      load_point +=
          fmt::format("{}{}={}", load_point.empty() ? "" : ", ", value.name(), value.value());
    }
    for (const v1::Target& target : step.workload.targets()) {
      if (target.name() == step.step.target()) add(step.workload, target, load_point);
    }
  }
  BeginPhase(v1::PHASE_PREFLIGHT, 0, std::move(tasks), now);
}

void RunState::BeginReset(Scope scope, Nanos now) {
  scope_ = std::move(scope);
  BeginOnOwners(v1::PHASE_RESET, now);
}

void RunState::BeginOnOwners(v1::Phase phase, Nanos now) {
  std::vector<PhaseTask> tasks;
  for (const std::string& owner : scope_.owners) {
    tasks.push_back(MakeTask(tasks.size(), phase, *scope_.workload, owner));
  }
  BeginPhase(phase, scope_.step_id, std::move(tasks), now);
}

void RunState::BeginFill(Nanos now) {
  const std::vector<Member> alive = Alive();
  std::vector<PhaseTask> tasks;
  for (const std::string& owner : scope_.owners) {
    for (std::size_t i = 0; i < alive.size(); ++i) {
      PhaseTask task = MakeTask(i, v1::PHASE_FILL, *scope_.workload, owner);
      for (const v1::Table& table : scope_.workload->tables()) {
        const std::pair<std::string, std::string> wanted(owner, table.name());
        if (std::find(scope_.to_fill.begin(), scope_.to_fill.end(), wanted) ==
            scope_.to_fill.end()) {
          continue;
        }
        const v1::KeyShare share = SplitKeys(table, alive.size())[i];
        if (share.count() > 0) *task.request.add_shares() = share;
      }
      if (!task.request.shares().empty()) tasks.push_back(std::move(task));
    }
  }
  BeginPhase(v1::PHASE_FILL, scope_.step_id, std::move(tasks), now);
}

void RunState::BeginMarkFilled(Nanos now) {
  std::vector<PhaseTask> tasks;
  for (const std::string& owner : scope_.owners) {
    PhaseTask task = MakeTask(tasks.size(), v1::PHASE_MARK_FILLED, *scope_.workload, owner);
    for (const auto& [of, table] : scope_.to_fill) {
      if (of == owner) task.request.add_shares()->set_table(table);
    }
    if (!task.request.shares().empty()) tasks.push_back(std::move(task));
  }
  BeginPhase(v1::PHASE_MARK_FILLED, scope_.step_id, std::move(tasks), now);
}

// The target over which the step's writes are read back: the one that the spec names, for tables
// that it sees.
std::string RunState::AuditRoute() const {
  const v1::Workload& workload = current().workload;
  for (const v1::Target& target : workload.targets()) {
    if (target.name() == workload.audit().via() && spec::OwnerOf(target) == CurrentOwner()) {
      return target.name();
    }
  }
  return CurrentOwner();
}

void RunState::BeginAudit(Nanos now) {
  const v1::Workload& workload = current().workload;
  const std::string via = AuditRoute();
  std::vector<PhaseTask> tasks;
  for (const StepRunner::Participant& participant : step_.participants()) {
    if (FindAlive(participant.agent) == nullptr || !participant.report) {
      actions_.Warn(
          fmt::format("the writes of {} are unaudited, since it was lost", participant.agent),
          step_.step_id());
      continue;
    }
    PhaseTask task = MakeTask(0, v1::PHASE_AUDIT, workload, via);
    task.agent = participant.agent;
    tasks.push_back(std::move(task));
  }
  BeginPhase(v1::PHASE_AUDIT, step_.step_id(), std::move(tasks), now);
}

void RunState::BeginCleanup(Nanos now) {
  scope_ = Scope();
  scope_.owners = spec::TableOwners(plan_.workload);
  scope_.workload = &plan_.workload;
  BeginOnOwners(v1::PHASE_CLEANUP, now);
}

void RunState::ProceedPhase(Nanos now) {
  if (ending_) {
    if (!phases_.done()) return;
    if (step_open_ && CurrentStepAudits()) {
      actions_.Warn("its audit was cut short", step_.step_id());
    }
    const EndRun end = *ending_;
    return Finish(end.end, end.status, now);
  }
  if (PhaseBroke(now)) return;
  // A task that failed keeps the others of its agent from being sent.
  const bool refused = AwaitsTargets() && phases_.failed() != nullptr;
  if (!phases_.done() && !refused) return;
  PhaseEnded(now);
}

// Whether the phase cannot go on; then the run has ended. What audit, cleanup and counters cannot
// do is told when they are over, since the measurements stand without it.
bool RunState::PhaseBroke(Nanos now) {
  if (agents_alive() == 0) {
    Finish(v1::RUN_END_FAILED, Unavailable("every agent is lost; {}", last_loss_), now);
    return true;
  }
  if (StandsWithout(phases_.phase()) || AwaitsTargets()) return false;
  if (const PhaseTask* failed = phases_.failed(); failed != nullptr) {
    Finish(v1::RUN_END_FAILED, PhaseError(*failed, plan_.agents), now);
    return true;
  }
  for (const PhaseTask& task : phases_.tasks()) {
    if (task.state != PhaseTask::State::kLost) continue;
    Finish(v1::RUN_END_FAILED,
           Unavailable("{} was lost in {} of {}, which is therefore not whole: run again ({})",
                       task.agent, PhaseName(phases_.phase()), task.request.target(), last_loss_),
           now);
    return true;
  }
  return false;
}

void RunState::OnLatePhase(Nanos now) {
  const PhaseTask* late = phases_.late(now);
  if (late == nullptr) return;
  const std::string agent = late->agent;
  const std::string phase = PhaseName(phases_.phase());
  if (ending_ || StandsWithout(phases_.phase())) {
    Lose(agent, fmt::format("did not end its {} in time", phase), /*drop=*/true);
    return Proceed(now);
  }
  Finish(v1::RUN_END_FAILED,
         DeadlineExceeded("{}: {} on {} did not end in time", late->request.target(), phase, agent),
         now);
}

void RunState::PhaseEnded(Nanos now) {
  if (AwaitsTargets()) return ReadyEnded(now);
  std::set<std::string> told;  // agents and load points can have the same to say
  for (const PhaseTask& task : phases_.tasks()) {
    for (const std::string& warning : task.done.warnings()) {
      if (told.insert(warning).second) actions_.Warn(warning, phases_.step_id());
    }
  }
  switch (phases_.phase()) {
    case v1::PHASE_PREFLIGHT:
      return PreflightEnded(now);
    case v1::PHASE_RESET:
      return BeginOnOwners(v1::PHASE_PREPARE, now);
    case v1::PHASE_PREPARE:
      return PrepareEnded(now);
    case v1::PHASE_FILL:
      return FillEnded(now);
    case v1::PHASE_MARK_FILLED:
      return AfterReset(now);
    case v1::PHASE_MARK_USED:
      return BeginPreparations(now);
    case v1::PHASE_NATIVE:
      return NextPreparation(now);
    case v1::PHASE_COUNTERS:
      return CountersEnded(now);
    case v1::PHASE_AUDIT:
      return AuditEnded(now);
    case v1::PHASE_CLEANUP: {
      const PhaseTask* failed = phases_.failed();
      if (failed != nullptr) {
        actions_.Warn(StatusText(PhaseError(*failed, plan_.agents)), 0);
        partial_ = true;
      }
      return Finish(partial_ ? v1::RUN_END_PARTIAL : v1::RUN_END_COMPLETE, Status(), now);
    }
    default:
      return;
  }
}

void RunState::PreflightEnded(Nanos now) {
  for (const PhaseTask& task : phases_.tasks()) {
    if (task.done.server().empty() || !task.load_point.empty()) continue;
    v1::ServerInfo* info = actions_.Record()->mutable_server_info();
    info->set_target(task.request.target());
    *info->mutable_variables() = task.done.server();
  }
  if (plan_.preflight_only) return Finish(v1::RUN_END_COMPLETE, Status(), now);
  scope_ = Scope();
  scope_.owners = spec::TableOwners(plan_.workload);
  scope_.workload = &plan_.workload;
  switch (plan_.workload.reset()) {
    case v1::RESET_STEP:
      return NextStep(now);
    case v1::RESET_NEVER:
      // Nothing is emptied or filled; this finds out what there is.
      return BeginOnOwners(v1::PHASE_PREPARE, now);
    default:
      return BeginOnOwners(v1::PHASE_RESET, now);
  }
}

void RunState::PrepareEnded(Nanos now) {
  const bool never = scope_.workload->reset() == v1::RESET_NEVER;
  for (const PhaseTask& task : phases_.tasks()) {
    const std::string& owner = task.request.target();
    std::map<std::string, const v1::TableState*> states;
    for (const v1::TableState& state : task.done.tables()) states[state.table()] = &state;
    keys_.ResetVersions(owner);
    for (const v1::Table& table : scope_.workload->tables()) {
      used_.erase({owner, table.name()});
      const auto found = states.find(table.name());
      const v1::TableState* state = found == states.end() ? nullptr : found->second;
      if (state != nullptr) keys_.Learn(owner, *state, /*forget=*/true);
      const bool as_it_is = never || (state != nullptr && (state->filled() || state->used_as_is()));
      if (!as_it_is && table.rows() > 0) scope_.to_fill.emplace_back(owner, table.name());
      if (state != nullptr && state->filled()) keys_.Filled(owner, table.name(), table.rows());
      if (never && state != nullptr && state->rows() != table.rows()) {
        actions_.Warn(
            fmt::format("{}: {} has {} rows, the spec says {}; reset: never leaves it so", owner,
                        table.name(), FormatCount(state->rows()), FormatCount(table.rows())),
            scope_.step_id);
      }
    }
  }
  if (scope_.to_fill.empty()) return AfterReset(now);
  BeginFill(now);
}

void RunState::FillEnded(Nanos now) {
  std::uint64_t rows = 0;
  std::uint64_t duration_ns = 0;
  for (const PhaseTask& task : phases_.tasks()) {
    rows += task.done.rows();
    duration_ns = std::max(duration_ns, task.done.duration_ns());
    for (const v1::KeyShare& share : task.request.shares()) {
      keys_.Filled(task.request.target(), share.table(), share.first() + share.count() - 1);
    }
  }
  std::string tables;
  for (const auto& [owner, table] : scope_.to_fill) {
    tables += fmt::format("{}{} on {}", tables.empty() ? "" : ", ", table, owner);
  }
  const double seconds = static_cast<double>(duration_ns) / static_cast<double>(kSecond);
  actions_.Say(fmt::format("filled {}: {} rows in {} ({} rows/s)", tables, FormatCount(rows),
                           FormatDurationWords(static_cast<Nanos>(duration_ns)),
                           seconds > 0 ? FormatFigure(static_cast<double>(rows) / seconds) : "-"));
  BeginMarkFilled(now);
}

void RunState::AfterReset(Nanos now) {
  if (scope_.step_id == 0) return NextStep(now);
  MarkUsedOrBegin(now);
}

void RunState::AuditEnded(Nanos now) {
  for (const PhaseTask& task : phases_.tasks()) {
    const bool lost = task.state == PhaseTask::State::kLost;
    if (lost || task.done.status().code() != 0) {
      step_partial_ = true;
      step_text_ = fmt::format("the writes of {} could not be audited: {}", task.agent,
                               lost ? "it was lost" : task.done.status().text());
      actions_.Warn(step_text_, step_.step_id());
    }
    // Even an audit that broke off counts what it read and what it could not.
    if (!task.done.has_audit()) continue;
    v1::AuditReceived* audit = actions_.Record()->mutable_audit();
    audit->set_agent(task.agent);
    audit->set_step_id(step_.step_id());
    *audit->mutable_result() = task.done.audit();
  }
  EndStep();
  NextStep(now);
}

}  // namespace cavalry::run
