// Wall clock times as labels. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace cavalry::report {

// "2026-11-30T21:27:43Z" of ns since 1970.
std::string IsoTime(std::int64_t wall_ns);

// "20261130-212743" in local time, for names of directories.
std::string DirectoryTime(std::int64_t wall_ns);

}  // namespace cavalry::report
