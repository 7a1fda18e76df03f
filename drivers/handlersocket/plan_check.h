// What HandlerSocket cannot do, told before the run. Pure functions; any thread.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::handlersocket {

// Lines that one operation may become, and values that an IN list may have.
inline constexpr std::uint32_t kMaxBatch = 10'000;

// open_index names are not escaped, so some bytes cannot be in them; a comma parts columns.
Status CheckName(std::string_view what, std::string_view name, bool in_list);

// Kinds and forms that the protocol has, names that can be sent, columns and filters that the
// server takes. The error says what to write instead.
Status CheckOperation(const OperationPlan& plan);

}  // namespace cavalry::drivers::handlersocket
