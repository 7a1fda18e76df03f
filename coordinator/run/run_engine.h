// Runs a run: feeds the pure state machine with what the agents' streams bring and does what it
// asks. Every event goes into the journal and the aggregator, nothing else does, so that a report
// rebuilt from the journal equals this one. Knows no gRPC, no process and no terminal; the caller
// brings events and the time. One thread. Order: Start; then OnControlEvent, OnTime and OnInterrupt
// until ended(); the report's files; Release.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "coordinator/agent_registry.h"
#include "coordinator/control_link.h"
#include "coordinator/report/aggregator.h"
#include "coordinator/run/journal.h"
#include "coordinator/run/run_state.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

class RunEngine {
 public:
  struct Options {
    RunPlan plan;
    coordinator::AgentRegistry::Options registry;
    v1::RunStarted started;
  };

  // `link` and `journal` (may be null: `check` keeps none) must outlive this.
  RunEngine(Options options, coordinator::ControlLink* link, Journal* journal);

  void Start(Nanos now);
  void OnControlEvent(coordinator::ControlEvent event, Nanos now);
  void OnTime(Nanos now);
  void OnInterrupt(Nanos now);
  void Fail(const Status& status, Nanos now);

  bool ended() const { return end_.has_value(); }
  const EndRun& end() const { return *end_; }
  // The program that is to be run, once; then OnProgramEnded is due.
  std::optional<RunProgram> TakeProgram() { return std::exchange(program_, std::nullopt); }
  void OnProgramEnded(const Status& status, Nanos now);

  // Latest time at which OnTime must be called.
  Nanos next_deadline() const;

  // Dismisses the agents. REQUIRES: ended().
  void Release(const std::string& reason);
  // Streams still open: agents that have not left yet.
  std::size_t streams() const { return registry_.streams(); }

  const report::Aggregator& aggregator() const { return aggregator_; }
  Activity activity() const { return state_.activity(); }
  Nanos started_at() const { return started_at_; }
  // Lines for people since the last call: what was filled, who was lost, warnings.
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }

 private:
  void HandleRegistry(Nanos now);
  void HandleState();
  void Do(SendMessage* send) { registry_.Send(send->agent, send->message); }
  void Do(RecordEvent* record);
  void Do(DropAgent* drop) { registry_.Drop(drop->agent); }
  void Do(Note* note) { notes_.push_back(std::move(note->text)); }
  void Do(RunProgram* program) { program_ = std::move(*program); }
  void Do(EndRun* end);
  void On(coordinator::AgentReady* event, Nanos now);
  void On(coordinator::ClockBetter* event, Nanos now);
  void On(coordinator::AgentGone* event, Nanos now);
  void On(coordinator::AgentRefused* event, Nanos now);
  void On(coordinator::AgentSaid* event, Nanos now);
  void Record(v1::JournalEntry entry);
  void NoteEntry(const v1::JournalEntry& entry);
  // Ends that the state machine took for complete, though an agent sent what cannot be right.
  void AmendEnd(v1::JournalEntry* entry) const;

  coordinator::AgentRegistry registry_;
  RunState state_;
  v1::RunStarted started_;
  Journal* journal_;
  report::Aggregator aggregator_;
  std::vector<std::string> notes_;
  std::set<std::string> refused_;  // who was, and why, as told
  std::optional<RunProgram> program_;
  std::optional<EndRun> end_;
  Nanos started_at_ = 0;
  bool fails_on_refusal_ = false;
  std::string bad_data_;        // the last: who sent what that cannot be right
  std::uint64_t bad_step_ = 0;  // its step
};

}  // namespace cavalry::run
