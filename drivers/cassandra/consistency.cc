#include "drivers/cassandra/consistency.h"

#include <array>
#include <utility>

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::array<std::pair<std::string_view, Consistency>, 11> kLevels = {{
    {"any", Consistency::kAny},
    {"one", Consistency::kOne},
    {"two", Consistency::kTwo},
    {"three", Consistency::kThree},
    {"quorum", Consistency::kQuorum},
    {"all", Consistency::kAll},
    {"local_quorum", Consistency::kLocalQuorum},
    {"each_quorum", Consistency::kEachQuorum},
    {"serial", Consistency::kSerial},
    {"local_serial", Consistency::kLocalSerial},
    {"local_one", Consistency::kLocalOne},
}};

}  // namespace

std::optional<Consistency> ParseConsistency(std::string_view word) {
  for (const auto& [name, level] : kLevels) {
    if (name == word) return level;
  }
  return std::nullopt;
}

std::string_view ConsistencyName(Consistency level) {
  for (const auto& [name, known] : kLevels) {
    if (known == level) return name;
  }
  return "unknown";
}

Consistency AuditLevel(Consistency read, Consistency write) {
  if (read == Consistency::kAll) return read;
  switch (write) {
    case Consistency::kAll:
      return read;
    case Consistency::kQuorum:
    // A quorum of each datacenter is a quorum of all, and more.
    case Consistency::kEachQuorum:
      return Consistency::kQuorum;
    case Consistency::kLocalQuorum:
      return Consistency::kLocalQuorum;
    default:
      return Consistency::kAll;
  }
}

StatementOptions AuditOptions(StatementOptions options) {
  options.read = AuditLevel(options.read, options.write);
  options.conditional = false;
  return options;
}

}  // namespace cavalry::drivers::cassandra
