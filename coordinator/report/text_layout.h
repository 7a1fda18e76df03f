// Plain text for people: aligned tables, and labelled lines folded to a width. ASCII columns; texts
// with other characters are passed through. Pure; one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cavalry::report {

inline constexpr std::size_t kTextWidth = 100;

// A table whose columns are as wide as their widest cell; figures to the right, names to the left.
// Two blanks between columns, one where that would be wider than kTextWidth.
class TextTable {
 public:
  struct Column {
    std::string head;
    std::string second_head;
    bool left = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell a column, and a column.
  void AddRow(std::vector<std::string> cells);
  std::string Render() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `start` and `text`, folded at blanks to kTextWidth; further lines begin with `indent` blanks.
std::string Folded(std::string_view start, std::size_t indent, std::string_view text);

// "label    text", folded at blanks to kTextWidth, with the label's column left free below it.
std::string LabelledLine(std::string_view label, std::string_view text);

// The text without control characters (a server's error text may hold any), cut to `max_bytes`.
std::string Printable(std::string_view text, std::size_t max_bytes);

}  // namespace cavalry::report
