// The figures of a run in the form of a published experiment (`print_as`), for a look at both side
// by side. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/report/report.h"

namespace cavalry::report {

// One line or row of the experiment's output: of a step where the original counted in steps, else
// of a load point with its rounds merged. Names carry their unit.
struct PublishedLine {
  v1::Step step;
  std::vector<std::pair<std::string, std::optional<double>>> figures;
};

// Nothing unless the spec says `print_as`.
std::vector<PublishedLine> PublishedFigures(const Report& report);

// The same as text under a heading, "" unless the spec says `print_as`.
std::string PublishedText(const Report& report);

}  // namespace cavalry::report
