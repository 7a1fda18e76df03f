// What a run needs of every agent, checked against its Hello before it is taken in. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "coordinator/run/run_plan.h"
#include "core/base/status.h"

namespace cavalry::coordinator {

// Open files of an agent that are no sessions: logs, timers, the stream, the loops.
inline constexpr std::uint64_t kFilesBesideSessions = 64;

// Needs of one target.
struct Requirement {
  std::string target;
  std::string driver;
  std::set<std::string> operations;  // "read", "insert", …
  std::uint64_t sessions = 0;        // most of any step, over all agents
};

std::vector<Requirement> RequirementsOf(const run::RunPlan& plan);

// Ok, or why the agent cannot take part: another version, a missing driver or operation, too few
// open files. `agents`: how many share the sessions.
Status CheckHello(const v1::Hello& hello, const std::string& version,
                  const std::vector<Requirement>& requirements, std::size_t agents);

}  // namespace cavalry::coordinator
