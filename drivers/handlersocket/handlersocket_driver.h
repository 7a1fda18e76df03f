// MariaDB's HandlerSocket plugin: finds and changes rows by primary key without SQL. It creates no
// tables; a mysql target does that for it (tables_of).
#pragma once

#include "drivers/core/driver.h"

namespace cavalry::drivers::handlersocket {

const Driver& GetDriver();

}  // namespace cavalry::drivers::handlersocket
