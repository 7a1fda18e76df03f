#include "coordinator/report/text_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace cavalry::report {
namespace {

constexpr std::size_t kLabelWidth = 9;

void TrimRight(std::string* line) { line->erase(line->find_last_not_of(' ') + 1); }

}  // namespace

void TextTable::AddRow(std::vector<std::string> cells) {
  CAVALRY_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::Render() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = std::max(columns_[c].head.size(), columns_[c].second_head.size());
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::size_t total = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  const char* const gap = total > kTextWidth ? " " : "  ";
  std::string text;
  const auto add_line = [&](auto cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      line += c == 0 ? "" : gap;
      line += columns_[c].left ? fmt::format("{:<{}}", cell, widths[c])
                               : fmt::format("{:>{}}", cell, widths[c]);
    }
    TrimRight(&line);
    text += line;
    text += '\n';
  };
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].head; });
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].second_head; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t c) -> const std::string& { return row[c]; });
  }
  return text;
}

std::string Folded(std::string_view start, std::size_t indent, std::string_view text) {
  std::string out;
  std::string line(start);
  bool fresh = true;  // nothing behind the start or the indent yet
  while (!text.empty()) {
    std::size_t blank = text.find(' ');
    // A figure and its percent sign stay together.
    if (blank != text.npos && text.substr(blank).starts_with(" %"))
      blank = text.find(' ', blank + 1);
    blank = std::min(blank, text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!fresh && line.size() + 1 + word.size() > kTextWidth) {
      TrimRight(&line);
      out += line;
      out += '\n';
      line = std::string(indent, ' ');
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  TrimRight(&line);
  out += line;
  out += '\n';
  return out;
}

std::string LabelledLine(std::string_view label, std::string_view text) {
  return Folded(fmt::format("{:<{}}", label, kLabelWidth), kLabelWidth, text);
}

std::string Printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= max_bytes) break;
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  if (out.size() < text.size()) out += "...";
  return out;
}

}  // namespace cavalry::report
