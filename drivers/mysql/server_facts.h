// What a server tells of itself: the variables that a reader of a report wants, and the limits that
// a run could meet.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "drivers/mysql/admin_connection.h"

namespace cavalry::drivers::mysql {

// Name and value, in a fixed order; never a secret. What the server does not have is left out.
StatusOr<std::vector<std::pair<std::string, std::string>>> ReadServerVariables(
    AdminConnection* connection);

// Sentences on limits below what so many sessions need. `statements`: prepared ones of each
// session.
StatusOr<std::vector<std::string>> ReadLimits(AdminConnection* connection, std::uint64_t sessions,
                                              std::uint64_t statements);

}  // namespace cavalry::drivers::mysql
