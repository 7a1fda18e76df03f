// One scalar of a spec: text to a field of any type and unit, and back. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/spec/schema.h"
#include "core/base/status.h"

namespace cavalry::spec {

// Sets `field` (adds to it, if it is repeated) from `text`. The error says what is wrong with the
// text and how to write it, but not where it stands. REQUIRES: not a message field.
Status SetScalar(std::string_view text, Message* message, const FieldDescriptor* field);

// The text that SetScalar reads back to the same value. `index`: of a repeated field.
std::string ScalarText(const Message& message, const FieldDescriptor* field, int index = 0);

// What a field wants, for errors: "a duration such as 60s", "one of tcp, unix".
std::string DescribeScalar(const FieldDescriptor* field);

// "; did you mean 'x'?", or "; <list_name>: a, b, c" if nothing is near.
std::string Suggestion(std::string_view name, const std::vector<std::string>& candidates,
                       std::string_view list_name);

}  // namespace cavalry::spec
