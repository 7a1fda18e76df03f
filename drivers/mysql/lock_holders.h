// Names the connections that can keep a table's metadata lock, for an error of DDL that waited too
// long.
#pragma once

#include <string>

#include "drivers/mysql/admin_connection.h"

namespace cavalry::drivers::mysql {

// Never fails: what could not be asked is said in the text.
std::string DescribeLockHolders(AdminConnection* connection);

}  // namespace cavalry::drivers::mysql
