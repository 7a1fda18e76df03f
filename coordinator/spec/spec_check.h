// The checks of a spec that need no server and no driver: references, types, ranges,
// contradictions. Every error names file:line:column and what to do. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

// All faults found, one a line, as one InvalidArgument; ok if none. Also checks every load point of
// the sweep, the thresholds' grammar, and that audit, reset and cleanup make sense together.
Status CheckSpec(const SpecDocument& document);

// Fills in every default that workload.proto states, so that later code reads no absence: script,
// rounds, order, compare, thresholds (failed < 1% unless named), load, audit, key ranges, rules of
// columns. Transactions become steps between begin and commit, operations that need not be listed
// are added, and sleeps are put behind the others: agents know no sleeps as operations, and so an
// operation has the same index in the spec, in their plans and in results. REQUIRES: CheckSpec
// passed.
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

// Whether targets of this kind can create, fill and read back tables: all but handlersocket.
bool CanOwnTables(const v1::Target& target);

// Whether steps are made for the target: it has no 'load: false'.
bool IsLoaded(const v1::Target& target);

// The targets that own the tables of loaded ones, in order, without repeats.
std::vector<std::string> TableOwners(const v1::Workload& workload);

// Kind of an operation ("read", "multi_read"): the name of the set member of `kind`. "" if none.
std::string KindName(const v1::OperationSpec& operation);

// Whether the operation is an insert, update or delete: what the audit reads back.
bool IsAuditedWrite(const v1::OperationSpec& operation);

// Operations that need not be listed: begin, commit, rollback, reset_connection, change_user.
bool IsImplicitOperation(std::string_view name);
std::vector<std::string> ImplicitOperations();

// Names of the operations that the script (with stages, their scripts) does, without repeats; of a
// script that says nothing, all.
std::vector<std::string> OperationsOfScript(const v1::Workload& workload);

// Times that an iteration of the script does the operation; of a mix, the most of its alternatives.
std::uint64_t TimesPerIteration(const v1::Workload& workload, std::string_view operation);

// The operation over whose keys a pass of the script goes: the first one, begins, sleeps and the
// like left out. Null if it draws no keys of a known number, and for a mix, which has no first one.
const v1::OperationSpec* PassOperation(const v1::Workload& workload);

// Whether the script (as ApplyDefaults leaves it) changes tables.
bool ScriptWrites(const v1::Workload& workload);

// Whether it has an insert, update or delete.
bool HasAuditedWrites(const v1::Workload& workload);

// The tables that operations of the script write to, without repeats. Where a native statement may
// write, nobody knows to which: all.
std::vector<std::string> TablesWritten(const v1::Workload& workload);

// A stage alone, as a workload of its own: with its script and its load, without stages.
// REQUIRES: defaults are filled in.
v1::Workload StageWorkload(const v1::Workload& workload, int stage);

// Rows that stages of so many iterations insert into the table: what a later stage may work on.
// `workload` with defaults.
std::uint64_t RowsOfStages(const v1::Workload& workload, std::string_view table);

}  // namespace cavalry::spec
