#include "coordinator/spec/value_pattern.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/units.h"

namespace cavalry::spec {
namespace {

// Versions begin at 0 and rise by one a write: no run writes a column this often.
constexpr std::size_t kVersionDigits = 10;
constexpr std::size_t kMaxWidth = 255;

std::size_t Digits(std::uint64_t number) { return fmt::format("{}", number).size(); }

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsKey(std::string_view name, const PatternNames& names) {
  return name == "key" || (!name.empty() && name == names.key_column);
}

std::string Unknown(std::string_view name, const PatternNames& names) {
  std::vector<std::string> known = {"key"};
  if (!names.key_column.empty() && names.key_column != "key") known.push_back(names.key_column);
  known.emplace_back("version");
  known.emplace_back("digits");
  for (const auto& [column, highest] : names.numbers) {
    if (!IsKey(column, names)) known.push_back(column);
  }
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) return fmt::format("; did you mean '{{{}}}'?", nearest);
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

// Digits of the number in a column plus what is added: "nation+10".
StatusOr<std::size_t> ColumnDigits(std::string_view name, const PatternNames& names) {
  std::uint64_t plus = 0;
  std::string_view column = name;
  const std::size_t sign = name.rfind('+');
  if (sign != std::string_view::npos && ParseNumber(name.substr(sign + 1), &plus)) {
    column = name.substr(0, sign);
  } else {
    plus = 0;
  }
  for (const auto& [known, highest] : names.numbers) {
    if (known != column) continue;
    if (plus > std::numeric_limits<std::uint64_t>::max() - highest) {
      return InvalidArgument("'{{{}}}' can become too large", name);
    }
    return Digits(highest + plus);
  }
  return InvalidArgument("unknown placeholder '{{{}}}'{}", name, Unknown(column, names));
}

// Characters that "{name}" or "{name:09}" takes at most; `inner` is what stands between the braces.
StatusOr<std::size_t> PlaceholderLength(std::string_view inner, const PatternNames& names) {
  const std::size_t colon = inner.find(':');
  const std::string_view name = inner.substr(0, colon);
  const std::string_view digits =
      colon == std::string_view::npos ? std::string_view() : inner.substr(colon + 1);
  std::size_t width = 0;
  const bool has_width = colon != std::string_view::npos;
  if (name == "digits") {
    if (!ParseNumber(digits, &width) || width == 0 || width > kMaxWidth) {
      return InvalidArgument("'{{{}}}': how many digits stands after the colon, as in {{digits:4}}",
                             inner);
    }
    return width;
  }
  if (has_width &&
      (!ParseNumber(digits, &width) || digits[0] != '0' || width == 0 || width > kMaxWidth)) {
    return InvalidArgument(
        "'{{{}}}': after the colon stands a width with a leading 0, as in {{{}:09}}", inner, name);
  }
  if (IsKey(name, names)) return std::max(width, names.key_digits);
  if (name == "version") return std::max(width, kVersionDigits);
  CAVALRY_ASSIGN_OR_RETURN(const std::size_t longest, ColumnDigits(name, names));
  return std::max(width, longest);
}

}  // namespace

StatusOr<PatternLength> LongestResult(std::string_view pattern, const PatternNames& names) {
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
      CAVALRY_ASSIGN_OR_RETURN(const std::size_t digits,
                               PlaceholderLength(pattern.substr(i + 1, close - i - 1), names));
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

bool IsKeyAlone(std::string_view pattern, const PatternNames& names) {
  return pattern.size() > 2 && pattern.front() == '{' && pattern.back() == '}' &&
         IsKey(pattern.substr(1, pattern.size() - 2), names);
}

bool HoldsKey(std::string_view pattern, const PatternNames& names) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{') continue;
    if (i + 1 < pattern.size() && pattern[i + 1] == '{') {
      ++i;
      continue;
    }
    const std::size_t close = std::min(pattern.find('}', i), pattern.size());
    const std::string_view inner = pattern.substr(i + 1, close - i - 1);
    if (IsKey(inner.substr(0, inner.find(':')), names)) return true;
    i = close;
  }
  return false;
}

}  // namespace cavalry::spec
