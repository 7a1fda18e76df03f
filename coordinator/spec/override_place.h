// ApplyOverride for callers that know where the value comes from: a sweep's values stand in the
// file.
#pragma once

#include <string_view>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

// `place`: what errors begin with. `position`: where the value stands, line 0 if in no file.
Status ApplyOverrideAt(SpecDocument* document, std::string_view path, std::string_view value,
                       std::string_view place, Position position);

}  // namespace cavalry::spec
