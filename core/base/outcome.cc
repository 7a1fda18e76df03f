#include "core/base/outcome.h"

#include "core/base/check.h"

namespace cavalry {

std::string_view OutcomeName(Outcome outcome) {
  static constexpr std::array<std::string_view, kOutcomeCount> kNames = {
      "ok", "miss", "rejected", "timeout", "broken", "not_sent", "dropped", "abandoned", "sent"};
  const auto index = static_cast<std::size_t>(outcome);
  CAVALRY_CHECK(index < kNames.size());
  return kNames[index];
}

}  // namespace cavalry
