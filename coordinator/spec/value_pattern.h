// Patterns of values, "Customer#{key:09}": literal text with insertions in braces, {{ and }} for
// braces. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace cavalry::spec {

struct PatternLength {
  std::size_t characters = 0;
  std::size_t bytes = 0;
};

// What a pattern may insert beside {key}, {version} and {digits:n}.
struct PatternNames {
  std::string key_column;      // another name of the key; "" if the key has several columns
  std::size_t key_digits = 1;  // of the highest key
  // Columns whose whole number a pattern may take, and the highest number of each.
  std::vector<std::pair<std::string, std::uint64_t>> numbers;
};

// The longest result. The error names what is wrong with the pattern.
StatusOr<PatternLength> LongestResult(std::string_view pattern, const PatternNames& names);

// Whether the pattern is the key and nothing else: "{key}".
bool IsKeyAlone(std::string_view pattern, const PatternNames& names);

// Whether the pattern holds the key, so that its results differ from row to row.
bool HoldsKey(std::string_view pattern, const PatternNames& names);

}  // namespace cavalry::spec
