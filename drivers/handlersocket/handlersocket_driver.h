// MariaDB's HandlerSocket plugin: finds rows by an index and changes them, without SQL. It creates
// no tables; a mysql target does that for it (tables_of).
#pragma once

#include "drivers/core/driver.h"

namespace cavalry::drivers::handlersocket {

const Driver& GetDriver();

}  // namespace cavalry::drivers::handlersocket
