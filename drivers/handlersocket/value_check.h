// Whether a column can hold a value exactly. HandlerSocket ignores what storing a value came to: it
// truncates, clamps or stores 0 and answers "0 1" all the same, so such a value must not be sent.
// Any thread; the checks allocate nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers::handlersocket {

enum class ValueFault : std::uint8_t {
  kNone,
  kNull,      // NULL for a column that is NOT NULL
  kKind,      // a text for a number, a number for a text
  kRange,     // an integer or decimal beyond the column's range
  kLength,    // longer than the column
  kEncoding,  // not UTF-8
  kFormat,    // not a decimal, date or datetime
};

// A column's limits, looked up once per plan.
struct ColumnRule {
  explicit ColumnRule(const Column& of);

  const Column* column;  // outlives the rule
  ColumnType::Kind kind;
  bool nullable;
  std::int64_t integer_min;   // of integers
  std::uint64_t integer_max;  // of integers
  std::uint32_t length_max;   // characters or bytes: ColumnType::length
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
// nothing overlong, nothing above U+10FFFF).
std::int64_t CountCharacters(std::string_view text);

}  // namespace cavalry::drivers::handlersocket
