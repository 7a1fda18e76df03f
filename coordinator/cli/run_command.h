// `cavalry run SPEC`: the whole run, from the plan to the report and the results directory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/run/run_plan.h"
#include "core/base/clock.h"

namespace cavalry::cli {

struct RunOptions {
  std::string spec;
  std::vector<std::string> set;      // "load.sessions=64"
  std::size_t local = 1;             // agents started here
  std::size_t agents = 0;            // not 0: agents awaited from elsewhere instead
  std::string listen;                // where they dial
  std::optional<Nanos> wait_agents;  // how long they are awaited; default: Deadlines
  bool insecure = false;             // listen beyond loopback without TLS
  std::string out = "results";       // base of the results directory
  bool quiet = false;
  bool json = false;
  bool strict = false;
  std::string loop = "auto";
  std::string priority = "auto";
  std::vector<std::string> allow_destroy;
  bool allow_commands = false;  // programs of the spec may be run
  std::uint32_t trace = 0;      // operations of each step to show the bytes of
  run::LostPolicy on_lost = run::LostPolicy::kContinue;
};

// Prints to stdout and stderr. Returns the exit status: 0 all well, 1 it could not be
// done, 2 wrong use or spec, 3 a threshold failed, 4 partial or not judged, 130 interrupted.
int RunCommand(const RunOptions& options);

}  // namespace cavalry::cli
