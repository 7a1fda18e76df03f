// Whether a table that is there fits a schema: names, types and key. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::mysql {

// A column as information_schema.COLUMNS describes it.
struct ActualColumn {
  std::string name;
  std::string type;     // COLUMN_TYPE: "int(10) unsigned", "varchar(25)"
  std::string charset;  // CHARACTER_SET_NAME, empty for binary and numbers
  bool in_primary_key = false;
};

// Errors name every column that is missing, of another type, or not the key.
Status CheckActualColumns(const TableSchema& table, const std::vector<ActualColumn>& actual);

}  // namespace cavalry::drivers::mysql
