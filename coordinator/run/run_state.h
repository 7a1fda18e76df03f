// The state machine of a run: which agents take part, which phase or step comes next, what each
// transition may take, and how the run ends. Pure: events with the time go in, actions come out; no
// I/O, no clock, no thread. After every call the engine does the actions in order.
//
//   waiting -> preflight -> [reset -> prepare -> fill -> mark filled] -> steps -> [cleanup] ->
//   ended a step: [reset … mark filled] -> [mark used] -> [preparations of its condition] ->
//   [counters] -> arming, running -> [counters] -> [audit]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "coordinator/run/actions.h"
#include "coordinator/run/key_book.h"
#include "coordinator/run/phase_runner.h"
#include "coordinator/run/run_plan.h"
#include "coordinator/run/step_runner.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

// What the run does at the moment, for people.
struct Activity {
  std::string text;           // "waits for agents", "fills sql", "hs, 16 sessions"
  std::uint64_t step_id = 0;  // 0: no step
  std::uint64_t done = 0;     // of a phase that reports progress
  std::uint64_t total = 0;    // 0: unknown
  std::string what;           // "rows"
  Nanos since = 0;
  Nanos start_instant = 0;  // of the running step; 0: it has not begun
};

class RunState {
 public:
  enum class Stage : std::uint8_t {
    kWaiting,
    kPhase,    // a phase other than the load; phase() says which
    kProgram,  // a program of the spec runs, or its targets are awaited
    kStep,     // arming or under load
    kEnded,
  };

  explicit RunState(RunPlan plan);
  RunState(const RunState&) = delete;  // points into its own plan
  RunState& operator=(const RunState&) = delete;

  // The run begins: agents are awaited from now on.
  void Start(Nanos now);
  // An agent said hello, fits, and its clock is known.
  void OnAgentReady(Member member, Nanos now);
  // A better estimate of an agent's clock.
  void OnClock(const std::string& agent, Nanos offset, Nanos rtt);
  void OnAgentLost(const std::string& agent, const std::string& reason, Nanos now);
  // A message that belongs to the run: PhaseDone, Progress, Armed, Interval, StepReport.
  void OnMessage(const std::string& agent, const v1::FromAgent& message, Nanos now);
  // The first one drains, and what was measured is reported; the second ends the run at once.
  void OnInterrupt(Nanos now);
  // The program of the last RunProgram has ended; an error says how, with what it printed.
  void OnProgramEnded(const Status& status, Nanos now);
  // The run cannot go on (an agent could not be started). What was measured is reported.
  void Fail(const Status& status, Nanos now);
  // Deadlines that have passed. May be called at any time.
  void OnTime(Nanos now);

  std::vector<Action> TakeActions() { return actions_.Take(); }
  std::optional<Nanos> next_deadline() const;
  Stage stage() const { return stage_; }
  bool ended() const { return stage_ == Stage::kEnded; }
  std::size_t agents_alive() const;
  std::uint64_t stale_dropped() const { return stale_dropped_; }
  Activity activity() const;
  const RunPlan& plan() const { return plan_; }

 private:
  // Tables that are brought to what the spec says together: all owners before the first step, or
  // the owner of one step's target before that step.
  struct Scope {
    std::vector<std::string> owners;
    const v1::Workload* workload = nullptr;
    std::uint64_t step_id = 0;
    std::vector<std::pair<std::string, std::string>> to_fill;  // owner, table
  };

  Member* FindAlive(const std::string& agent);
  std::vector<Member> Alive() const;
  void Lose(const std::string& agent, const std::string& reason, bool drop);
  void Proceed(Nanos now);
  void Finish(v1::RunEnd end, const Status& status, Nanos now);

  // Phases.
  void BeginPhase(v1::Phase phase, std::uint64_t step_id, std::vector<PhaseTask> tasks, Nanos now);
  PhaseTask MakeTask(std::size_t agent, v1::Phase phase, const v1::Workload& workload,
                     const std::string& target) const;
  void BeginPreflight(Nanos now);
  void BeginReset(Scope scope, Nanos now);
  void BeginOnOwners(v1::Phase phase, Nanos now);
  void BeginFill(Nanos now);
  void BeginMarkFilled(Nanos now);
  void BeginAudit(Nanos now);
  void BeginCleanup(Nanos now);
  void ProceedPhase(Nanos now);
  bool PhaseBroke(Nanos now);
  void PhaseEnded(Nanos now);
  void PreflightEnded(Nanos now);
  void PrepareEnded(Nanos now);
  void FillEnded(Nanos now);
  void AuditEnded(Nanos now);
  void AfterReset(Nanos now);
  void OnLatePhase(Nanos now);

  // Steps.
  void NextStep(Nanos now);
  void MarkUsedOrBegin(Nanos now);
  // What the step's condition asks for, one after the other; then the counters and the step.
  void BeginPreparations(Nanos now);
  void NextPreparation(Nanos now);
  void BeginNative(const v1::Preparation& preparation, Nanos now);
  void BeginProgram(const std::string& command, Nanos now);
  void BeginReady(Nanos now);
  void ReadyEnded(Nanos now);
  // Whether the phase asks restarted targets for connections.
  bool AwaitsTargets() const {
    return phases_.phase() == v1::PHASE_PREFLIGHT && phases_.step_id() != 0;
  }
  void BeginCounters(Nanos now);
  void CountersEnded(Nanos now);
  void BeginStep(Nanos now);
  void AuditOrEnd(Nanos now);
  void ProceedStep(Nanos now);
  void EndStep();
  void WarnOfIdleAgents();
  const PlannedStep& current() const { return plan_.steps[next_step_ - 1]; }
  std::string CurrentOwner() const;
  std::string AuditRoute() const;
  bool CurrentStepAudits() const;

  RunPlan plan_;
  Actions actions_;
  Stage stage_ = Stage::kWaiting;
  Nanos started_at_ = 0;
  Nanos stage_since_ = 0;
  std::vector<Member> members_;  // in the order of joining; lost ones stay
  std::string last_loss_;
  PhaseRunner phases_;
  StepRunner step_;
  bool step_open_ = false;  // StepStarted is recorded, StepEnded not yet
  KeyBook keys_;
  Scope scope_;
  std::size_t next_step_ = 0;         // index into the plan of the step after the current one
  std::size_t next_preparation_ = 0;  // of the step that comes
  std::string program_;               // name of the command whose program runs
  Nanos ready_by_ = 0;                // its targets must accept connections by then
  std::optional<Nanos> ready_again_;  // when they are asked next
  std::map<std::string, std::uint64_t> counters_;       // of the step's server, before it
  std::set<std::pair<std::string, std::string>> used_;  // (owner, table) written to since its reset
  bool partial_ = false;
  bool step_partial_ = false;     // the open step's audit could not be done
  std::string step_text_;         // why
  std::optional<EndRun> ending_;  // how the run ends as soon as the step or phase has stopped
  std::uint64_t stale_dropped_ = 0;
};

}  // namespace cavalry::run
