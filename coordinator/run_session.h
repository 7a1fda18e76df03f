// One run with all its surroundings: the control service, local agents, Ctrl-C, and the engine they
// feed. The caller turns it until the run has ended. One thread (that of the caller). Order: Open,
// Start, Turn until it says no, Close.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/control_service.h"
#include "coordinator/interrupts.h"
#include "coordinator/local_agents.h"
#include "coordinator/program.h"
#include "coordinator/run/run_engine.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::coordinator {

class RunSession {
 public:
  // Listens on `address` (port 0: a free one). `interrupts` may be null and must outlive this.
  static StatusOr<std::unique_ptr<RunSession>> Open(const std::string& address,
                                                    Interrupts* interrupts);
  // Ends local agents that are left, at once.
  ~RunSession();

  int port() const { return service_->port(); }

  // Begins the run; `local` starts agents here, whose coordinator and token are filled in.
  // `journal` may be null and must outlive this. An agent that cannot be started fails the run.
  void Start(run::RunEngine::Options options, run::Journal* journal,
             std::optional<LocalAgents::Options> local);

  // Waits for something to happen, `longest` at most, and handles it. False when the run has ended.
  bool Turn(Nanos longest);

  // As Ctrl-C does.
  void Interrupt() { engine_->OnInterrupt(MonotonicNow()); }

  // Dismisses the agents and waits until they have left; kills local ones that have not by
  // `deadline`.
  void Close(const std::string& reason, Nanos deadline);

  const run::RunEngine& engine() const { return *engine_; }
  // Lines for people since the last call, those that local agents printed included.
  std::vector<std::string> TakeNotes();

 private:
  explicit RunSession(Interrupts* interrupts) : interrupts_(interrupts) {}
  void Wait(Nanos until);
  void HandleStreams();
  void HandleLocalAgents();
  void HandleProgram();

  Interrupts* interrupts_;
  std::unique_ptr<ControlService> service_;
  std::unique_ptr<run::RunEngine> engine_;
  LocalAgents local_;
  std::optional<Program> program_;
  bool has_local_ = false;
  std::map<std::string, std::string> how_ended_;  // of local agents
  // Ends of streams, each held until the end of its process is known, or the time has passed.
  std::deque<std::pair<Nanos, ControlEvent>> held_;
  std::vector<std::string> notes_;
};

// 128 random bits as text: a run's identity, a local agent's token.
std::string RandomToken();

}  // namespace cavalry::coordinator
