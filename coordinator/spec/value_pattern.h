// Patterns of values, "Customer#{C_CUSTKEY:09}": literal text with the key or {version} in braces,
// {{ and }} for braces. Pure; any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/status.h"

namespace cavalry::spec {

struct PatternLength {
  std::size_t characters = 0;
  std::size_t bytes = 0;
};

// The longest result for keys of at most `key_digits` digits. The error names what is wrong with
// the pattern. `key_column`: the name that the key goes by.
StatusOr<PatternLength> LongestResult(std::string_view pattern, std::string_view key_column,
                                      std::size_t key_digits);

}  // namespace cavalry::spec
