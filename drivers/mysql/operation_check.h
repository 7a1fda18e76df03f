// What a table and an operation must be so that the driver can do them. Pure; any thread.
#pragma once

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::mysql {

// Names that the server can carry.
Status CheckTable(const TableSchema& table);
// Errors name the operation and say what to change.
Status CheckOperation(const OperationPlan& operation);

}  // namespace cavalry::drivers::mysql
