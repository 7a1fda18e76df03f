// Sums of audit results over agents, rounds and load points. Pure; any thread.
#pragma once

#include <optional>

#include "cavalry/v1/results.pb.h"

namespace cavalry::report {

// Adds the counts, and samples up to a bound, each cut to a bound.
void AddAudit(const v1::AuditResult& from, std::optional<v1::AuditResult>* to);

}  // namespace cavalry::report
