#include "drivers/handlersocket/value_check.h"

#include <fmt/format.h>

#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::size_t kDateBytes = 10;      // YYYY-MM-DD
constexpr std::size_t kDatetimeBytes = 19;  // YYYY-MM-DD HH:MM:SS

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number in `text`'s digits, or -1 when one is not a digit.
int TwoDigits(std::string_view text, std::size_t at) {
  if (!IsDigit(text[at]) || !IsDigit(text[at + 1])) return -1;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

// A day of the calendar; anything else would be stored as 0000-00-00. REQUIRES: kDateBytes bytes.
bool IsDate(std::string_view text) {
  const int century = TwoDigits(text, 0);
  const int year_of_century = TwoDigits(text, 2);
  const int month = TwoDigits(text, 5);
  const int day = TwoDigits(text, 8);
  if (century < 0 || year_of_century < 0 || text[4] != '-' || text[7] != '-') return false;
  if (month < 1 || month > 12 || day < 1) return false;
  const int year = century * 100 + year_of_century;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const bool short_month = month == 4 || month == 6 || month == 9 || month == 11;
  const int days = month == 2 ? (leap ? 29 : 28) : (short_month ? 30 : 31);
  return day <= days;
}

// REQUIRES: kDatetimeBytes bytes.
bool IsDatetime(std::string_view text) {
  if (!IsDate(text.substr(0, kDateBytes)) || text[10] != ' ' || text[13] != ':' ||
      text[16] != ':') {
    return false;
  }
  const int hour = TwoDigits(text, 11);
  const int minute = TwoDigits(text, 14);
  const int second = TwoDigits(text, 17);
  return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

// [-]digits[.digits] with no more digits on either side than the column has.
ValueFault CheckDecimalText(const ColumnType& type, std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  const std::size_t point = text.find('.');
  std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && fraction.empty())) {
    return ValueFault::kFormat;
  }
  for (const char c : whole) {
    if (!IsDigit(c)) return ValueFault::kFormat;
  }
  for (const char c : fraction) {
    if (!IsDigit(c)) return ValueFault::kFormat;
  }
  while (!whole.empty() && whole.front() == '0') whole.remove_prefix(1);
  const auto whole_max = static_cast<std::size_t>(type.precision - type.scale);
  if (whole.size() > whole_max || fraction.size() > type.scale) return ValueFault::kRange;
  return ValueFault::kNone;
}

ValueFault CheckDecimal(const ColumnRule& rule, const Value& value) {
  const ColumnType& type = rule.column->type;
  if (value.kind == Value::Kind::kText) return CheckDecimalText(type, value.text);
  if (value.kind == Value::Kind::kBinary) return ValueFault::kKind;
  auto left = static_cast<std::uint64_t>(value.integer);
  if (value.kind == Value::Kind::kInteger && value.integer < 0) left = ~left + 1;
  int digits = 0;
  for (; left != 0; left /= 10) ++digits;
  return digits <= type.precision - type.scale ? ValueFault::kNone : ValueFault::kRange;
}

ValueFault CheckText(const ColumnRule& rule, std::string_view text, bool& needs_escape) {
  const ByteKinds kinds = FindByteKinds(text);
  needs_escape = kinds.needs_escape;
  if (rule.kind == ColumnType::Kind::kVarbinary) {
    return text.size() <= rule.length_max ? ValueFault::kNone : ValueFault::kLength;
  }
  std::size_t length = text.size();
  if (kinds.non_ascii) {
    const std::int64_t characters = CountCharacters(text);
    if (characters < 0) return ValueFault::kEncoding;
    // A text column is bounded in bytes, the others in characters.
    if (rule.kind != ColumnType::Kind::kText) length = static_cast<std::size_t>(characters);
  }
  return length <= rule.length_max ? ValueFault::kNone : ValueFault::kLength;
}

ValueFault CheckTime(const ColumnRule& rule, const Value& value) {
  if (value.kind != Value::Kind::kText) return ValueFault::kKind;
  const bool fits = rule.kind == ColumnType::Kind::kDate
                        ? value.text.size() == kDateBytes && IsDate(value.text)
                        : value.text.size() == kDatetimeBytes && IsDatetime(value.text);
  return fits ? ValueFault::kNone : ValueFault::kFormat;
}

std::string DescribeValue(const ColumnRule& rule, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "NULL";
    case Value::Kind::kInteger:
      return fmt::format("{}", value.integer);
    case Value::Kind::kUnsigned:
      return fmt::format("{}", static_cast<std::uint64_t>(value.integer));
    case Value::Kind::kText:
    case Value::Kind::kBinary:
      break;
  }
  const std::int64_t characters = CountCharacters(value.text);
  const bool in_characters =
      rule.kind == ColumnType::Kind::kChar || rule.kind == ColumnType::Kind::kVarchar;
  if (in_characters && characters >= 0) return fmt::format("a text of {} characters", characters);
  return fmt::format("a text of {} bytes", value.text.size());
}

}  // namespace

ColumnRule::ColumnRule(const Column& of)
    : column(&of),
      kind(of.type.kind),
      nullable(of.nullable),
      integer_min(of.type.is_integer() ? of.type.integer_min() : 0),
      integer_max(of.type.is_integer() ? of.type.integer_max() : 0),
      length_max(of.type.length) {}

ValueFault CheckValue(const ColumnRule& rule, const Value& value, bool& needs_escape) {
  needs_escape = false;
  if (value.kind == Value::Kind::kNull) {
    return rule.nullable ? ValueFault::kNone : ValueFault::kNull;
  }
  switch (rule.kind) {
    case ColumnType::Kind::kInteger:
      return CheckInteger(rule, value);
    case ColumnType::Kind::kDecimal:
      return CheckDecimal(rule, value);
    case ColumnType::Kind::kChar:
    case ColumnType::Kind::kVarchar:
    case ColumnType::Kind::kText:
    case ColumnType::Kind::kVarbinary:
      if (value.kind != Value::Kind::kText && value.kind != Value::Kind::kBinary) {
        return ValueFault::kKind;
      }
      return CheckText(rule, value.text, needs_escape);
    case ColumnType::Kind::kDate:
    case ColumnType::Kind::kDatetime:
      return CheckTime(rule, value);
    default:
      return ValueFault::kKind;  // a type that the driver's check refuses
  }
}

std::string DescribeFault(ValueFault fault, const ColumnRule& rule, const Value& value) {
  const std::string& name = rule.column->name;
  const std::string& type = rule.column->type.sql;
  const std::string what = DescribeValue(rule, value);
  switch (fault) {
    case ValueFault::kNone:
      break;
    case ValueFault::kNull:
      return fmt::format("column {}: NULL, but the column is not nullable", name);
    case ValueFault::kKind:
      return fmt::format("column {}: {} is not a value for {}", name, what, type);
    case ValueFault::kRange:
    case ValueFault::kLength:
      return fmt::format("column {}: {} does not fit {}", name, what, type);
    case ValueFault::kEncoding:
      return fmt::format("column {}: {} is not UTF-8, as {} needs", name, what, type);
    case ValueFault::kFormat:
      return fmt::format("column {}: {} is not written as a {}", name, what, type);
  }
  return name;
}

std::int64_t CountCharacters(std::string_view text) {
  std::int64_t characters = 0;
  std::size_t i = 0;
  const auto byte_at = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    const unsigned char lead = byte_at(i);
    ++characters;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    // The bounds of the second byte rule out overlong forms, surrogates and what lies above
    // U+10FFFF (RFC 3629, section 4).
    std::size_t size = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      size = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      size = 3;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      size = 4;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return -1;
    }
    if (i + size > text.size()) return -1;
    if (byte_at(i + 1) < low || byte_at(i + 1) > high) return -1;
    for (std::size_t k = 2; k < size; ++k) {
      if ((byte_at(i + k) & 0xc0) != 0x80) return -1;
    }
    i += size;
  }
  return characters;
}

}  // namespace cavalry::drivers::handlersocket
