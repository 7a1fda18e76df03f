#include "core/base/log.h"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_color_sinks.h>

namespace cavalry {

void SetUpLog(std::string_view name, std::string_view level) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(std::string(name), std::move(sink));
  logger->set_pattern("%H:%M:%S %^%l%$ %n: %v");
  // spdlog takes an unknown word for "off"; a mistyped level must not silence errors.
  spdlog::level::level_enum parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off") parsed = spdlog::level::info;
  logger->set_level(parsed);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace cavalry
