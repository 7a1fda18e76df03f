// Errors of the native protocol: section 9 of native_protocol_v5.spec. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers::cassandra {

inline constexpr std::uint32_t kErrorProtocol = 0x000a;
inline constexpr std::uint32_t kErrorCredentials = 0x0100;
inline constexpr std::uint32_t kErrorUnprepared = 0x2500;

struct ServerError {
  std::uint32_t code = 0;
  std::string word;  // "0x1100 write_timeout"
  std::string text;  // the server's message, and what the error says beside it
  // The operation's end.
  Severity severity = Severity::kNormal;
  bool outcome_unknown = false;
  bool retryable = false;
};

// `body`: of an ERROR. False: malformed. `write`: whether the operation changes rows.
bool ReadServerError(std::string_view body, std::uint8_t version, bool write, ServerError* error);

}  // namespace cavalry::drivers::cassandra
