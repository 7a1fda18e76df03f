// `cavalry init [PRESET|URL] [FILE]`: writes a first spec. `cavalry presets`: the specs that the
// program brings along. One thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cavalry::cli {

struct InitOptions {
  std::string what;  // a preset's name or mysql://USER@HOST:PORT/DATABASE; "" asks
  std::string file = "cavalry.yaml";
};

// Returns 0; 1 if the file is there already or cannot be written; 2 for wrong use.
int InitCommand(const InitOptions& options);

// Lists names with what each is. Returns 0.
int PresetsCommand();

// The commented spec for the server of a URL, its password left to the environment. InvalidArgument
// says what is wrong with the URL.
StatusOr<std::string> SpecForUrl(std::string_view url);

}  // namespace cavalry::cli
