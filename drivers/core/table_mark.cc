#include "drivers/core/table_mark.h"

#include <charconv>

#include <fmt/format.h>

namespace cavalry::drivers {
namespace {

constexpr std::string_view kPrefix = "cavalry:1 schema=";
constexpr std::string_view kRows = " rows=";
constexpr std::string_view kState = " state=";
constexpr std::size_t kHashDigits = 16;

std::string_view StateName(TableMark state) {
  switch (state) {
    case TableMark::kEmpty:
      return "empty";
    case TableMark::kFilled:
      return "filled";
    case TableMark::kUsed:
      return "used";
  }
  return "used";
}

bool Take(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

bool TakeNumber(int base, std::string_view* text, std::uint64_t* number) {
  const auto [stop, error] =
      std::from_chars(text->data(), text->data() + text->size(), *number, base);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<std::size_t>(stop - text->data()));
  return true;
}

}  // namespace

std::string FormatMark(const MarkText& mark) {
  return fmt::format("{}{:016x}{}{}{}{}", kPrefix, mark.schema_hash, kRows, mark.rows, kState,
                     StateName(mark.state));
}

std::optional<MarkText> ParseMark(std::string_view comment) {
  MarkText mark;
  if (!Take(kPrefix, &comment) || comment.size() < kHashDigits) return std::nullopt;
  std::string_view hash = comment.substr(0, kHashDigits);
  comment.remove_prefix(kHashDigits);
  if (!TakeNumber(16, &hash, &mark.schema_hash) || !hash.empty()) return std::nullopt;
  if (!Take(kRows, &comment) || !TakeNumber(10, &comment, &mark.rows)) return std::nullopt;
  if (!Take(kState, &comment)) return std::nullopt;
  for (const TableMark state : {TableMark::kEmpty, TableMark::kFilled, TableMark::kUsed}) {
    if (comment != StateName(state)) continue;
    mark.state = state;
    return mark;
  }
  return std::nullopt;
}

}  // namespace cavalry::drivers
