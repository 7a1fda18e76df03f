#include "coordinator/spec/text_check.h"

#include <cstdint>

#include "coordinator/spec/spec_loader.h"

namespace cavalry::spec {
namespace {

// Length of the well-formed UTF-8 sequence at the front (Unicode, table 3-7), 0 if there is none.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  if (length == 0 || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

bool CheckText(std::string_view text, FaultList* faults) {
  if (text.size() > kMaxSpecBytes) {
    faults->Add({1, 1},
                fmt::format("larger than {} MiB, which no spec needs", kMaxSpecBytes >> 20));
    return false;
  }
  Position at{1, 1};
  bool in_indentation = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = SequenceLength(text.substr(i));
    if (length == 0) {
      faults->Add(at, "the file is not UTF-8");
      return false;
    }
    const char c = text[i];
    if (c == '\t' && in_indentation) {
      faults->Add(at, "a tab in the indentation; YAML indents with spaces");
      return false;
    }
    const bool line_end = c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (control && c != '\t' && !line_end) {
      faults->Add(at, fmt::format("control character 0x{:02x}; write it as \"\\x{:02x}\"", c, c));
      return false;
    }
    in_indentation = c == '\n' || (in_indentation && c == ' ');
    at = c == '\n' ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
    i += length;
  }
  return true;
}

}  // namespace cavalry::spec
