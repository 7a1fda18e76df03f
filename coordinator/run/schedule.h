// The order of a run's steps: rounds, targets, load points. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "cavalry/v1/workload.pb.h"
#include "coordinator/spec/spec_document.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

// One step and the workload it runs: the spec with this load point's values, defaults filled in.
struct PlannedStep {
  v1::Step step;
  v1::Workload workload;
};

// Every (round, target, load point) exactly once, ordered as `order` says (see workload.proto).
// REQUIRES: CheckSpec passed.
StatusOr<std::vector<PlannedStep>> MakeSchedule(const spec::SpecDocument& document);

// Expected time of the load of a step in ns: warm-up + duration, 0 if it has no duration (counted
// runs).
Nanos ExpectedLoadTime(const v1::Workload& workload);

}  // namespace cavalry::run
