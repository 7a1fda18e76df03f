// Rows as a pure function of seed, key and version: any agent can write a row and any other can
// check it. The generator is immutable; a RowBuffer belongs to one session and keeps its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/core/operation.h"

namespace cavalry::load {

enum class RuleKind : std::uint8_t {
  kKey,         // the key itself
  kPattern,     // text with the key in braces
  kRandomText,  // length and alphabet
  kRandomInt,   // low..high
  kNewVersion,  // the version
  kNull,
  kConstant,
  kNatural,  // what fits the type: decimals in -999.99..9999.99, dates in 2000..2029, …
};

// A piece of a pattern: literal text, then the key or version padded with zeros to `width` (0: as
// is).
struct PatternPiece {
  std::string literal;
  enum class Insert : std::uint8_t { kNothing, kKey, kVersion } insert = Insert::kNothing;
  std::uint32_t width = 0;
};

struct ColumnRule {
  RuleKind kind = RuleKind::kNatural;
  std::vector<PatternPiece> pattern;
  std::uint64_t low = 0, high = 0;  // of kRandomText (length) and kRandomInt
  // Alphabet of kRandomText, one byte a character ("": letters, digits, space); kConstant.
  std::string text;
};

// Values of one row and the bytes they point to.
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
  void Generate(std::uint64_t key, std::uint64_t version, RowBuffer* row) const;

  const std::vector<std::uint32_t>& columns() const { return columns_; }
  const std::vector<ColumnRule>& rules() const { return rules_; }
  // Most bytes a row's texts can take.
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  const drivers::TableSchema& table_;
  std::vector<std::uint32_t> columns_;
  std::vector<ColumnRule> rules_;
  std::uint64_t seed_;
  std::size_t max_bytes_ = 0;
};

// Whether a field as a server prints it is this value in a column of this type: numbers by value,
// decimals by value at the column's scale, char without trailing spaces, the rest byte by byte.
bool Matches(const drivers::Value& value, const ColumnType& type, const drivers::Field& field);

}  // namespace cavalry::load
