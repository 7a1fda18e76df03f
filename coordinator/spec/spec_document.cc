#include "coordinator/spec/spec_document.h"

namespace cavalry::spec {

std::string SpecDocument::Where(std::string_view path) const {
  std::string_view rest = path;
  while (true) {
    const auto found = positions.find(rest);
    if (found != positions.end()) {
      const Position at = found->second;
      if (at.line == 0) return fmt::format("--set {}", rest);
      return fmt::format("{}:{}:{}", file, at.line, at.column);
    }
    if (rest.empty()) return file;
    const std::size_t cut = rest.find_last_of(".[");
    rest = cut == std::string_view::npos ? std::string_view() : rest.substr(0, cut);
  }
}

}  // namespace cavalry::spec
