// The agent's life: joins a coordinator, obeys its messages, leaves or waits for the next one. One
// control thread; loads and phases run on threads of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "agent/assignment_runner.h"
#include "core/base/status.h"

namespace cavalry::agent {

struct AgentOptions {
  std::string coordinator;  // "host:port"
  std::string name;         // wanted name; the coordinator makes it unique
  std::string local_token;  // not empty: a child of the coordinator, gone when its run is over
  std::uint32_t workers = 1;
  run::LoopKind loop = run::LoopKind::kAuto;
  bool realtime = true;  // ask for real-time priority of load threads
  std::uint64_t max_open_files = 1024;
};

// Serves coordinators until `quit` is set (from a signal handler or another thread); a local agent
// serves one. An error: a local agent that could not join or was refused.
Status RunAgent(const AgentOptions& options, const std::atomic<bool>& quit);

}  // namespace cavalry::agent
