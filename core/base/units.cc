#include "core/base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace cavalry {
namespace {

__extension__ using Wide = unsigned __int128;

struct NamedUnit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kHour = 3'600ULL * kSecond;
constexpr std::uint64_t kMinute = 60ULL * kSecond;

constexpr std::array<NamedUnit, 7> kDurations = {{
    {"ns", 1},
    {"us", kMicrosecond},
    {"\u00b5s", kMicrosecond},
    {"ms", kMillisecond},
    {"s", kSecond},
    {"m", kMinute},
    {"h", kHour},
}};
constexpr std::array<NamedUnit, 9> kBytes = {{
    {"B", 1},
    {"kB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
    {"KiB", 1ULL << 10},
    {"MiB", 1ULL << 20},
    {"GiB", 1ULL << 30},
    {"TiB", 1ULL << 40},
}};
constexpr std::array<NamedUnit, 3> kCounts = {{
    {"k", 1'000},
    {"M", 1'000'000},
    {"G", 1'000'000'000},
}};

// 19 digits always fit into 64 bits; more are out of every range here.
constexpr int kMaxDigits = 19;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// mantissa / 10^scale, exactly: a spec's "0.1s" must not become 99,999,999 ns.
struct Decimal {
  std::uint64_t mantissa = 0;
  int scale = 0;
};

// Takes "digits[.digits]" off the front of `text`. Nothing if it does not begin so, or has too many
// digits.
std::optional<Decimal> TakeDecimal(std::string_view* text) {
  Decimal decimal;
  int digits = 0;
  std::size_t at = 0;
  bool in_fraction = false;
  for (; at < text->size(); ++at) {
    const char c = (*text)[at];
    if (c == '.' && !in_fraction && at > 0) {
      in_fraction = true;
      continue;
    }
    if (!IsDigit(c)) break;
    if (decimal.mantissa != 0 || c != '0') ++digits;
    if (digits > kMaxDigits) return std::nullopt;
    decimal.mantissa = decimal.mantissa * 10 + static_cast<std::uint64_t>(c - '0');
    if (in_fraction && ++decimal.scale > kMaxDigits) return std::nullopt;
  }
  const bool ends_with_point = at > 0 && (*text)[at - 1] == '.';
  if (at == 0 || ends_with_point) return std::nullopt;
  text->remove_prefix(at);
  return decimal;
}

// decimal * factor as a whole number of at most `highest`; nothing if it is not one.
std::optional<std::uint64_t> Whole(const Decimal& decimal, std::uint64_t factor,
                                   std::uint64_t highest) {
  Wide value = Wide{decimal.mantissa} * factor;
  for (int i = 0; i < decimal.scale; ++i) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  if (value > highest) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

const NamedUnit* FindUnit(std::span<const NamedUnit> units, std::string_view name) {
  for (const NamedUnit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// A number with an optional unit, the whole text. `what` and `units_text` are for the error.
StatusOr<std::uint64_t> ParseWithOptionalUnit(std::string_view text,
                                              std::span<const NamedUnit> units,
                                              std::string_view what, std::string_view units_text) {
  std::string_view rest = text;
  const std::optional<Decimal> decimal = TakeDecimal(&rest);
  if (!decimal) return InvalidArgument("\"{}\" is not a {}", text, what);
  std::uint64_t factor = 1;
  if (!rest.empty()) {
    const NamedUnit* unit = FindUnit(units, rest);
    if (unit == nullptr) {
      return InvalidArgument("\"{}\" has an unknown unit \"{}\"; known: {}", text, rest,
                             units_text);
    }
    factor = unit->factor;
  }
  const std::optional<std::uint64_t> value =
      Whole(*decimal, factor, std::numeric_limits<std::uint64_t>::max());
  if (!value) return InvalidArgument("\"{}\" is not a whole number or too large", text);
  return *value;
}

// The value in one unit, with as many decimals as it takes. REQUIRES: factor is a power of ten, or
// divides the value.
std::string InUnit(std::uint64_t value, const NamedUnit& unit) {
  std::uint64_t remainder = value % unit.factor;
  std::string text = fmt::format("{}", value / unit.factor);
  if (remainder != 0) text += '.';
  for (std::uint64_t step = unit.factor / 10; remainder != 0; step /= 10) {
    text += static_cast<char>('0' + remainder / step);
    remainder %= step;
  }
  return text.append(unit.name);
}

// Folds what people mix up without meaning another name: case, and - for _.
std::string Folded(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return folded;
}

// Edit distance with transposition of neighbours (optimal string alignment).
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

StatusOr<Nanos> ParseDuration(std::string_view text) {
  constexpr auto kHighest = static_cast<std::uint64_t>(std::numeric_limits<Nanos>::max());
  if (text == "0") return 0;
  if (text.empty()) return InvalidArgument("a duration is empty; write 60s or 250ms");
  std::string_view rest = text;
  std::uint64_t total = 0;
  std::uint64_t previous_factor = std::numeric_limits<std::uint64_t>::max();
  while (!rest.empty()) {
    const std::optional<Decimal> decimal = TakeDecimal(&rest);
    if (!decimal || rest.starts_with('.')) {
      return InvalidArgument("\"{}\" is not a duration; write 60s, 250ms or 1m30s", text);
    }
    std::size_t end = 0;
    while (end < rest.size() && !IsDigit(rest[end]) && rest[end] != '.') ++end;
    if (end == 0) {
      return InvalidArgument("duration \"{0}\" lacks a unit; write {0}s or {0}ms", text);
    }
    const NamedUnit* unit = FindUnit(kDurations, rest.substr(0, end));
    if (unit == nullptr) {
      return InvalidArgument(
          "duration \"{}\" has an unknown unit \"{}\"; known: ns, us, ms, s, m, h", text,
          rest.substr(0, end));
    }
    // "30s1m" or "1s1s" is more likely a slip than meant.
    if (unit->factor >= previous_factor) {
      return InvalidArgument("duration \"{}\" must go from larger to smaller units", text);
    }
    previous_factor = unit->factor;
    rest.remove_prefix(end);
    const std::optional<std::uint64_t> part = Whole(*decimal, unit->factor, kHighest - total);
    if (!part) return InvalidArgument("duration \"{}\" is too long or finer than 1ns", text);
    total += *part;
  }
  return static_cast<Nanos>(total);
}

StatusOr<std::uint64_t> ParseBytes(std::string_view text) {
  return ParseWithOptionalUnit(text, kBytes, "size; write 512, 64KiB or 1MB",
                               "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024)");
}

StatusOr<std::uint64_t> ParseCount(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits += text[i];
      continue;
    }
    const bool between =
        i > 0 && i + 1 < text.size() && IsDigit(text[i - 1]) && IsDigit(text[i + 1]);
    if (!between)
      return InvalidArgument("\"{}\" is not a count; write 150000, 150_000 or 20k", text);
  }
  return ParseWithOptionalUnit(digits, kCounts, "count; write 150000, 150_000 or 20k",
                               "k, M, G (powers of 1000)");
}

StatusOr<double> ParseShare(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view figure = percent ? text.substr(0, text.size() - 1) : text;
  const StatusOr<double> number = ParseNumber(figure);
  if (!number.ok()) return InvalidArgument("\"{}\" is not a share; write 0.1% or 0.001", text);
  const double share = percent ? *number / 100 : *number;
  if (share < 0 || share > 1) {
    return InvalidArgument("share \"{}\" is not between 0 and 100%{}", text,
                           percent ? "" : "; is a % missing?");
  }
  return share;
}

StatusOr<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(number)) {
    return InvalidArgument("\"{}\" is not a number", text);
  }
  return number;
}

std::string FormatDuration(Nanos duration) {
  if (duration == 0) return "0s";
  const bool negative = duration < 0;
  // Unsigned negation, so that the lowest Nanos has a text too.
  const std::uint64_t value =
      negative ? 0 - static_cast<std::uint64_t>(duration) : static_cast<std::uint64_t>(duration);
  std::string best;
  for (const NamedUnit& unit : kDurations) {
    if (unit.name == "\u00b5s" || value < unit.factor) continue;
    const bool long_unit = unit.factor >= kMinute;
    // Minutes and hours only whole; one minute reads better as 60s.
    if (long_unit && (value % unit.factor != 0 || value < 2 * kMinute)) continue;
    std::string text = InUnit(value, unit);
    if (best.empty() || text.size() <= best.size()) best = std::move(text);
  }
  return negative ? fmt::format("-{}", best) : best;
}

std::string FormatDurationWords(Nanos duration) {
  if (duration < 0) return fmt::format("-{}", FormatDurationWords(-std::max(duration, -INT64_MAX)));
  const auto rounded = [duration](Nanos unit) {
    return duration / unit + (duration % unit + unit / 2) / unit;
  };
  if (duration == 0) return "0 s";
  if (duration < kMicrosecond) return fmt::format("{} ns", duration);
  if (rounded(kMicrosecond) < 1'000) return fmt::format("{} us", rounded(kMicrosecond));
  if (rounded(kMillisecond) < 1'000) return fmt::format("{} ms", rounded(kMillisecond));
  const Nanos tenths = rounded(kSecond / 10);
  if (tenths < 100 && tenths % 10 != 0) return fmt::format("{}.{} s", tenths / 10, tenths % 10);
  const Nanos seconds = rounded(kSecond);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 3'600) {
    if (seconds % 60 == 0) return fmt::format("{} min", seconds / 60);
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  const Nanos minutes = (seconds + 30) / 60;
  if (minutes % 60 == 0) return fmt::format("{} h", minutes / 60);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string FormatCount(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string FormatFigure(double value) {
  if (!std::isfinite(value)) return "n/a";
  if (value < 0) return fmt::format("-{}", FormatFigure(-value));
  if (value == 0) return "0";
  // The bounds are where rounding reaches the next digit: 99.96 is "100", not "100.0".
  constexpr double kLargest = 1.8e19;
  if (value >= kLargest) return fmt::format("{:.3g}", value);
  if (value >= 99.95) return FormatCount(static_cast<std::uint64_t>(std::round(value)));
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  if (value >= 0.9995) return fmt::format("{:.2f}", value);
  return fmt::format("{:#.3g}", value);
}

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return "";
  const std::string folded = Folded(name);
  // A third of the name may be wrong, at most three letters; never all of it.
  const std::size_t allowed = std::clamp<std::size_t>(name.size() / 3, 1, 3);
  std::size_t best_distance = allowed + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = EditDistance(folded, Folded(candidate));
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best != nullptr ? *best : "";
}

}  // namespace cavalry
