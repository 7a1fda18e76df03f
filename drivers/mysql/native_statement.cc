#include "drivers/mysql/native_statement.h"

#include <algorithm>

namespace cavalry::drivers::mysql {
namespace {

constexpr auto kNone = std::string_view::npos;

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The place behind the quoted text that begins at `begin`; kNone when it does not end.
std::size_t EndOfQuote(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote != '`') {
      ++i;
    } else if (text[i] == quote) {
      // A doubled quote stands for itself.
      if (i + 1 == text.size() || text[i + 1] != quote) return i + 1;
      ++i;
    }
  }
  return kNone;
}

// The place behind the comment that begins at `begin`; `begin` when none does, kNone when it does
// not end.
std::size_t EndOfComment(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  if (rest.starts_with("/*")) {
    const std::size_t end = text.find("*/", begin + 2);
    return end == kNone ? kNone : end + 2;
  }
  // Two dashes begin a comment only before a blank: "1--1" is a number.
  const bool is_dashes = rest.starts_with("--") && (rest.size() == 2 || IsBlank(rest[2]));
  if (!is_dashes && !rest.starts_with('#')) return begin;
  return std::min(text.find('\n', begin), text.size());
}

}  // namespace

NativeStatement ParseNative(std::string_view text) {
  NativeStatement statement;
  std::size_t piece = 0;
  bool ended = false;  // a semicolon was seen behind a statement
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t comment = EndOfComment(text, i);
    if (comment != i || IsBlank(c)) {
      statement.is_open |= comment == kNone;
      i = comment == i ? i + 1 : std::min(comment, text.size());
      continue;
    }
    if (c == ';') {
      ended |= !statement.is_empty;
      ++i;
      continue;
    }
    statement.is_empty = false;
    statement.several |= ended;
    if (c == '\'' || c == '"' || c == '`') {
      const std::size_t end = EndOfQuote(text, i);
      statement.is_open |= end == kNone;
      i = std::min(end, text.size());
      continue;
    }
    if (c == '?') {
      statement.pieces.push_back(text.substr(piece, i - piece));
      piece = i + 1;
    }
    ++i;
  }
  statement.pieces.push_back(text.substr(piece));
  return statement;
}

}  // namespace cavalry::drivers::mysql
