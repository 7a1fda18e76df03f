#include "coordinator/spec/value_pattern.h"

#include <algorithm>
#include <charconv>

#include "core/base/units.h"

namespace cavalry::spec {
namespace {

// Versions begin at 0 and rise by one a write: no run writes a column this often.
constexpr std::size_t kVersionDigits = 10;
constexpr std::size_t kMaxWidth = 255;

// Characters that "{name}" or "{name:09}" takes at most; `inner` is what stands between the braces.
StatusOr<std::size_t> PlaceholderLength(std::string_view inner, std::string_view key_column,
                                        std::size_t key_digits) {
  const std::size_t colon = inner.find(':');
  const std::string_view name = inner.substr(0, colon);
  std::size_t width = 0;
  if (colon != std::string_view::npos) {
    const std::string_view digits = inner.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
    if (error != std::errc() || end != digits.data() + digits.size() || digits[0] != '0' ||
        width == 0 || width > kMaxWidth) {
      return InvalidArgument(
          "'{{{}}}': after the colon stands a width with a leading 0, as in {{{}:09}}", inner,
          name);
    }
  }
  if (name == key_column) return std::max(width, key_digits);
  if (name == "version") return std::max(width, kVersionDigits);
  const std::string nearest = NearestName(name, {std::string(key_column), "version"});
  return InvalidArgument("unknown placeholder '{{{}}}'; known: {{{}}} and {{version}}{}", name,
                         key_column,
                         nearest.empty() ? "" : fmt::format("; did you mean '{{{}}}'?", nearest));
}

}  // namespace

StatusOr<PatternLength> LongestResult(std::string_view pattern, std::string_view key_column,
                                      std::size_t key_digits) {
  PatternLength length;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      ++i;
    } else if (c == '}') {
      return InvalidArgument("a '}}' without '{{'; a brace itself is written }}}}");
    } else if (c == '{') {
      const std::size_t close = pattern.find('}', i);
      if (close == std::string_view::npos) {
        return InvalidArgument("a '{{' without '}}'; a brace itself is written {{{{");
      }
      CAVALRY_ASSIGN_OR_RETURN(
          const std::size_t digits,
          PlaceholderLength(pattern.substr(i + 1, close - i - 1), key_column, key_digits));
      length.characters += digits;
      length.bytes += digits;
      i = close;
      continue;
    }
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++length.characters;
    ++length.bytes;
  }
  return length;
}

}  // namespace cavalry::spec
