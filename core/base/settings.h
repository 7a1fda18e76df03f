// A target's options as ordered name -> text, so that a driver knows no message: booleans are
// "true" and "false", numbers decimal, durations nanoseconds, enums their YAML word. Absent options
// are not in the list: a driver gives its defaults here. Immutable after building; any thread may
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cavalry {

struct Setting {
  std::string name;
  std::string value;
  bool secret = false;  // never shown
  std::string from;     // not empty: the value is still to be asked of this target
};

class Settings {
 public:
  void Add(Setting setting) { settings_.push_back(std::move(setting)); }
  const std::vector<Setting>& all() const { return settings_; }
  std::vector<Setting>& all() { return settings_; }

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The value, or `fallback` when absent.
  std::string Text(std::string_view name, std::string_view fallback) const;
  // The value as a number, or `fallback` when absent. REQUIRES: a number (the loader made it).
  std::uint64_t Number(std::string_view name, std::uint64_t fallback) const;

 private:
  const Setting* Find(std::string_view name) const;
  std::vector<Setting> settings_;
};

}  // namespace cavalry
