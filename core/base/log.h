// The process's log: spdlog to stderr, with one pattern. Never on the hot path.
#pragma once

#include <string_view>

#include <spdlog/spdlog.h>

namespace cavalry {

// Sets up the default logger: "HH:MM:SS level name: text" on stderr. `level`: "info", "warning", ….
void SetUpLog(std::string_view name, std::string_view level);

}  // namespace cavalry
