// The keys of a file (from_file): a whole number a line. Read once, then immutable and shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace cavalry::load {

inline constexpr std::size_t kMaxKeyFileBytes = std::size_t{256} << 20;

using KeyList = std::vector<std::uint64_t>;

// At least one key, each at most kMaxKey. Errors name path:line.
StatusOr<std::shared_ptr<const KeyList>> LoadKeyFile(const std::string& path);
// The same from text; `path` is what errors say.
StatusOr<std::shared_ptr<const KeyList>> ParseKeyFile(std::string_view text,
                                                      const std::string& path);

}  // namespace cavalry::load
