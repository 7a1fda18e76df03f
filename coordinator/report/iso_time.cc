#include "coordinator/report/iso_time.h"

#include <ctime>

#include "core/base/clock.h"

namespace cavalry::report {
namespace {

std::string Format(const char* format, const std::tm& time) {
  char text[64];
  const std::size_t size = std::strftime(text, sizeof(text), format, &time);
  return std::string(text, size);
}

}  // namespace

std::string IsoTime(std::int64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / kSecond);
  std::tm time{};
  gmtime_r(&seconds, &time);
  return Format("%Y-%m-%dT%H:%M:%SZ", time);
}

std::string DirectoryTime(std::int64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / kSecond);
  std::tm time{};
  localtime_r(&seconds, &time);
  return Format("%Y%m%d-%H%M%S", time);
}

}  // namespace cavalry::report
