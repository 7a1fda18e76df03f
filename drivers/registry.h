// The one table: kind -> driver.
#pragma once

#include <string_view>
#include <vector>

#include "drivers/core/driver.h"

namespace cavalry::drivers {

// Null for an unknown kind.
const Driver* FindDriver(std::string_view kind);
const std::vector<const Driver*>& AllDrivers();

}  // namespace cavalry::drivers
