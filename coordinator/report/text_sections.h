// The sections of the text report behind its headline, each whole lines or "". Pure; any thread.
#pragma once

#include <string>

#include "coordinator/report/report.h"

namespace cavalry::report {

// One row a (load point, target): rate, spread over rounds, response time, failures, client CPU.
std::string SummaryTable(const Report& report);
// Scripts of several operations: service time of each; otherwise a line that says why there is
// none.
std::string OperationTable(const Report& report);
// Of clusters of several nodes; "" without any.
std::string NodeTable(const Report& report);
// attempted = the sum of the nine classes.
std::string OutcomeLines(const Report& report);
std::string ErrorLines(const Report& report);
// Pages that the servers read from disk, step by step, where the spec has conditions: what "cold"
// is worth. "" without.
std::string DiskLines(const Report& report);
// What caches count of themselves over the measured steps; "" without any.
std::string CacheLines(const Report& report);

std::string AuditLines(const Report& report);
std::string ConnectLines(const Report& report);
// What is alike and what is not between the targets, by the spec.
std::string EqualLines(const Report& report);
std::string ClientLines(const Report& report);
std::string AgentLines(const Report& report);
std::string ServerLines(const Report& report);

}  // namespace cavalry::report
