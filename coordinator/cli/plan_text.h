// The plan that heads `check` and `run`: steps, expected time, order, load, what happens to tables.
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cli/prepared_run.h"

namespace cavalry::cli {

struct PlanTextOptions {
  std::string agents;                      // "2 on this machine"
  std::vector<std::string> allow_destroy;  // as given
};

// Lines of at most 100 columns where names allow it, each ended by a line feed.
std::string RenderPlan(const PreparedRun& prepared, const PlanTextOptions& options);

// A line of the plan: a head and its text, broken between words at 100 columns.
std::string PlanLine(const std::string& head, const std::string& text);

}  // namespace cavalry::cli
