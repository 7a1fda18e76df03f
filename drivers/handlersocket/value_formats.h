// Whether a text is written as MariaDB reads it without a change: dates, times, numbers and JSON.
// What is not would be stored as zero, cut short or, in a JSON column, kept although it is no JSON,
// for HandlerSocket runs no checks. Pure functions; any thread; nothing is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cavalry::drivers::handlersocket {

// YYYY-MM-DD, a day of the calendar.
bool IsDate(std::string_view text);
// [-]HH:MM:SS or [-]HHH:MM:SS, at most 838:59:59.
bool IsTime(std::string_view text);
// YYYY-MM-DD HH:MM:SS.
bool IsDatetime(std::string_view text);
// A datetime that a timestamp column can hold in every time zone: from 1970-01-02 to 2038-01-17.
// The hours that a zone skips in spring are not known here; a server moves those forward.
bool IsTimestamp(std::string_view text);
// 0000, 1901 to 2155; always four digits, for a server takes "0" for 2000.
bool IsYear(std::string_view text);

// An optional sign and digits that fit; none: anything else.
struct WholeNumber {
  bool negative = false;
  std::uint64_t magnitude = 0;
};
std::optional<WholeNumber> ParseWholeNumber(std::string_view text);

// What a decimal's text has before and behind its point, without leading zeros; none: it is not
// [-]digits[.digits].
struct DecimalDigits {
  std::size_t whole = 0;
  std::size_t fraction = 0;
};
std::optional<DecimalDigits> CountDecimalDigits(std::string_view text);

// [-]digits[.digits][e[+-]digits], not beyond the bounds of a float or double.
enum class FloatText : std::uint8_t { kFits, kTooLarge, kMalformed };
FloatText CheckFloatText(std::string_view text, bool is_double);

// One JSON value (RFC 8259), nested at most as deep as MariaDB reads: 32 levels.
bool IsJson(std::string_view text);

}  // namespace cavalry::drivers::handlersocket
