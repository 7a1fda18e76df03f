#include "drivers/cassandra/names.h"

#include <algorithm>
#include <array>

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::size_t kMaxFolderName = 48;

// CQL, appendix A: the keywords that cannot be names without quotes. Sorted.
constexpr std::array<std::string_view, 62> kReserved = {
    "add",    "allow",       "alter",  "and",          "apply",    "asc",      "authorize",
    "batch",  "begin",       "by",     "columnfamily", "create",   "default",  "delete",
    "desc",   "describe",    "drop",   "entries",      "execute",  "from",     "full",
    "grant",  "if",          "in",     "index",        "infinity", "insert",   "into",
    "is",     "keyspace",    "limit",  "materialized", "mbean",    "mbeans",   "modify",
    "nan",    "norecursive", "not",    "null",         "of",       "on",       "or",
    "order",  "primary",     "rename", "replace",      "revoke",   "schema",   "select",
    "set",    "table",       "to",     "token",        "truncate", "unlogged", "unset",
    "update", "use",         "using",  "view",         "where",    "with"};

bool IsReserved(std::string_view name) {
  return std::binary_search(kReserved.begin(), kReserved.end(), name);
}

bool IsPlain(std::string_view name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    quoted.push_back(c);
    if (c == quote) quoted.push_back(c);
  }
  quoted.push_back(quote);
  return quoted;
}

}  // namespace

std::string QuotedName(std::string_view name) {
  return IsPlain(name) && !IsReserved(name) ? std::string(name) : Quoted(name, '"');
}

std::string QuotedText(std::string_view text) { return Quoted(text, '\''); }

Status CheckFolderName(std::string_view what, std::string_view name) {
  if (name.empty()) return InvalidArgument("cassandra: the {} has no name", what);
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (is_word && name.size() <= kMaxFolderName) return absl::OkStatus();
  return InvalidArgument(
      "cassandra: {} \"{}\": Cassandra takes letters, digits and underscores there, at most {}; "
      "rename it",
      what, name, kMaxFolderName);
}

}  // namespace cavalry::drivers::cassandra
