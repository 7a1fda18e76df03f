#include "drivers/cassandra/server_error.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "drivers/cassandra/wire.h"

namespace cavalry::drivers::cassandra {
namespace {

// Of the server's message in ours.
constexpr std::size_t kMaxMessageBytes = 400;

struct Known {
  std::uint32_t code;
  std::string_view name;
};

constexpr std::array<Known, 19> kKnown = {{{0x0000, "server_error"},
                                           {0x000a, "protocol_error"},
                                           {0x0100, "bad_credentials"},
                                           {0x1000, "unavailable"},
                                           {0x1001, "overloaded"},
                                           {0x1002, "bootstrapping"},
                                           {0x1003, "truncate_error"},
                                           {0x1100, "write_timeout"},
                                           {0x1200, "read_timeout"},
                                           {0x1300, "read_failure"},
                                           {0x1400, "function_failure"},
                                           {0x1500, "write_failure"},
                                           {0x1600, "cdc_write_failure"},
                                           {0x1700, "cas_unknown"},
                                           {0x2000, "syntax_error"},
                                           {0x2100, "unauthorized"},
                                           {0x2200, "invalid"},
                                           {0x2300, "config_error"},
                                           {0x2400, "already_exists"}}};

std::string_view NameOf(std::uint32_t code) {
  if (code == kErrorUnprepared) return "unprepared";
  for (const Known& known : kKnown) {
    if (known.code == code) return known.name;
  }
  return "unknown_error";
}

std::string_view LevelName(std::uint16_t level) {
  constexpr std::array<std::string_view, 11> kNames = {
      "ANY",          "ONE",         "TWO",    "THREE",        "QUORUM",   "ALL",
      "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};
  return level < kNames.size() ? kNames[level] : "?";
}

// What stands behind the message: how many replicas were asked for, and how many answered.
std::string Details(std::uint32_t code, std::uint8_t version, WireReader reader) {
  switch (code) {
    case 0x1000: {
      const std::uint16_t level = reader.Short();
      const std::int32_t required = reader.Int();
      const std::int32_t alive = reader.Int();
      if (!reader.ok()) return "";
      return fmt::format("{} of {} replicas alive for {}", alive, required, LevelName(level));
    }
    case 0x1100:
    case 0x1200:
    case 0x1300:
    case 0x1500:
    case 0x1700: {
      const std::uint16_t level = reader.Short();
      const std::int32_t received = reader.Int();
      const std::int32_t required = reader.Int();
      if (!reader.ok()) return "";
      std::string text =
          fmt::format("{} of {} replicas answered for {}", received, required, LevelName(level));
      if (code == 0x1300 || code == 0x1500) {
        const std::int32_t failures = reader.Int();
        if (version >= 5) {
          for (std::int32_t i = 0; i < failures && reader.ok(); ++i) {
            reader.Take(reader.Byte());  // [inetaddr]
            reader.Short();              // why
          }
        }
        if (reader.ok()) text += fmt::format(", {} failed", failures);
      }
      if (code == 0x1100 || code == 0x1500) {
        const std::string_view type = reader.String();
        if (reader.ok() && !type.empty()) text += fmt::format(", write type {}", type);
      }
      return text;
    }
    default:
      return "";
  }
}

std::string Printable(std::string_view message) {
  std::string text(message.substr(0, kMaxMessageBytes));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

}  // namespace

bool ReadServerError(std::string_view body, std::uint8_t version, bool write, ServerError* error) {
  WireReader reader(body);
  error->code = static_cast<std::uint32_t>(reader.Int());
  const std::string_view message = reader.String();
  if (!reader.ok()) return false;
  error->word = fmt::format("{:#06x} {}", error->code, NameOf(error->code));
  error->text = Printable(message);
  const std::string details = Details(error->code, version, reader);
  if (!details.empty()) error->text += fmt::format(" ({})", details);
  error->severity = Severity::kNormal;
  error->outcome_unknown = false;
  error->retryable = false;
  switch (error->code) {
    case 0x1000:  // nothing was tried
    case 0x1001:
    case 0x1002:
      error->retryable = true;
      break;
    case 0x0000:
    case 0x1100:
    case 0x1500:
    case 0x1600:
    case 0x1700:
      error->outcome_unknown = write;
      break;
    case kErrorProtocol:
      error->severity = Severity::kReconnect;
      break;
    case kErrorCredentials:
    case 0x2000:
    case 0x2100:
      error->severity = Severity::kFatal;
      break;
    default:
      break;
  }
  return true;
}

}  // namespace cavalry::drivers::cassandra
