#include <algorithm>
#include <array>
#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/load_points.h"
#include "coordinator/spec/schema.h"

namespace cavalry::spec {
namespace {

// One run has one of each of these; a load point cannot have its own.
constexpr std::array<std::string_view, 13> kOfTheRun = {
    "name",   "rounds",     "order",    "compare",  "thresholds", "sweep",  "reset",
    "stages", "conditions", "commands", "print_as", "cleanup",    "targets"};

bool IsUnder(std::string_view path, std::string_view root) {
  return path == root ||
         (path.starts_with(root) && (path[root.size()] == '.' || path[root.size()] == '['));
}

void CheckAxis(const v1::SweepAxis& axis, Checker* checker) {
  const std::string path = Join("sweep", axis.path());
  const bool of_the_run =
      std::any_of(kOfTheRun.begin(), kOfTheRun.end(), [&](std::string_view root) {
        // Single options of a target or stage may be swept, but not which of them there are, nor
        // which targets are loaded.
        const bool has_options = root == "targets" || root == "stages";
        if (!has_options || axis.path() == root) return IsUnder(axis.path(), root);
        return root == "targets" && IsUnder(axis.path(), root) && axis.path().ends_with(".load");
      });
  if (of_the_run)
    checker->Fault(path, "'{}' belongs to the whole run and cannot be swept", axis.path());
  const bool changes_rows = IsUnder(axis.path(), "tables") || IsUnder(axis.path(), "seed");
  if (changes_rows && checker->filled().reset() != v1::RESET_STEP) {
    checker->Fault(path, "other rows at each load point need 'reset: step'");
  }
  if (axis.values_size() == 0) checker->Fault(path, "needs values, as in 'load.sessions: [1, 16]'");
  std::set<std::string> seen;
  for (const std::string& value : axis.values()) {
    if (!seen.insert(value).second) checker->Fault(path, "value {} is listed twice", value);
  }
}

}  // namespace

void CheckSweep(Checker* checker) {
  const v1::Workload& workload = checker->written();
  for (const v1::SweepAxis& axis : workload.sweep()) {
    CheckAxis(axis, checker);
    for (const v1::SweepAxis& other : workload.sweep()) {
      if (&axis == &other || !IsUnder(other.path(), axis.path())) continue;
      checker->Fault(Join("sweep", axis.path()), "sets '{}' too, which is an axis of its own",
                     other.path());
    }
  }
  if (CountLoadPoints(workload) > kMaxLoadPoints) {
    checker->Fault("sweep", "more than {} load points", kMaxLoadPoints);
  }
}

}  // namespace cavalry::spec
