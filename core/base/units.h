// Texts with units to numbers and back: "60s", "4KiB", "20k/s". Any thread; no locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry {

// "250ns", "10us", "250ms", "60s", "2m", "1.5h", "1m30s" -> ns. "0" alone is allowed; any other
// number without a unit is an error that says so, as are negative, overflowing and empty texts.
StatusOr<Nanos> ParseDuration(std::string_view text);

// "512", "64KiB", "1MiB", "2GB", "10kB", "5B" -> bytes.
StatusOr<std::uint64_t> ParseBytes(std::string_view text);

// "150000", "150_000", "20k", "1.5M", "2G" -> a whole number; a fraction that is not whole is an
// error.
StatusOr<std::uint64_t> ParseCount(std::string_view text);

// "0.1%", "0.5" -> a fraction: 0.001, 0.5.
StatusOr<double> ParseShare(std::string_view text);

// A finite number, the whole text. C locale.
StatusOr<double> ParseNumber(std::string_view text);

// Shortest exact form with one unit: 60s, 250ms, 1.5us, 17m, 0s.
std::string FormatDuration(Nanos duration);

// For people: "17 min 31 s", "80 s", "350 ms".
std::string FormatDurationWords(Nanos duration);

// Thousands separated by commas: 1,234,567.
std::string FormatCount(std::uint64_t count);

// Three significant digits or whole with separators: 8,475 or 64.3 or 0.412.
std::string FormatFigure(double value);

// The nearest of `candidates` by edit distance, or "" if none is near enough to suggest.
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace cavalry
