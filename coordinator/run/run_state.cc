#include "coordinator/run/run_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "coordinator/spec/spec_check.h"
#include "core/base/check.h"
#include "core/base/units.h"
#include "core/wire/status_codec.h"

namespace cavalry::run {
namespace {

// To people whose agents did not come.
constexpr char kHowToCome[] =
    "; run 'cavalry-agent --coordinator HOST:PORT' on their hosts, with the address of --listen";

}  // namespace

RunState::RunState(RunPlan plan) : plan_(std::move(plan)), actions_(plan_.run_id) {
  CAVALRY_CHECK(plan_.agents > 0);
}

void RunState::Start(Nanos now) {
  started_at_ = now;
  stage_since_ = now;
}

Member* RunState::FindAlive(const std::string& agent) {
  for (Member& member : members_) {
    if (member.name == agent && member.alive) return &member;
  }
  return nullptr;
}

std::vector<Member> RunState::Alive() const {
  std::vector<Member> alive;
  for (const Member& member : members_) {
    if (member.alive) alive.push_back(member);
  }
  return alive;
}

std::size_t RunState::agents_alive() const {
  return static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(),
                                                [](const Member& member) { return member.alive; }));
}

void RunState::OnAgentReady(Member member, Nanos now) {
  if (stage_ != Stage::kWaiting || ended()) return;
  v1::AgentJoined* joined = actions_.Record()->mutable_agent_joined();
  joined->set_agent(member.name);
  joined->set_host(member.host);
  joined->set_cores(member.cores);
  joined->set_workers(member.workers);
  joined->set_clock_offset_ns(member.clock_offset);
  joined->set_clock_rtt_ns(static_cast<std::uint64_t>(std::max<Nanos>(member.clock_rtt, 0)));
  members_.push_back(std::move(member));
  if (agents_alive() == plan_.agents) BeginPreflight(now);
}

void RunState::OnClock(const std::string& agent, Nanos offset, Nanos rtt) {
  Member* member = FindAlive(agent);
  if (member == nullptr) return;
  member->clock_offset = offset;
  member->clock_rtt = rtt;
}

void RunState::Lose(const std::string& agent, const std::string& reason, bool drop) {
  Member* member = FindAlive(agent);
  if (member == nullptr) return;
  member->alive = false;
  last_loss_ = fmt::format("{}: {}", agent, reason);
  v1::AgentLost* lost = actions_.Record()->mutable_agent_lost();
  lost->set_agent(agent);
  lost->set_reason(reason);
  lost->set_step_id(step_open_ ? step_.step_id() : 0);
  // While the run still waits, another agent can take its place.
  if (stage_ != Stage::kWaiting) partial_ = true;
  if (stage_ == Stage::kPhase) phases_.OnLost(agent);
  if (step_open_) step_.OnLost(agent);
  if (drop) actions_.Drop(agent, reason);
}

void RunState::OnAgentLost(const std::string& agent, const std::string& reason, Nanos now) {
  if (ended() || FindAlive(agent) == nullptr) return;
  Lose(agent, reason, /*drop=*/false);
  Proceed(now);
}

void RunState::OnMessage(const std::string& agent, const v1::FromAgent& message, Nanos now) {
  if (ended()) return;
  const Member* member = FindAlive(agent);
  bool taken = false;
  if (member != nullptr && message.run_id() == plan_.run_id) {
    switch (message.body_case()) {
      case v1::FromAgent::kPhaseDone:
        taken = stage_ == Stage::kPhase &&
                phases_.OnDone(agent, message.step_id(), message.phase_done(), now, &actions_);
        break;
      case v1::FromAgent::kProgress:
        taken = stage_ == Stage::kPhase &&
                phases_.OnProgress(agent, message.step_id(), message.progress(), now);
        break;
      case v1::FromAgent::kArmed:
      case v1::FromAgent::kInterval:
      case v1::FromAgent::kStepReport:
        taken = step_open_ && step_.OnMessage(*member, message, now, &actions_);
        break;
      default:
        break;
    }
  }
  if (!taken) {
    ++stale_dropped_;
    return;
  }
  Proceed(now);
}

void RunState::OnInterrupt(Nanos now) {
  if (ended()) return;
  const bool second = ending_ && ending_->end == v1::RUN_END_INTERRUPTED;
  EndRun end;
  end.end = v1::RUN_END_INTERRUPTED;
  end.status = Cancelled("interrupted");
  if (second) {
    end.at_once = true;
    if (stage_ == Stage::kStep) step_.Stop(v1::STOP_MODE_NOW, now, &actions_);
    if (stage_ == Stage::kPhase) phases_.Stop(v1::STOP_MODE_NOW, now, &actions_);
    stage_ = Stage::kEnded;
    actions_.End(std::move(end));
    return;
  }
  if (stage_ == Stage::kWaiting || stage_ == Stage::kProgram) {
    return Finish(end.end, end.status, now);
  }
  // A run that is failing already goes on to fail, but an interrupt is what the exit status tells.
  ending_ = std::move(end);
  actions_.Say(
      "stopping: what is in flight is waited for, then comes the report; Ctrl-C again quits");
  if (stage_ == Stage::kStep) {
    step_.Stop(v1::STOP_MODE_DRAIN, now, &actions_);
  } else {
    phases_.Stop(v1::STOP_MODE_DRAIN, now + plan_.deadlines.stop_slack, &actions_);
  }
  Proceed(now);
}

void RunState::Fail(const Status& status, Nanos now) {
  if (!ended()) Finish(v1::RUN_END_FAILED, status, now);
}

void RunState::OnTime(Nanos now) {
  switch (stage_) {
    case Stage::kWaiting:
      if (now >= started_at_ + plan_.deadlines.wait_agents) {
        Finish(v1::RUN_END_FAILED,
               DeadlineExceeded(
                   "{} of {} agents came within {}{}", agents_alive(), plan_.agents,
                   FormatDurationWords(plan_.deadlines.wait_agents),
                   last_loss_.empty() ? std::string(kHowToCome) : "; last lost: " + last_loss_),
               now);
      }
      return;
    case Stage::kPhase:
      return OnLatePhase(now);
    case Stage::kProgram:
      if (ready_again_ && now >= *ready_again_) BeginReady(now);
      return;
    case Stage::kStep: {
      const auto late = step_.Late(now);
      for (const auto& [agent, reason] : late) Lose(agent, reason, /*drop=*/true);
      if (!late.empty()) Proceed(now);
      return;
    }
    case Stage::kEnded:
      return;
  }
}

std::optional<Nanos> RunState::next_deadline() const {
  switch (stage_) {
    case Stage::kWaiting:
      return started_at_ + plan_.deadlines.wait_agents;
    case Stage::kPhase:
      return phases_.next_deadline();
    case Stage::kProgram:
      return ready_again_;
    case Stage::kStep:
      return step_.next_deadline();
    case Stage::kEnded:
      break;
  }
  return std::nullopt;
}

void RunState::Proceed(Nanos now) {
  if (ended()) return;
  if (stage_ == Stage::kPhase) {
    ProceedPhase(now);
  } else if (stage_ == Stage::kStep) {
    ProceedStep(now);
  }
}

// --- steps ---

std::string RunState::CurrentOwner() const {
  for (const v1::Target& target : current().workload.targets()) {
    if (target.name() == current().step.target()) return spec::OwnerOf(target);
  }
  return current().step.target();
}

bool RunState::CurrentStepAudits() const {
  const v1::Workload& workload = current().workload;
  return workload.audit().enabled() && spec::ScriptWrites(workload);
}

void RunState::NextStep(Nanos now) {
  if (next_step_ == 0) WarnOfIdleAgents();
  if (next_step_ == plan_.steps.size()) {
    if (plan_.workload.cleanup() == v1::CLEANUP_DROP) return BeginCleanup(now);
    return Finish(partial_ ? v1::RUN_END_PARTIAL : v1::RUN_END_COMPLETE, Status(), now);
  }
  ++next_step_;
  if (current().workload.reset() == v1::RESET_STEP && current().first_stage) {
    Scope scope;
    scope.owners = {CurrentOwner()};
    scope.workload = &current().workload;
    scope.step_id = current().step.id();
    return BeginReset(std::move(scope), now);
  }
  MarkUsedOrBegin(now);
}

void RunState::MarkUsedOrBegin(Nanos now) {
  const std::string owner = CurrentOwner();
  PhaseTask task = MakeTask(0, v1::PHASE_MARK_USED, current().workload, owner);
  if (spec::ScriptWrites(current().workload)) {
    for (const std::string& table : spec::TablesWritten(current().workload)) {
      if (used_.insert({owner, table}).second) task.request.add_shares()->set_table(table);
    }
  }
  if (task.request.shares().empty()) return BeginPreparations(now);
  BeginPhase(v1::PHASE_MARK_USED, current().step.id(), {std::move(task)}, now);
}

void RunState::BeginStep(Nanos now) {
  stage_ = Stage::kStep;
  stage_since_ = now;
  step_open_ = true;
  step_partial_ = false;
  step_text_.clear();
  step_.Begin(&current(), Alive(), plan_.deadlines, keys_, CurrentStepAudits(), plan_.trace, now,
              &actions_);
}

void RunState::ProceedStep(Nanos now) {
  if (!step_.fatal().ok() && !ending_) {
    ending_ = EndRun{v1::RUN_END_FAILED, step_.fatal(), false};
    step_.Stop(v1::STOP_MODE_NOW, now, &actions_);
  }
  if (step_.lost_any() && plan_.on_lost == LostPolicy::kStop && !ending_) {
    ending_ = EndRun{v1::RUN_END_PARTIAL, Unavailable("agent lost: {}", last_loss_), false};
    step_.Stop(v1::STOP_MODE_DRAIN, now, &actions_);
  }
  // Nothing can have been measured before the start, so there is no report to wait for.
  const bool nothing_to_wait_for = ending_ && !step_.started() && !step_.fatal().ok();
  if (!step_.done() && !nothing_to_wait_for) {
    if (!step_.started()) step_.Advance(Alive(), now, &actions_);
    return;
  }

  step_.AdvanceKeys(CurrentOwner(), &keys_, &actions_);
  if (step_.sessions_never_connected() > 0) partial_ = true;
  if (ending_) {
    if (CurrentStepAudits() && step_.started()) {
      actions_.Warn("the step did not end as planned: its writes are not audited", step_.step_id());
    }
    const EndRun end = *ending_;
    return Finish(end.end, end.status, now);
  }
  if (agents_alive() == 0) {
    return Finish(v1::RUN_END_FAILED, Unavailable("every agent is lost; {}", last_loss_), now);
  }
  if (plan_.read_counters) return BeginCounters(now);
  AuditOrEnd(now);
}

void RunState::AuditOrEnd(Nanos now) {
  if (CurrentStepAudits()) return BeginAudit(now);
  EndStep();
  NextStep(now);
}

void RunState::EndStep() {
  if (!step_open_) return;
  v1::StepEnded ended;
  ended.set_step_id(step_.step_id());
  ended.set_end(v1::STEP_END_COMPLETE);
  ended.set_text(step_text_);
  if (step_.lost_any() || step_partial_) ended.set_end(v1::STEP_END_PARTIAL);
  if (step_.lost_any()) ended.set_text(fmt::format("lost {}", last_loss_));
  if (ending_ && ending_->end == v1::RUN_END_INTERRUPTED) {
    ended.set_end(v1::STEP_END_INTERRUPTED);
    ended.set_text("interrupted");
  } else if (ending_ && ending_->end == v1::RUN_END_FAILED) {
    ended.set_end(v1::STEP_END_FAILED);
    ended.set_text(StatusText(ending_->status));
  }
  if (ended.end() != v1::STEP_END_COMPLETE) partial_ = true;
  *actions_.Record()->mutable_step_ended() = std::move(ended);
  step_open_ = false;
  const std::size_t alive = agents_alive();
  if (step_.lost_any() && alive > 0 && !ending_ && next_step_ < plan_.steps.size()) {
    actions_.Warn(
        fmt::format("later steps run on {} instead of {} agents, with the same load in all", alive,
                    members_.size()),
        0);
  }
}

void RunState::WarnOfIdleAgents() {
  std::size_t steps = 0;
  std::size_t fewest = plan_.agents;
  for (const PlannedStep& step : plan_.steps) {
    const std::size_t sessions = step.workload.load().sessions();
    if (sessions >= plan_.agents) continue;
    ++steps;
    fewest = std::min(fewest, sessions);
  }
  if (steps == 0) return;
  std::string names;
  for (std::size_t i = fewest; i < members_.size(); ++i) {
    names += (names.empty() ? "" : ", ") + members_[i].name;
  }
  actions_.Warn(fmt::format("{} of {} steps have fewer sessions than agents: {} idle in them",
                            steps, plan_.steps.size(),
                            members_.size() - fewest == 1 ? names + " is" : names + " are"),
                0);
}

void RunState::Finish(v1::RunEnd end, const Status& status, Nanos now) {
  if (!ending_) ending_ = EndRun{end, status, false};
  EndStep();
  const bool drop = plan_.workload.cleanup() == v1::CLEANUP_DROP;
  if (drop && end != v1::RUN_END_COMPLETE && next_step_ > 0 &&
      phases_.phase() != v1::PHASE_CLEANUP) {
    actions_.Warn("cleanup was left out: the tables that cavalry made are still there", 0);
  }
  if (stale_dropped_ > 0) {
    actions_.Say(fmt::format("{} messages of other steps, or sent again, were dropped",
                             FormatCount(stale_dropped_)));
  }
  v1::RunEnded* ended = actions_.Record()->mutable_run_ended();
  ended->set_end(end);
  wire::ToMessage(status, ended->mutable_status());
  ended->set_duration_ns(static_cast<std::uint64_t>(std::max<Nanos>(now - started_at_, 0)));
  stage_ = Stage::kEnded;
  EndRun over;
  over.end = end;
  over.status = status;
  actions_.End(std::move(over));
}

Activity RunState::activity() const {
  Activity activity;
  activity.since = stage_since_;
  std::set<std::string> targets;
  switch (stage_) {
    case Stage::kWaiting:
      activity.text = fmt::format("waits for agents: {} of {}", agents_alive(), plan_.agents);
      break;
    case Stage::kPhase:
      activity.step_id = phases_.step_id();
      for (const PhaseTask& task : phases_.tasks()) {
        activity.done += task.progress_done;
        activity.total += task.progress_total;
        if (!task.progress_what.empty()) activity.what = task.progress_what;
        if (task.state == PhaseTask::State::kRunning) targets.insert(task.request.target());
      }
      activity.text = PhaseName(phases_.phase());
      for (const std::string& target : targets) activity.text += " " + target;
      break;
    case Stage::kProgram:
      activity.text = ready_again_ ? fmt::format("waits for the targets after {}", program_)
                                   : fmt::format("runs {}", program_);
      activity.step_id = current().step.id();
      break;
    case Stage::kStep:
      activity.text = fmt::format("connects {} session{}", current().workload.load().sessions(),
                                  current().workload.load().sessions() == 1 ? "" : "s");
      activity.step_id = step_.step_id();
      activity.start_instant = step_.start_instant().value_or(0);
      break;
    case Stage::kEnded:
      activity.text = "ended";
      break;
  }
  return activity;
}

}  // namespace cavalry::run
