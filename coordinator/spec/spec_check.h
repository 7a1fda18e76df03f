// The checks of a spec that need no server and no driver: references, types, ranges,
// contradictions. Every error names file:line:column and what to do. Any thread.
#pragma once

#include <string>
#include <vector>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

// All faults found, one a line, as one InvalidArgument; ok if none. Also checks every load point of
// the sweep, the thresholds' grammar, and that audit, reset and cleanup make sense together.
Status CheckSpec(const SpecDocument& document);

// Fills in every default that workload.proto states, so that later code reads no absence: script,
// rounds, order, compare, thresholds (failed < 1% unless named), load, audit, key ranges, rules of
// columns. REQUIRES: CheckSpec passed.
void ApplyDefaults(v1::Workload* workload);

// Replaces { env: … } and { file: … } of secrets by their values ("from" stays). The error names
// the place, never the value.
Status ResolveSecrets(SpecDocument* document);

// A copy with every secret text replaced by "***".
v1::Workload RedactSecrets(const v1::Workload& workload);

// The driver's name of a target ("mysql"): the name of the set member of `kind`. "" if none.
std::string DriverOf(const v1::Target& target);

// Name of the target that owns the tables of `target`.
std::string OwnerOf(const v1::Target& target);

// Whether steps are made for the target: it has no 'load: false'.
bool IsLoaded(const v1::Target& target);

// The targets that own the tables of loaded ones, in order, without repeats.
std::vector<std::string> TableOwners(const v1::Workload& workload);

// Whether the script (as ApplyDefaults leaves it) has an insert, update or delete.
bool ScriptWrites(const v1::Workload& workload);

// The tables that operations of the script write to, without repeats.
std::vector<std::string> TablesWritten(const v1::Workload& workload);

}  // namespace cavalry::spec
