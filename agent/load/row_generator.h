// Rows as a pure function of seed, key and version: any agent can write a row and any other can
// check it. The generator is immutable; a RowBuffer belongs to one session and keeps its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/load/row_file.h"
#include "drivers/core/operation.h"

namespace cavalry::load {

enum class RuleKind : std::uint8_t {
  kKey,         // the row's number itself
  kPattern,     // text with insertions
  kRandomText,  // length and alphabet
  kRandomInt,   // low..high
  kNewVersion,  // the version
  kNull,
  kConstant,
  kHashed,   // a hash of the row's number
  kOneOf,    // one of some texts
  kServer,   // SQL of the server's: nobody knows the value; where it cannot be sent, as kNatural
  kNatural,  // what fits the type: decimals in -999.99..9999.99, dates in 2000..2029, …
};

struct ColumnRule;

// A piece of a pattern: literal text, then an insertion; numbers are padded with zeros to `width`
// (0: as they are).
struct PatternPiece {
  std::string literal;
  enum class Insert : std::uint8_t {
    kNothing,
    kKey,
    kVersion,
    kDigits,  // `width` random digits
    kColumn,  // the number in `column`, which `rule` makes (IsNumeric), plus `plus`
  } insert = Insert::kNothing;
  std::uint32_t width = 0;
  std::uint32_t column = 0;
  std::uint64_t plus = 0;
  std::shared_ptr<const ColumnRule> rule;
};

struct ColumnRule {
  RuleKind kind = RuleKind::kNatural;
  std::vector<PatternPiece> pattern;
  // Of kRandomText (length) and kRandomInt. Of kHashed in integer columns: the highest number.
  std::uint64_t low = 0, high = 0;
  // Alphabet of kRandomText, one byte a character ("": letters, digits, space); kConstant.
  std::string text;
  std::vector<std::string> texts;  // of kOneOf; not empty
  // Of kRandomText: lengths by the generalized Pareto distribution, cut to low..high, when the
  // scale is above 0; else each equally likely.
  double pareto_location = 0, pareto_scale = 0, pareto_shape = 0;
  bool as_filled = false;  // the value of version 0, whatever the version
  // Rows that the file has are filled from it, whatever the rule; null: none.
  std::shared_ptr<const RowFile> file;
};

// Whether a pattern can take the rule's number: keys, random whole numbers, hashes of less than 64
// bits, and constants that are whole numbers without a sign.
bool IsNumeric(const ColumnRule& rule);

// Values of one row, or of several one after the other, and the bytes they point to.
class RowBuffer {
 public:
  std::span<const drivers::Value> values() const { return values_; }

 private:
  friend class RowGenerator;
  std::vector<drivers::Value> values_;
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
};

class RowGenerator {
 public:
  // `rules`: one per column in `columns` (indexes into table.columns). `table` must outlive it.
  RowGenerator(const drivers::TableSchema& table, std::vector<std::uint32_t> columns,
               std::vector<ColumnRule> rules, std::uint64_t seed);

  // Fills `row` with the values of (key, version). Allocates only while `row` has not yet held one.
  void Generate(std::uint64_t key, std::uint64_t version, RowBuffer* row) const {
    Generate(key, version, 0, 1, row);
  }
  // The same as row `index` of `count` rows, which are filled one by one from the first on.
  void Generate(std::uint64_t key, std::uint64_t version, std::size_t index, std::size_t count,
                RowBuffer* rows) const;

  const std::vector<std::uint32_t>& columns() const { return columns_; }
  const std::vector<ColumnRule>& rules() const { return rules_; }
  // Most bytes a row's texts can take.
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  // Writes the value's text behind `out`; returns where it ends.
  char* WriteValue(std::size_t position, std::uint64_t key, std::uint64_t version, char* out,
                   drivers::Value* value) const;

  const drivers::TableSchema& table_;
  std::vector<std::uint32_t> columns_;
  std::vector<ColumnRule> rules_;
  std::uint64_t seed_;
  std::size_t max_bytes_ = 0;
};

// Whether a field as a server prints it is this value in a column of this type: numbers by value
// (float to the six digits that are printed), char without trailing spaces, binary without the NUL
// bytes it is padded with, the rest byte by byte.
bool Matches(const drivers::Value& value, const ColumnType& type, const drivers::Field& field);

}  // namespace cavalry::load
