// A spec made ready to run: loaded, --set applied, checked, defaults filled in, secrets resolved,
// steps in order. Shared by `run` and `check`. One thread.
#pragma once

#include <string>
#include <vector>

#include "cavalry/v1/workload.pb.h"
#include "coordinator/run/run_engine.h"
#include "coordinator/run/schedule.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::cli {

struct PreparedRun {
  v1::Workload workload;                // defaults filled in, secrets resolved
  std::vector<run::PlannedStep> steps;  // likewise
  Nanos expected = 0;                   // time of the whole run, guessed
};

// InvalidArgument for anything wrong with the spec or an assignment; each fault on a line of its
// own.
StatusOr<PreparedRun> PrepareRun(const std::string& spec_path,
                                 const std::vector<std::string>& assignments);

// What the run costs in time: the load of each step, connecting and draining, filling.
Nanos ExpectedRunTime(const v1::Workload& workload, const std::vector<run::PlannedStep>& steps);

// What the engine needs, but for the caller's own choices: ids, the first journal entry,
// requirements.
run::RunEngine::Options EngineOptions(const PreparedRun& prepared, std::size_t agents, bool strict);

}  // namespace cavalry::cli
