// The driver "mysql": MySQL and MariaDB by Connector/C, text or prepared statements, over TCP or a
// Unix socket. Client model: pollable.
#pragma once

#include "drivers/core/driver.h"

namespace cavalry::drivers::mysql {

const Driver& GetDriver();

}  // namespace cavalry::drivers::mysql
