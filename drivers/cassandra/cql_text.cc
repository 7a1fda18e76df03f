#include "drivers/cassandra/cql_text.h"

#include <algorithm>

namespace cavalry::drivers::cassandra {
namespace {

constexpr auto kNone = std::string_view::npos;

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::size_t Behind(std::string_view text, std::string_view end, std::size_t from) {
  const std::size_t found = text.find(end, from);
  return found == kNone ? kNone : found + end.size();
}

// The place behind the comment or quoted text that begins at `begin`; `begin` when none does, kNone
// when it does not end. A doubled quote ends one text and begins the next, which comes to the same.
std::size_t Skip(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  if (rest.starts_with("--") || rest.starts_with("//")) {
    return std::min(text.find('\n', begin), text.size());
  }
  if (rest.starts_with("/*")) return Behind(text, "*/", begin + 2);
  if (rest.starts_with("$$")) return Behind(text, "$$", begin + 2);
  if (rest.starts_with('\'')) return Behind(text, "'", begin + 1);
  if (rest.starts_with('"')) return Behind(text, "\"", begin + 1);
  return begin;
}

bool IsComment(std::string_view rest) {
  return rest.starts_with("--") || rest.starts_with("//") || rest.starts_with("/*");
}

bool BeginsWithWord(std::string_view text, std::string_view word) {
  return text.size() > word.size() &&
         !std::isalnum(static_cast<unsigned char>(text[word.size()])) &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == std::toupper(static_cast<unsigned char>(b));
         });
}

}  // namespace

std::size_t NextMark(std::string_view cql, std::size_t from) {
  for (std::size_t i = from; i < cql.size();) {
    if (cql[i] == '?') return i;
    const std::size_t end = Skip(cql, i);
    if (end == kNone) return kNone;
    i = std::max(end, i + 1);
  }
  return kNone;
}

CqlText LookAtCql(std::string_view cql) {
  CqlText seen;
  for (std::size_t i = 0; i < cql.size();) {
    const std::string_view rest = cql.substr(i);
    if (!IsBlank(cql[i]) && cql[i] != ';' && !IsComment(rest)) {
      if (seen.is_empty) {
        seen.is_select = BeginsWithWord(rest, "SELECT");
        seen.is_schema = BeginsWithWord(rest, "CREATE") || BeginsWithWord(rest, "ALTER") ||
                         BeginsWithWord(rest, "DROP");
      }
      seen.is_empty = false;
    }
    if (cql[i] == '?') ++seen.marks;
    const std::size_t end = Skip(cql, i);
    if (end == kNone) {
      seen.is_open = true;
      return seen;
    }
    i = std::max(end, i + 1);
  }
  return seen;
}

}  // namespace cavalry::drivers::cassandra
