#include "core/base/settings.h"

#include <charconv>

#include "core/base/check.h"

namespace cavalry {

const Setting* Settings::Find(std::string_view name) const {
  for (const Setting& setting : settings_) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string Settings::Text(std::string_view name, std::string_view fallback) const {
  const Setting* setting = Find(name);
  return setting != nullptr ? setting->value : std::string(fallback);
}

std::uint64_t Settings::Number(std::string_view name, std::uint64_t fallback) const {
  const Setting* setting = Find(name);
  if (setting == nullptr) return fallback;
  const char* end = setting->value.data() + setting->value.size();
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(setting->value.data(), end, number);
  CAVALRY_CHECK(error == std::errc() && stop == end);
  return number;
}

}  // namespace cavalry
