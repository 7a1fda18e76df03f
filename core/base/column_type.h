// The SQL column types that a spec can name, parsed once: used by the spec's check, the row
// generator and the drivers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cavalry {

struct ColumnType {
  enum class Kind : std::uint8_t {
    kInteger,    // tinyint, smallint, int, bigint
    kDecimal,    // decimal(precision, scale)
    kChar,       // char(length): trailing spaces are not significant
    kVarchar,    // varchar(length)
    kText,       // text, up to 65,535 bytes
    kVarbinary,  // varbinary(length)
    kDate,       // date
    kDatetime,   // datetime
  };
  Kind kind = Kind::kInteger;
  std::uint8_t width_bytes = 4;  // of integers: 1, 2, 4, 8
  bool is_unsigned = false;      // of integers
  std::uint32_t length = 0;      // of char, varchar, varbinary (characters or bytes), text: 65,535
  std::uint8_t precision = 0;    // of decimal
  std::uint8_t scale = 0;        // of decimal
  std::string sql;               // normalized SQL: "int unsigned", "varchar(25)"

  bool is_integer() const { return kind == Kind::kInteger; }
  bool is_text() const {
    return kind == Kind::kChar || kind == Kind::kVarchar || kind == Kind::kText;
  }
  // Bounds of an integer column; minimum is 0 when unsigned.
  std::int64_t integer_min() const;
  std::uint64_t integer_max() const;
};

// Parses "varchar(25)", "INT UNSIGNED", "decimal(15,2)"; case and blanks don't matter. The error
// names the types there are.
StatusOr<ColumnType> ParseColumnType(std::string_view text);

}  // namespace cavalry
