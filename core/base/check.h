// CAVALRY_CHECK(condition): a programmer's mistake ends the process with file, line and condition.
// Never for bytes from a network or a file, nor for user input: those return a Status.
#pragma once

namespace cavalry {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace cavalry

#define CAVALRY_CHECK(condition)                              \
  do {                                                        \
    if (!(condition)) [[unlikely]] {                          \
      ::cavalry::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                         \
  } while (false)
