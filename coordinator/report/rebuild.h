// A run's aggregator, made again from its journal. One thread.
#pragma once

#include <memory>
#include <string>

#include "coordinator/report/aggregator.h"
#include "core/base/status.h"

namespace cavalry::report {

// Reads `journal_path`. A torn tail becomes a warning of the run, a step that was open is closed as
// interrupted. What the live run refused is refused again; the journal holds a warning for each.
StatusOr<std::unique_ptr<Aggregator>> RebuildRun(const std::string& journal_path);

}  // namespace cavalry::report
