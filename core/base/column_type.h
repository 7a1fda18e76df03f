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
    kInteger,    // tinyint, smallint, mediumint, int, bigint, boolean
    kDecimal,    // decimal(precision, scale)
    kFloat,      // float
    kDouble,     // double
    kChar,       // char(length): trailing spaces are not significant
    kVarchar,    // varchar(length)
    kText,       // text, mediumtext, longtext
    kBinary,     // binary(length): shorter values are padded with NUL bytes
    kVarbinary,  // varbinary(length)
    kBlob,       // blob, mediumblob, longblob
    kDate,       // date
    kTime,       // time
    kDatetime,   // datetime
    kTimestamp,  // timestamp: from 1970-01-01 00:00:01 to 2038-01-19 03:14:07 UTC
    kYear,       // year: 0000, 1901..2155
    kJson,       // json
  };
  Kind kind = Kind::kInteger;
  std::uint8_t width_bytes = 4;  // of integers: 1, 2, 3, 4, 8
  bool is_unsigned = false;      // of integers
  bool is_boolean = false;       // of integers: boolean or tinyint(1), written with 0 and 1
  // Of char and varchar: characters. Of binary, varbinary, text, blob and json: bytes.
  std::uint32_t length = 0;
  std::uint8_t precision = 0;  // of decimal
  std::uint8_t scale = 0;      // of decimal
  std::string sql;             // normalized SQL: "int unsigned", "varchar(25)"

  bool is_integer() const { return kind == Kind::kInteger; }
  bool is_text() const {
    return kind == Kind::kChar || kind == Kind::kVarchar || kind == Kind::kText;
  }
  bool is_binary() const {
    return kind == Kind::kBinary || kind == Kind::kVarbinary || kind == Kind::kBlob;
  }
  // Integers, decimal, float, double.
  bool is_number() const {
    return kind == Kind::kInteger || kind == Kind::kDecimal || kind == Kind::kFloat ||
           kind == Kind::kDouble;
  }
  // Bounds of an integer column; minimum is 0 when unsigned.
  std::int64_t integer_min() const;
  std::uint64_t integer_max() const;
};

// Parses "varchar(25)", "INT UNSIGNED", "decimal(15,2)"; case and blanks don't matter, nor does the
// display width of "int(11)". The error names the types there are.
StatusOr<ColumnType> ParseColumnType(std::string_view text);

}  // namespace cavalry
