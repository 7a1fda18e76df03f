// The files of configs/, embedded when the program is built, so that an installed one has them.
#pragma once

#include <span>
#include <string_view>

namespace cavalry::cli {

struct Preset {
  std::string_view name;  // "published/e1": the file's path in configs/ without .yaml
  std::string_view text;
};

// Sorted by name.
std::span<const Preset> Presets();

}  // namespace cavalry::cli
