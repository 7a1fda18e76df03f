// What Cassandra cannot do, and what it does otherwise than SQL: told before the run. Pure; any
// thread. CheckOperation is in statement.h.
#pragma once

#include <string>
#include <vector>

#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {

// Names that the server can carry.
Status CheckTable(const TableSchema& table);

// Sentences on one operation, each naming it. REQUIRES: CheckOperation passed.
void AddWarnings(const StatementOptions& options, const OperationPlan& operation,
                 std::vector<std::string>* warnings);
// Sentences on a table.
void AddTableWarnings(const TableSchema& table, std::vector<std::string>* warnings);

}  // namespace cavalry::drivers::cassandra
