#include "core/base/status.h"

#include <system_error>

namespace cavalry {

Status MakeStatus(absl::StatusCode code, std::string_view text) {
  return Status(code, absl::string_view(text.data(), text.size()));
}

std::string StatusText(const Status& status) {
  return std::string(status.message().data(), status.message().size());
}

Status Annotate(const Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  return MakeStatus(status.code(), fmt::format("{}: {}", prefix, StatusText(status)));
}

Status ErrnoStatus(int error_number, std::string_view what) {
  // The generic category's text is strerror's, without its shared buffer.
  return MakeStatus(absl::ErrnoToStatusCode(error_number),
                    fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

}  // namespace cavalry
