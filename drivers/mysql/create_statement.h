// The DDL of a table. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers::mysql {

// `comment` is the table's mark. REQUIRES: the table passed CheckTable.
std::string CreateStatement(const TableSchema& table, std::string_view comment);

}  // namespace cavalry::drivers::mysql
