// `cavalry check SPEC`: everything that can be known before a run. Loads and checks the spec,
// prints the plan, and lets an agent of this machine ask each driver; with `connect` also each
// server.
#pragma once

#include <string>
#include <vector>

namespace cavalry::cli {

struct CheckOptions {
  std::string spec;
  std::vector<std::string> set;
  bool connect = false;
  std::vector<std::string> allow_destroy;
};

// Returns 0; 2 for a wrong spec; 1 for a server that cannot be reached or does not fit.
int CheckCommand(const CheckOptions& options);

}  // namespace cavalry::cli
