#include "agent/agent_state.h"

#include <algorithm>

namespace cavalry::agent {
namespace {

// A load whose coordinator is gone must not go on for long, whatever a message says.
constexpr std::uint64_t kLongestLease = 600 * kSecond;

}  // namespace

AgentState::Verdict AgentState::OnMessage(const v1::ToAgent& message, Nanos now) {
  last_heard_ = now;
  const Verdict verdict = Judge(message);
  if (verdict == Verdict::kStale) ++stale_;
  return verdict;
}

AgentState::Verdict AgentState::Judge(const v1::ToAgent& message) {
  using Body = v1::ToAgent::BodyCase;
  switch (message.body_case()) {
    case Body::kHeartbeat:
    case Body::kClockProbe:
      return Verdict::kAct;
    case Body::kWelcome:
      if (activity_ != Activity::kJoining) return Verdict::kOutOfPlace;
      run_id_ = message.run_id();
      if (message.welcome().lease_ns() > 0) {
        lease_ = static_cast<Nanos>(
            std::min<std::uint64_t>(message.welcome().lease_ns(), kLongestLease));
      }
      activity_ = message.welcome().status().code() == 0 ? Activity::kIdle : Activity::kLeft;
      return Verdict::kAct;
    case Body::BODY_NOT_SET:
      return Verdict::kOutOfPlace;
    default:
      break;
  }
  if (activity_ == Activity::kJoining || activity_ == Activity::kLeft) return Verdict::kOutOfPlace;
  if (message.run_id() != run_id_) return Verdict::kStale;
  switch (message.body_case()) {
    case Body::kGoodbye:
      activity_ = Activity::kLeft;
      return Verdict::kAct;
    case Body::kRunPhase:
    case Body::kAssignment:
      if (activity_ != Activity::kIdle) return Verdict::kOutOfPlace;
      activity_ = message.has_run_phase() ? Activity::kPhase : Activity::kStep;
      step_id_ = message.step_id();
      return Verdict::kAct;
    case Body::kStartAt:
    case Body::kAck:
      if (message.step_id() != step_id_) return Verdict::kStale;
      return activity_ == Activity::kStep ? Verdict::kAct : Verdict::kOutOfPlace;
    case Body::kStop:
      if (message.step_id() != step_id_) return Verdict::kStale;
      return activity_ == Activity::kStep || activity_ == Activity::kPhase ? Verdict::kAct
                                                                           : Verdict::kOutOfPlace;
    default:
      return Verdict::kOutOfPlace;
  }
}

void AgentState::OnPhaseDone() {
  if (activity_ == Activity::kPhase) activity_ = Activity::kIdle;
}

void AgentState::OnStepDone() {
  if (activity_ == Activity::kStep) activity_ = Activity::kIdle;
}

}  // namespace cavalry::agent
