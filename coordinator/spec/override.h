// One function for sweeps and --set: sets the value at a dotted path, parsed as if it stood in the
// spec. Any thread.
#pragma once

#include <string_view>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

// `path`: "load.sessions", "targets.sql.mysql.statements", "tables.customer.rows"; `value` as YAML.
// An unknown path names the nearest valid one. The document is unchanged on an error. An axis of
// the sweep over the same path is removed: the one value is what was asked for.
Status ApplyOverride(SpecDocument* document, std::string_view path, std::string_view value);

// "load.sessions=64".
Status ApplyAssignment(SpecDocument* document, std::string_view assignment);

}  // namespace cavalry::spec
