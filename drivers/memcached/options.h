// The options of a memcached target; the defaults stand in proto/cavalry/v1/workload.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers::memcached {

enum class Protocol : std::uint8_t { kText, kMeta, kBinary };
enum class ValueForm : std::uint8_t { kPacked, kBytes };

struct Options {
  std::vector<Endpoint> servers;  // at least one
  Protocol protocol = Protocol::kText;
  std::string user;  // empty: no authentication
  std::string password;
  std::string key = "cavalry:{table}:{key}";
  ValueForm value = ValueForm::kPacked;
  bool blind = false;
  std::uint64_t expire_after_seconds = 0;  // 0: never
};

// Errors name the option.
StatusOr<Options> ReadOptions(const Settings& settings);

}  // namespace cavalry::drivers::memcached
