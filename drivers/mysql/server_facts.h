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

// Counters since the server's start, in a fixed order; those it does not have are left out.
StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> ReadCounters(
    AdminConnection* connection);

// What a run asks of the server.
struct Demand {
  std::uint64_t sessions = 0;
  std::uint64_t statements = 0;     // prepared ones of each session
  std::uint64_t request_bytes = 0;  // of the largest request; 0: not known
};

// Sentences on limits below that, each naming the variable to raise.
StatusOr<std::vector<std::string>> ReadLimits(AdminConnection* connection, const Demand& demand);

}  // namespace cavalry::drivers::mysql
