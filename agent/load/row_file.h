// The rows of a table as a file gives them (rows_from): a line a row, the columns in order,
// separated by | or by commas (by what the first line has), with or without a | at its end; \N is
// NULL. Read once, then immutable and shared by all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::load {

inline constexpr std::size_t kMaxRowFileBytes = std::size_t{1} << 30;

class RowFile {
 public:
  // Lines 1 to table.rows of the file as the rows of those numbers; further lines are not looked
  // at. Errors name path:line.
  static StatusOr<std::shared_ptr<const RowFile>> Load(const std::string& path,
                                                       const drivers::TableSchema& table);
  // The same from text; `path` is what errors say.
  static StatusOr<std::shared_ptr<const RowFile>> Parse(std::string text, const std::string& path,
                                                        const drivers::TableSchema& table);

  bool Has(std::uint64_t row) const { return row >= 1 && row <= starts_.size(); }
  // The value of a column; it points into the file. REQUIRES: Has(row).
  drivers::Value Read(std::uint64_t row, std::uint32_t column) const;
  // Of all that the rows are made of.
  std::uint64_t hash() const { return hash_; }

 private:
  RowFile() = default;

  std::string text_;
  std::vector<std::uint64_t> starts_;  // by row: where its line begins
  std::vector<std::uint32_t> ends_;    // by row and column: where the field ends, from there
  std::vector<ColumnType> types_;
  std::uint64_t hash_ = 0;
};

}  // namespace cavalry::load
