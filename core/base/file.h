// Reading files whole. Blocking; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/status.h"

namespace cavalry {

// The bytes of a file of at most `max_bytes`. Errors name the path.
StatusOr<std::string> ReadFile(const std::string& path, std::size_t max_bytes);

}  // namespace cavalry
