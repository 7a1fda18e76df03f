// Checks of a spec's bytes before any YAML parser sees them: UTF-8, no control characters, no tabs
// as indentation, a bounded size. Any thread.
#pragma once

#include <string_view>

#include "coordinator/spec/fault_list.h"

namespace cavalry::spec {

// Adds a fault for the first of each kind. Returns whether the text is fit to be parsed.
bool CheckText(std::string_view text, FaultList* faults);

}  // namespace cavalry::spec
