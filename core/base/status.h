// absl::Status as the project uses it: texts are fmt strings, conversions from std::string_view
// live here because Debian's Abseil has a string_view type of its own. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cavalry {

using absl::Status;
using absl::StatusOr;

// Makes an error; `text` says what, on what, and what came back.
Status MakeStatus(absl::StatusCode code, std::string_view text);

// The text of a status as a std::string ("" when ok).
std::string StatusText(const Status& status);

// The same status with "prefix: " before its text; ok stays ok.
Status Annotate(const Status& status, std::string_view prefix);

// Wrong spec or wrong use (exit 2).
template <typename... Args>
Status InvalidArgument(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(absl::StatusCode::kInvalidArgument,
                    fmt::format(format, std::forward<Args>(args)...));
}

// The state of a server, table or machine does not allow it (exit 1).
template <typename... Args>
Status FailedPrecondition(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(absl::StatusCode::kFailedPrecondition,
                    fmt::format(format, std::forward<Args>(args)...));
}

// Could not be reached, or gone (exit 1).
template <typename... Args>
Status Unavailable(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(absl::StatusCode::kUnavailable,
                    fmt::format(format, std::forward<Args>(args)...));
}

// Malformed bytes from a peer or file.
template <typename... Args>
Status DataLoss(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(absl::StatusCode::kDataLoss, fmt::format(format, std::forward<Args>(args)...));
}

// A deadline passed.
template <typename... Args>
Status DeadlineExceeded(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(absl::StatusCode::kDeadlineExceeded,
                    fmt::format(format, std::forward<Args>(args)...));
}

// Stopped on request.
template <typename... Args>
Status Cancelled(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(absl::StatusCode::kCancelled, fmt::format(format, std::forward<Args>(args)...));
}

// A system call failed: "<what>: <strerror(error_number)>".
Status ErrnoStatus(int error_number, std::string_view what);

}  // namespace cavalry

// Returns from the enclosing function when `expression` is not ok.
#define CAVALRY_RETURN_IF_ERROR(expression)                                   \
  do {                                                                        \
    if (::absl::Status cavalry_status = (expression); !cavalry_status.ok()) { \
      return cavalry_status;                                                  \
    }                                                                         \
  } while (false)

#define CAVALRY_CONCAT_INNER(a, b) a##b
#define CAVALRY_CONCAT(a, b) CAVALRY_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
// CAVALRY_ASSIGN_OR_RETURN(auto value, expression): assigns, or returns the status.
#define CAVALRY_ASSIGN_OR_RETURN(target, expression) \
  CAVALRY_ASSIGN_OR_RETURN_INNER(CAVALRY_CONCAT(cavalry_result_, __LINE__), target, expression)
#define CAVALRY_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                      \
  if (!result.ok()) return result.status();                        \
  target = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
