// How steps are grouped, ordered and called in a report: a load point is all that tells steps apart
// but target and round. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "cavalry/v1/workload.pb.h"

namespace cavalry::report {

// Equal for two steps of one load point.
std::string LoadPointKey(const v1::Step& step);

// "16 sessions"; with other axes or conditions "warm, 16 sessions, pipeline 4".
std::string LoadPointLabel(const v1::Step& step);

// "hs, 16 sessions".
std::string StepLabel(const v1::Step& step);

// Ranks of a step in the spec, to sort by: its values on the sweep's axes, condition, stage, then
// its target.
std::vector<std::size_t> SpecOrder(const v1::Step& step, const v1::Workload& workload);

// The script's name: given, else its only operation's, else "script".
std::string ScriptName(const v1::Workload& workload);

// The only operation of the script, or "" when it has several (or one several times).
std::string OnlyOperation(const v1::Workload& workload);

// What is counted per second: "find", or "ops" for scripts of several operations.
std::string UnitName(const v1::Workload& workload);

}  // namespace cavalry::report
