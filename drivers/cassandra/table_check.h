// Whether a table that is there fits a schema: names, types and key. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::cassandra {

// A column as system_schema.columns describes it.
struct ActualColumn {
  std::string name;
  std::string type;   // "bigint"
  std::string kind;   // "partition_key", "clustering", "regular", "static"
  int position = -1;  // in the partition key or among the clustering columns
};

// The names of the columns of a kind, by position.
std::vector<std::string> NamesOf(const std::vector<ActualColumn>& actual, std::string_view kind);

// Errors name every column that is missing or of another type, and the key when it is another.
// Types must be the very ones: values are sent as the schema's type says.
Status CheckActualColumns(const TableSchema& table, const std::vector<ActualColumn>& actual);

}  // namespace cavalry::drivers::cassandra
