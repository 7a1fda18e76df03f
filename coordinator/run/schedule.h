// The order of a run's steps: rounds, targets, load points, conditions, stages. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "cavalry/v1/workload.pb.h"
#include "coordinator/spec/spec_document.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

// One step and the workload it runs: the spec with the values of this load point, condition and
// stage, defaults filled in, without stages.
struct PlannedStep {
  v1::Step step;
  v1::Workload workload;
  // Done in order before the step: of its condition, at its first stage.
  std::vector<v1::Preparation> before;
  // Tables are reset before the first stage only.
  bool first_stage = true;
};

// Every (round, target, load point, condition) exactly once, ordered as `order` says (see
// workload.proto), its stages one after the other, a step each. Conditions are in the order of the
// spec, but with `order: shuffled`.
// REQUIRES: CheckSpec passed.
StatusOr<std::vector<PlannedStep>> MakeSchedule(const spec::SpecDocument& document);

// Expected time of the load of a step in ns: warm-up + duration, 0 if it has no duration (counted
// runs).
Nanos ExpectedLoadTime(const v1::Workload& workload);

}  // namespace cavalry::run
