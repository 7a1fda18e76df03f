// What HandlerSocket does otherwise than SQL and who compares the two should know. Pure; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "drivers/core/operation.h"

namespace cavalry::drivers::handlersocket {

// Sentences, each naming the operation. REQUIRES: CheckOperation passed.
void AddWarnings(const OperationPlan& plan, std::vector<std::string>* warnings);

}  // namespace cavalry::drivers::handlersocket
