// The nine classes that every intended operation ends in, and what a driver says of one answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cavalry {

enum class Outcome : std::uint8_t {
  kOk,         // answered as wanted
  kMiss,       // clean "no such row"
  kRejected,   // the server answered with an error
  kTimeout,    // our deadline passed
  kBroken,     // connection lost, answer unknown
  kNotSent,    // could not be written, refused connection included
  kDropped,    // an open-loop arrival that could never be sent
  kAbandoned,  // in flight when the drain deadline passed, or when its agent was lost
  kSent,       // written without asking for an answer
};
inline constexpr std::size_t kOutcomeCount = 9;

// "ok", "miss", "rejected", "timeout", "broken", "not_sent", "dropped", "abandoned", "sent".
std::string_view OutcomeName(Outcome outcome);

// What happens to the session's connection after an operation.
enum class Severity : std::uint8_t {
  kNormal,     // goes on
  kReconnect,  // the connection is of no further use; a new one is made with back-off
  kFatal,      // will not get better (wrong password, HandlerSocket code 2): ends the step
};

}  // namespace cavalry
