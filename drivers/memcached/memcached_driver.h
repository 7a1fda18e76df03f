// The driver of memcached (https://memcached.org): rows as items. See drivers/core/driver.h.
#pragma once

#include "drivers/core/driver.h"

namespace cavalry::drivers::memcached {

const Driver& GetDriver();

}  // namespace cavalry::drivers::memcached
