// Whether a column can hold a value exactly. HandlerSocket ignores what storing a value came to: it
// truncates, clamps or stores 0 and answers "0 1" all the same, so such a value must not be sent,
// also not as a key: it would find another row. Equal keys are found as the column's collation has
// it: by default `A` finds `a`, and trailing spaces don't count. Any thread; the checks allocate
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers::handlersocket {

enum class ValueFault : std::uint8_t {
  kNone,
  kNull,      // NULL for a column that is NOT NULL
  kKind,      // a text for a number, a number for a text
  kRange,     // a number beyond the column's range, or with more digits behind the point
  kLength,    // longer than the column
  kEncoding,  // not UTF-8, or not the same in the column's character set
  kFormat,    // not written as the type is: number, date, time, year, json
};

// How many bytes of UTF-8 a character may have that is the same bytes in a character set of MariaDB
// (empty: utf8mb4); 0: not even ASCII is.
std::size_t CharacterBytesMax(std::string_view charset);

// A column's limits, looked up once per plan.
struct ColumnRule {
  explicit ColumnRule(const Column& of, std::string_view charset = {});

  const Column* column;  // outlives the rule
  ColumnType::Kind kind;
  bool nullable;
  std::int64_t integer_min;         // of integers
  std::uint64_t integer_max;        // of integers
  std::uint32_t length_max;         // characters or bytes: ColumnType::length
  std::size_t character_bytes_max;  // CharacterBytesMax of the column's character set
};

// REQUIRES: `rule` is of an integer column.
inline ValueFault CheckInteger(const ColumnRule& rule, const Value& value) {
  const auto bits = static_cast<std::uint64_t>(value.integer);
  if (value.kind == Value::Kind::kInteger) [[likely]] {
    if (value.integer < 0) {
      return value.integer >= rule.integer_min ? ValueFault::kNone : ValueFault::kRange;
    }
    return bits <= rule.integer_max ? ValueFault::kNone : ValueFault::kRange;
  }
  if (value.kind == Value::Kind::kUnsigned) {
    return bits <= rule.integer_max ? ValueFault::kNone : ValueFault::kRange;
  }
  if (value.kind != Value::Kind::kNull) return ValueFault::kKind;
  return rule.nullable ? ValueFault::kNone : ValueFault::kNull;
}

// Any column. `needs_escape` is set for texts: whether their bytes hold one to be escaped, which
// the check sees in passing.
ValueFault CheckValue(const ColumnRule& rule, const Value& value, bool& needs_escape);

// "column C_NAME: a text of 31 characters does not fit varchar(25)". REQUIRES: fault is not kNone.
std::string DescribeFault(ValueFault fault, const ColumnRule& rule, const Value& value);

// The number of characters, or -1 when `text` is not well-formed UTF-8 (RFC 3629: no surrogates,
// nothing overlong, nothing above U+10FFFF) or has a character of more bytes than given.
std::int64_t CountCharacters(std::string_view text, std::size_t character_bytes_max = 4);

}  // namespace cavalry::drivers::handlersocket
