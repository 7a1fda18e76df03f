// Status and outcomes between messages and types.
#pragma once

#include "cavalry/v1/results.pb.h"
#include "core/base/outcome.h"
#include "core/base/status.h"

namespace cavalry::wire {

void ToMessage(const Status& status, v1::Status* message);
// An unknown code becomes kUnknown; the text is cut at 8 KiB.
Status FromMessage(const v1::Status& message);

// False for a text that names no class.
bool OutcomeFromName(std::string_view name, Outcome* outcome);

}  // namespace cavalry::wire
