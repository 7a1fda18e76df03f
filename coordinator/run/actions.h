// What the pure state machine of a run asks its engine to do, in order. Plain data; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "cavalry/v1/results.pb.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

// Send a message to an agent that is part of the run.
struct SendMessage {
  std::string agent;
  v1::ToAgent message;
};

// Something happened that the report is made of: into the journal and the aggregator. The engine
// fills in the wall clock.
struct RecordEvent {
  v1::JournalEntry entry;
};

// The agent is lost: close its stream. Its AgentLost is already recorded.
struct DropAgent {
  std::string agent;
  std::string reason;
};

// A line for people, in no report: "filled customer: 150,000 rows in 3 s".
struct Note {
  std::string text;
};

// Run a program of the spec on this machine; RunState::OnProgramEnded is told how it ended.
struct RunProgram {
  std::string name;
  std::vector<std::string> arguments;  // the program first
  Nanos deadline = 0;                  // then it is ended
};

// The run is over; nothing follows. `at_once`: a second interrupt, so no report is written.
struct EndRun {
  v1::RunEnd end = v1::RUN_END_UNSPECIFIED;
  Status status;
  bool at_once = false;
};

using Action = std::variant<SendMessage, RecordEvent, DropAgent, Note, RunProgram, EndRun>;

// Collects actions; the parts of the state machine share one.
class Actions {
 public:
  explicit Actions(std::string run_id) : run_id_(std::move(run_id)) {}

  // A message to `agent` with the run's id and `step_id` filled in; the caller sets its body.
  v1::ToAgent* Send(const std::string& agent, std::uint64_t step_id);
  // An entry; the caller sets its event.
  v1::JournalEntry* Record();
  void Warn(std::string text, std::uint64_t step_id, bool generator = false);
  void Drop(const std::string& agent, const std::string& reason);
  void Say(std::string text);
  void Run(RunProgram program);
  void End(EndRun end);

  const std::string& run_id() const { return run_id_; }
  std::vector<Action> Take() { return std::exchange(actions_, {}); }

 private:
  std::string run_id_;
  std::vector<Action> actions_;
};

}  // namespace cavalry::run
