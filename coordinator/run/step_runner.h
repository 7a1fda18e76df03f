// One step on all agents that have a share of it: assignment, arming, one start instant, intervals
// with acknowledgements, reports. Decides what belongs to the step and what is stale, and what each
// agent still owes. Pure; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "coordinator/run/actions.h"
#include "coordinator/run/key_book.h"
#include "coordinator/run/run_plan.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

class StepRunner {
 public:
  struct Participant {
    enum class State : std::uint8_t { kConnecting, kArmed, kRunning, kReported, kLost };
    std::string agent;
    State state = State::kConnecting;
    v1::Assignment assignment;
    std::uint32_t workers = 1;
    Nanos clock_offset = 0;  // that its start instant was made with
    std::uint64_t last_seq = 0;
    Nanos last_heard = 0;                  // when the start instant, or the last interval, was
    std::uint64_t attempted = 0;           // iterations in all its intervals, warm-up's included
    std::uint64_t attempted_most = 0;      // of them in one interval
    std::optional<v1::StepReport> report;  // without its statistics
  };

  // Sends the assignments. `members`: the agents alive, in the order of joining. `planned` must
  // outlive this. REQUIRES: members is not empty.
  void Begin(const PlannedStep* planned, const std::vector<Member>& members,
             const Deadlines& deadlines, const KeyBook& keys, bool audit, std::uint32_t trace,
             Nanos now, Actions* actions);

  // Armed, Interval or StepReport. False: stale (another step, repeated, or not awaited).
  bool OnMessage(const Member& member, const v1::FromAgent& message, Nanos now, Actions* actions);
  void OnLost(const std::string& agent);
  // After an event or in time: gives the start instant once every agent that is left is armed.
  void Advance(const std::vector<Member>& members, Nanos now, Actions* actions);
  // Agents whose deadline has passed, each with the reason. The caller loses them.
  std::vector<std::pair<std::string, std::string>> Late(Nanos now) const;
  std::optional<Nanos> next_deadline() const;

  // Tells agents that have not reported to stop, and gives them until the stop's own deadline.
  void Stop(v1::StopMode mode, Nanos now, Actions* actions);

  bool done() const;  // every participant has reported or is lost
  bool started() const { return start_instant_.has_value(); }
  bool lost_any() const;
  bool lost_all() const;
  // The fatal error of an agent, with its name; ok if none. The step cannot go on.
  const Status& fatal() const { return fatal_; }
  std::uint64_t sessions_never_connected() const;
  const PlannedStep& planned() const { return *planned_; }
  std::uint64_t step_id() const { return planned_->step.id(); }
  const std::vector<Participant>& participants() const { return participants_; }
  std::optional<Nanos> start_instant() const { return start_instant_; }

  // Moves keys and versions on behind everything that this step can have written. Warns for lost
  // ones.
  void AdvanceKeys(const std::string& owner, KeyBook* keys, Actions* actions) const;

 private:
  Participant* Find(const std::string& agent);
  bool OnArmed(Participant* participant, const v1::Armed& armed);
  bool OnInterval(Participant* participant, const v1::Interval& interval, Nanos now,
                  Actions* actions);
  bool OnReport(Participant* participant, const Member& member, const v1::StepReport& report,
                Actions* actions);
  void Acknowledge(const Participant& participant, Actions* actions) const;
  std::uint64_t LargestNumber(const Participant& participant) const;

  const PlannedStep* planned_ = nullptr;
  Deadlines deadlines_;
  std::vector<Participant> participants_;
  Nanos arm_deadline_ = 0;
  std::optional<Nanos> start_instant_;  // our clock
  std::optional<Nanos> stop_deadline_;
  Status fatal_;
};

}  // namespace cavalry::run
