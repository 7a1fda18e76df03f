// What the load cost this process, from the operating system's own accounts. Not for the hot path.
#pragma once

#include <cstdint>

#include "agent/run/load_run.h"
#include "cavalry/v1/results.pb.h"

namespace cavalry::agent {

// Peak resident memory of the process so far, in bytes.
std::uint64_t PeakResidentBytes();

// A worker's cost, and whether it was the limit (design.md section 6: CPU at least 90 % of the
// step, or run-queue wait at least 10 %).
void ToMessage(const run::WorkerResult& worker, v1::WorkerUsage* usage);

// Raises the soft limit of open files to the hard one; returns what it is then.
std::uint64_t RaiseOpenFileLimit();

}  // namespace cavalry::agent
