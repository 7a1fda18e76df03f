// The mark in a table's comment by which cavalry knows its own tables:
// "cavalry:1 schema=<16 hex digits> rows=<n> state=empty|filled|used". Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drivers/core/admin.h"

namespace cavalry::drivers {

struct MarkText {
  std::uint64_t schema_hash = 0;
  std::uint64_t rows = 0;
  TableMark state = TableMark::kEmpty;
};

std::string FormatMark(const MarkText& mark);

// Nothing when the comment is not such a mark, whole and exact: then the table is not ours.
std::optional<MarkText> ParseMark(std::string_view comment);

}  // namespace cavalry::drivers
