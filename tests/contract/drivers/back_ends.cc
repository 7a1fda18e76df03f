#include <cstdlib>
#include <iterator>

#include "tests/contract/drivers/back_end.h"

namespace cavalry::driver_contract {

const std::vector<BackEnd>& AllBackEnds() {
  static const auto* const all = [] {
    auto* back_ends = new std::vector<BackEnd>;
    for (const auto of_driver :
         {MysqlBackEnds, HandlerSocketBackEnds, MemcachedBackEnds, CassandraBackEnds}) {
      std::vector<BackEnd> some = of_driver();
      std::move(some.begin(), some.end(), std::back_inserter(*back_ends));
    }
    return back_ends;
  }();
  return *all;
}

std::string Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

Settings With(Settings settings, std::string name, std::string value) {
  for (Setting& setting : settings.all()) {
    if (setting.name != name) continue;
    setting.value = std::move(value);
    return settings;
  }
  settings.Add({std::move(name), std::move(value)});
  return settings;
}

}  // namespace cavalry::driver_contract
