// What a reader must know beside the figures: limits of the generator, sessions that never
// connected, misses, wrong answers. One line a kind, not one a step. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "coordinator/report/report.h"

namespace cavalry::report {

struct Finding {
  std::string text;
  bool generator = false;  // with --strict it makes exit 4
};

// `report` with its results, summary and comparison made; those of the journal come first.
std::vector<Finding> FindWarnings(const Report& report);

}  // namespace cavalry::report
