#include "core/wire/status_codec.h"

#include "core/wire/utf8.h"

namespace cavalry::wire {
namespace {

constexpr std::size_t kMaxTextBytes = 8'192;

}  // namespace

void ToMessage(const Status& status, v1::Status* message) {
  message->set_code(static_cast<std::int32_t>(status.code()));
  message->set_text(ValidUtf8(StatusText(status), kMaxTextBytes));
}

Status FromMessage(const v1::Status& message) {
  if (message.code() == 0) return absl::OkStatus();
  constexpr auto kFirst = static_cast<std::int32_t>(absl::StatusCode::kCancelled);
  constexpr auto kLast = static_cast<std::int32_t>(absl::StatusCode::kUnauthenticated);
  const bool known = message.code() >= kFirst && message.code() <= kLast;
  const auto code =
      known ? static_cast<absl::StatusCode>(message.code()) : absl::StatusCode::kUnknown;
  return MakeStatus(code, ValidUtf8(message.text(), kMaxTextBytes));
}

bool OutcomeFromName(std::string_view name, Outcome* outcome) {
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    const auto candidate = static_cast<Outcome>(i);
    if (OutcomeName(candidate) != name) continue;
    *outcome = candidate;
    return true;
  }
  return false;
}

}  // namespace cavalry::wire
