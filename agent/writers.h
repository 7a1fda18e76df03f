// One writer per key, so that the last acknowledged write of each is known and can be audited.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/run/load_plan.h"

namespace cavalry::agent {

// Moves the keys of every sequence that an update or delete of the table takes keys from to the
// sessions' classes. An inserted key has one writer anyway, its own session, unless other keys
// reach into the inserted ones. Where there are several writers, nobody knows which write is the
// last, and the writes are not audited; nor are rows that the server numbers, and updates of
// columns alone whose values nobody knows. `used`: whether the script has the operation. REQUIRES:
// each same_as has its source before it.
void SeparateWriters(std::uint32_t table, const std::vector<bool>& used, run::LoadPlan* plan);

// By column of a table: whether nobody knows the value that an insert or update leaves there: it is
// the server's, another operation of the spec adds to it, or an insert does not give it.
std::vector<bool> UnknownColumns(const drivers::TableSchema& table,
                                 const std::vector<drivers::OperationPlan>& operations);

}  // namespace cavalry::agent
