#include "coordinator/run/step_runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "coordinator/run/step_shares.h"
#include "core/base/check.h"
#include "core/base/units.h"
#include "core/wire/status_codec.h"

namespace cavalry::run {
namespace {

using State = StepRunner::Participant::State;

// An agent that is cut off goes on for its lease; while that lasts it writes at most at twice the
// fastest rate seen, or at this one when none was seen. In iterations per second.
constexpr std::uint64_t kRateUnseen = 100'000;
constexpr std::uint64_t kSecondsUnseen = 22;  // silence until it is lost, its lease, two intervals
constexpr std::uint64_t kNumberBlock = 16;    // numbers a worker takes at a time

Nanos AsNanos(std::uint64_t nanos) { return static_cast<Nanos>(nanos); }

}  // namespace

void StepRunner::Begin(const PlannedStep* planned, const std::vector<Member>& members,
                       const Deadlines& deadlines, const KeyBook& keys, bool audit,
                       std::uint32_t trace, Nanos now, Actions* actions) {
  CAVALRY_CHECK(!members.empty());
  *this = StepRunner();
  planned_ = planned;
  deadlines_ = deadlines;
  const v1::Workload& workload = planned->workload;
  const v1::Step& step = planned->step;
  const std::vector<StepShare> shares = SplitStep(workload, members.size());

  v1::StepStarted started;
  *started.mutable_step() = step;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Participant participant;
    participant.agent = members[i].name;
    participant.workers = members[i].workers;
    v1::Assignment& assignment = participant.assignment;
    assignment.set_target(step.target());
    assignment.set_agent_index(static_cast<std::uint32_t>(i));
    assignment.set_agent_count(static_cast<std::uint32_t>(shares.size()));
    assignment.set_sessions(shares[i].sessions);
    assignment.set_first_session(shares[i].first_session);
    *assignment.mutable_numbers() = shares[i].numbers;
    assignment.set_connect_rate(shares[i].connect_rate);
    assignment.set_audit(audit);
    if (shares[i].pool_size) assignment.set_pool_size(*shares[i].pool_size);
    assignment.set_pool_overflow(shares[i].pool_overflow);
    if (i == 0) assignment.set_trace(trace);
    std::string owner = step.target();
    for (const v1::Target& target : workload.targets()) {
      if (target.name() == step.target() && !target.tables_of().empty()) owner = target.tables_of();
    }
    keys.FillAssignment(owner, workload, &assignment);
    started.add_agents(participant.agent);
    started.add_agent_sessions(shares[i].sessions);
    participants_.push_back(std::move(participant));
  }
  *actions->Record()->mutable_step_started() = std::move(started);
  for (const Participant& participant : participants_) {
    v1::Assignment* assignment = actions->Send(participant.agent, step.id())->mutable_assignment();
    *assignment = participant.assignment;
    *assignment->mutable_workload() = workload;
  }
  const std::uint64_t rate = std::max<std::uint64_t>(workload.load().connect_rate(), 1);
  const Nanos paced = AsNanos(workload.load().sessions() * std::uint64_t{kSecond} / rate);
  arm_deadline_ =
      now + paced + 2 * AsNanos(workload.load().connect_timeout()) + deadlines_.arm_slack;
}

StepRunner::Participant* StepRunner::Find(const std::string& agent) {
  for (Participant& participant : participants_) {
    if (participant.agent == agent) return &participant;
  }
  return nullptr;
}

bool StepRunner::OnMessage(const Member& member, const v1::FromAgent& message, Nanos now,
                           Actions* actions) {
  Participant* participant = Find(member.name);
  if (participant == nullptr || message.step_id() != step_id()) return false;
  switch (message.body_case()) {
    case v1::FromAgent::kArmed:
      return OnArmed(participant, message.armed());
    case v1::FromAgent::kInterval:
      return OnInterval(participant, message.interval(), now, actions);
    case v1::FromAgent::kStepReport:
      return OnReport(participant, member, message.step_report(), actions);
    default:
      return false;
  }
}

bool StepRunner::OnArmed(Participant* participant, const v1::Armed& armed) {
  if (participant->state != State::kConnecting) return false;
  participant->state = State::kArmed;
  const Status status = wire::FromMessage(armed.status());
  if (!status.ok() && fatal_.ok()) {
    fatal_ = Annotate(status, fmt::format("{} on {}", planned_->step.target(), participant->agent));
  }
  return true;
}

void StepRunner::Acknowledge(const Participant& participant, Actions* actions) const {
  actions->Send(participant.agent, step_id())->mutable_ack()->set_seq(participant.last_seq);
}

bool StepRunner::OnInterval(Participant* participant, const v1::Interval& interval, Nanos now,
                            Actions* actions) {
  if (participant->state != State::kRunning && participant->state != State::kReported) return false;
  if (interval.seq() <= participant->last_seq) {
    // Sent again, since the agent has not seen our acknowledgement: it must not count twice.
    Acknowledge(*participant, actions);
    return false;
  }
  if (participant->state == State::kReported) return false;
  participant->last_seq = interval.seq();
  participant->last_heard = std::max(participant->last_heard, now);
  const std::uint64_t attempted = interval.stats().iterations().attempted();
  participant->attempted += attempted;
  participant->attempted_most = std::max(participant->attempted_most, attempted);
  v1::IntervalReceived* received = actions->Record()->mutable_interval();
  received->set_agent(participant->agent);
  received->set_step_id(step_id());
  *received->mutable_interval() = interval;
  Acknowledge(*participant, actions);
  return true;
}

bool StepRunner::OnReport(Participant* participant, const Member& member,
                          const v1::StepReport& report, Actions* actions) {
  if (participant->state == State::kReported) {
    if (report.seq() <= participant->last_seq) Acknowledge(*participant, actions);
    return false;
  }
  if (participant->state == State::kLost) return false;
  participant->state = State::kReported;
  participant->last_seq = std::max(participant->last_seq, report.seq());
  const Status fatal = wire::FromMessage(report.fatal());
  if (!fatal.ok() && fatal_.ok()) {
    fatal_ = Annotate(fatal, fmt::format("{} on {}", planned_->step.target(), participant->agent));
  }
  v1::StepReportReceived* received = actions->Record()->mutable_step_report();
  received->set_agent(participant->agent);
  received->set_step_id(step_id());
  *received->mutable_report() = report;
  // The agent can only say how late it was on its own clock; a better estimate of its clock than
  // the one its instant was made with moves the true start by the difference.
  received->set_start_offset_ns(
      started() ? report.start_late_ns() + participant->clock_offset - member.clock_offset : 0);
  participant->report = report;
  participant->report->clear_totals();
  participant->report->clear_loop_lag();
  Acknowledge(*participant, actions);
  return true;
}

void StepRunner::OnLost(const std::string& agent) {
  Participant* participant = Find(agent);
  if (participant != nullptr && participant->state != State::kReported) {
    participant->state = State::kLost;
  }
}

void StepRunner::Advance(const std::vector<Member>& members, Nanos now, Actions* actions) {
  if (started() || stop_deadline_ || !fatal_.ok()) return;
  Nanos rtt = 0;
  bool any = false;
  for (const Participant& participant : participants_) {
    if (participant.state == State::kConnecting) return;
    if (participant.state != State::kArmed) continue;
    any = true;
    for (const Member& member : members) {
      if (member.name == participant.agent) rtt = std::max(rtt, member.clock_rtt);
    }
  }
  if (!any) return;
  const Nanos instant = now + std::max(deadlines_.start_lead, 3 * rtt);
  start_instant_ = instant;
  for (Participant& participant : participants_) {
    if (participant.state != State::kArmed) continue;
    for (const Member& member : members) {
      if (member.name == participant.agent) participant.clock_offset = member.clock_offset;
    }
    participant.state = State::kRunning;
    participant.last_heard = instant;
    actions->Send(participant.agent, step_id())
        ->mutable_start_at()
        ->set_monotonic_ns(instant + participant.clock_offset);
  }
}

std::vector<std::pair<std::string, std::string>> StepRunner::Late(Nanos now) const {
  std::vector<std::pair<std::string, std::string>> late;
  const v1::Load& load = planned_->workload.load();
  for (const Participant& participant : participants_) {
    if (participant.state == State::kReported || participant.state == State::kLost) continue;
    if (stop_deadline_) {
      if (now >= *stop_deadline_)
        late.emplace_back(participant.agent, "did not report after the stop");
    } else if (!started()) {
      if (participant.state == State::kConnecting && now >= arm_deadline_) {
        late.emplace_back(participant.agent, "did not connect its sessions in time");
      }
    } else if (load.stop_after().has_duration()) {
      const Nanos end = *start_instant_ + AsNanos(load.warmup()) +
                        AsNanos(load.stop_after().duration()) + AsNanos(load.drain_timeout()) +
                        deadlines_.end_slack;
      if (now >= end) late.emplace_back(participant.agent, "did not report at the end of the step");
    } else {
      const Nanos gap =
          deadlines_.interval_gap + AsNanos(load.operation_timeout() + load.drain_timeout());
      if (now >= participant.last_heard + gap) {
        late.emplace_back(participant.agent,
                          fmt::format("sent no interval for {}", FormatDurationWords(gap)));
      }
    }
  }
  return late;
}

std::optional<Nanos> StepRunner::next_deadline() const {
  if (done()) return std::nullopt;
  if (stop_deadline_) return stop_deadline_;
  if (!started()) return arm_deadline_;
  const v1::Load& load = planned_->workload.load();
  if (load.stop_after().has_duration()) {
    return *start_instant_ +
           AsNanos(load.warmup() + load.stop_after().duration() + load.drain_timeout()) +
           deadlines_.end_slack;
  }
  Nanos next = 0;
  for (const Participant& participant : participants_) {
    if (participant.state != State::kRunning) continue;
    const Nanos deadline = participant.last_heard + deadlines_.interval_gap +
                           AsNanos(load.operation_timeout() + load.drain_timeout());
    next = next == 0 ? deadline : std::min(next, deadline);
  }
  return next;
}

void StepRunner::Stop(v1::StopMode mode, Nanos now, Actions* actions) {
  for (const Participant& participant : participants_) {
    if (participant.state == State::kReported || participant.state == State::kLost) continue;
    actions->Send(participant.agent, step_id())->mutable_stop()->set_mode(mode);
  }
  const Nanos drain =
      mode == v1::STOP_MODE_DRAIN ? AsNanos(planned_->workload.load().drain_timeout()) : 0;
  stop_deadline_ = now + drain + deadlines_.stop_slack;
}

bool StepRunner::done() const {
  return std::all_of(participants_.begin(), participants_.end(), [](const Participant& p) {
    return p.state == State::kReported || p.state == State::kLost;
  });
}

bool StepRunner::lost_any() const {
  return std::any_of(participants_.begin(), participants_.end(),
                     [](const Participant& p) { return p.state == State::kLost; });
}

bool StepRunner::lost_all() const {
  return std::all_of(participants_.begin(), participants_.end(),
                     [](const Participant& p) { return p.state == State::kLost; });
}

std::uint64_t StepRunner::sessions_never_connected() const {
  std::uint64_t count = 0;
  for (const Participant& participant : participants_) {
    if (participant.report) count += participant.report->sessions_never_connected();
  }
  return count;
}

std::uint64_t StepRunner::LargestNumber(const Participant& participant) const {
  std::uint64_t most = 0;
  for (const Participant& other : participants_) most = std::max(most, other.attempted_most);
  const std::uint64_t rate = most == 0 ? kRateUnseen : 2 * most;
  const std::uint64_t begun = participant.attempted + rate * kSecondsUnseen +
                              participant.workers * kNumberBlock +
                              participant.assignment.sessions();
  const v1::Numbers& numbers = participant.assignment.numbers();
  if (numbers.has_count()) {
    const bool warmup = planned_->workload.load().warmup() > 0;
    const std::uint64_t measured = numbers.first() + numbers.count();
    if (!warmup) return measured;
    return std::max(measured, numbers.warmup_first() + numbers.warmup_stride() * begun);
  }
  return numbers.first() + numbers.stride() * begun;
}

void StepRunner::AdvanceKeys(const std::string& owner, KeyBook* keys, Actions* actions) const {
  for (const Participant& participant : participants_) {
    if (participant.report) keys->Advance(owner, *participant.report);
  }
  if (!started()) return;
  for (const Participant& participant : participants_) {
    if (participant.report || participant.state != State::kLost) continue;
    const std::string text = keys->AdvanceLost(owner, planned_->workload, participant.assignment,
                                               LargestNumber(participant));
    if (text.empty()) continue;
    actions->Warn(fmt::format("which keys {} had inserted is not known: {}, safely behind them",
                              participant.agent, text),
                  step_id());
  }
}

}  // namespace cavalry::run
