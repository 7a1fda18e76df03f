#include "drivers/handlersocket/value_check.h"

#include <array>

#include <fmt/format.h>

#include "drivers/handlersocket/tokens.h"
#include "drivers/handlersocket/value_formats.h"

namespace cavalry::drivers::handlersocket {
namespace {

// Of a year that four digits and nothing else stand for.
constexpr std::uint64_t kFirstYear = 1901;
constexpr std::uint64_t kLastYear = 2155;

bool IsNumber(const Value& value) {
  return value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned;
}

ValueFault CheckIntegerText(const ColumnRule& rule, std::string_view text) {
  const std::optional<WholeNumber> number = ParseWholeNumber(text);
  if (!number) return ValueFault::kFormat;
  // -integer_min without overflow.
  const std::uint64_t lowest = ~static_cast<std::uint64_t>(rule.integer_min) + 1;
  const bool fits = number->magnitude <= (number->negative ? lowest : rule.integer_max);
  return fits ? ValueFault::kNone : ValueFault::kRange;
}

ValueFault CheckDecimal(const ColumnRule& rule, const Value& value) {
  const ColumnType& type = rule.column->type;
  const std::size_t whole_max = std::size_t{type.precision} - type.scale;
  if (IsNumber(value)) {
    auto left = static_cast<std::uint64_t>(value.integer);
    if (value.kind == Value::Kind::kInteger && value.integer < 0) left = ~left + 1;
    std::size_t digits = 0;
    for (; left != 0; left /= 10) ++digits;
    return digits <= whole_max ? ValueFault::kNone : ValueFault::kRange;
  }
  if (value.kind != Value::Kind::kText) return ValueFault::kKind;
  const std::optional<DecimalDigits> digits = CountDecimalDigits(value.text);
  if (!digits) return ValueFault::kFormat;
  const bool fits = digits->whole <= whole_max && digits->fraction <= type.scale;
  return fits ? ValueFault::kNone : ValueFault::kRange;
}

ValueFault CheckFloat(const ColumnRule& rule, const Value& value) {
  if (IsNumber(value)) return ValueFault::kNone;
  if (value.kind != Value::Kind::kText) return ValueFault::kKind;
  switch (CheckFloatText(value.text, rule.kind == ColumnType::Kind::kDouble)) {
    case FloatText::kFits:
      return ValueFault::kNone;
    case FloatText::kTooLarge:
      return ValueFault::kRange;
    case FloatText::kMalformed:
      break;
  }
  return ValueFault::kFormat;
}

ValueFault CheckBytes(const ColumnRule& rule, const Value& value, bool& needs_escape) {
  if (IsNumber(value)) return ValueFault::kKind;
  needs_escape = FindByteKinds(value.text).needs_escape;
  return value.text.size() <= rule.length_max ? ValueFault::kNone : ValueFault::kLength;
}

ValueFault CheckText(const ColumnRule& rule, const Value& value, bool& needs_escape) {
  if (IsNumber(value)) return ValueFault::kKind;
  const std::string_view text = value.text;
  const ByteKinds kinds = FindByteKinds(text);
  needs_escape = kinds.needs_escape;
  std::size_t length = text.size();
  if (kinds.non_ascii) {
    const std::int64_t characters = CountCharacters(text, rule.character_bytes_max);
    if (characters < 0) return ValueFault::kEncoding;
    // Texts and json are bounded in bytes, the others in characters.
    if (rule.kind == ColumnType::Kind::kChar || rule.kind == ColumnType::Kind::kVarchar) {
      length = static_cast<std::size_t>(characters);
    }
  }
  if (length > rule.length_max) return ValueFault::kLength;
  if (rule.kind == ColumnType::Kind::kJson && !IsJson(text)) return ValueFault::kFormat;
  return ValueFault::kNone;
}

ValueFault CheckTime(const ColumnRule& rule, const Value& value) {
  if (value.kind != Value::Kind::kText) return ValueFault::kKind;
  bool fits = false;
  switch (rule.kind) {
    case ColumnType::Kind::kDate:
      fits = IsDate(value.text);
      break;
    case ColumnType::Kind::kTime:
      fits = IsTime(value.text);
      break;
    case ColumnType::Kind::kTimestamp:
      fits = IsTimestamp(value.text);
      break;
    default:
      fits = IsDatetime(value.text);
      break;
  }
  return fits ? ValueFault::kNone : ValueFault::kFormat;
}

ValueFault CheckYear(const Value& value) {
  if (value.kind == Value::Kind::kText) {
    return IsYear(value.text) ? ValueFault::kNone : ValueFault::kFormat;
  }
  if (!IsNumber(value)) return ValueFault::kKind;
  const auto year = static_cast<std::uint64_t>(value.integer);
  return year >= kFirstYear && year <= kLastYear ? ValueFault::kNone : ValueFault::kRange;
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

std::size_t CharacterBytesMax(std::string_view charset) {
  struct Known {
    std::string_view name;
    std::size_t bytes;
  };
  constexpr std::array<Known, 9> kKnown = {{{"", 4},
                                            {"utf8mb4", 4},
                                            {"binary", 4},
                                            {"utf8", 3},
                                            {"utf8mb3", 3},
                                            {"ucs2", 0},
                                            {"utf16", 0},
                                            {"utf16le", 0},
                                            {"utf32", 0}}};
  for (const Known& known : kKnown) {
    if (known.name == charset) return known.bytes;
  }
  return 1;
}

ColumnRule::ColumnRule(const Column& of, std::string_view charset)
    : column(&of),
      kind(of.type.kind),
      nullable(of.nullable),
      integer_min(of.type.is_integer() ? of.type.integer_min() : 0),
      integer_max(of.type.is_integer() ? of.type.integer_max() : 0),
      length_max(of.type.length),
      // MariaDB keeps json in utf8mb4, whatever the table's character set.
      character_bytes_max(kind == ColumnType::Kind::kJson ? 4 : CharacterBytesMax(charset)) {}

ValueFault CheckValue(const ColumnRule& rule, const Value& value, bool& needs_escape) {
  needs_escape = false;
  if (value.kind == Value::Kind::kNull) {
    return rule.nullable ? ValueFault::kNone : ValueFault::kNull;
  }
  switch (rule.kind) {
    case ColumnType::Kind::kInteger:
      return value.kind == Value::Kind::kText ? CheckIntegerText(rule, value.text)
                                              : CheckInteger(rule, value);
    case ColumnType::Kind::kDecimal:
      return CheckDecimal(rule, value);
    case ColumnType::Kind::kFloat:
    case ColumnType::Kind::kDouble:
      return CheckFloat(rule, value);
    case ColumnType::Kind::kChar:
    case ColumnType::Kind::kVarchar:
    case ColumnType::Kind::kText:
    case ColumnType::Kind::kJson:
      return CheckText(rule, value, needs_escape);
    case ColumnType::Kind::kBinary:
    case ColumnType::Kind::kVarbinary:
    case ColumnType::Kind::kBlob:
      return CheckBytes(rule, value, needs_escape);
    case ColumnType::Kind::kDate:
    case ColumnType::Kind::kTime:
    case ColumnType::Kind::kDatetime:
    case ColumnType::Kind::kTimestamp:
      return CheckTime(rule, value);
    case ColumnType::Kind::kYear:
      return CheckYear(value);
  }
  return ValueFault::kKind;
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
      if (rule.character_bytes_max == 4) {
        return fmt::format("column {}: {} is not UTF-8, as {} needs", name, what, type);
      }
      return fmt::format(
          "column {}: {} holds characters beyond those that UTF-8 and the table's character set "
          "write alike; HandlerSocket converts none, so give the table charset: utf8mb4",
          name, what);
    case ValueFault::kFormat:
      return fmt::format("column {}: {} is no {}", name, what, type);
  }
  return name;
}

std::int64_t CountCharacters(std::string_view text, std::size_t character_bytes_max) {
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
    if (size > character_bytes_max || i + size > text.size()) return -1;
    if (byte_at(i + 1) < low || byte_at(i + 1) > high) return -1;
    for (std::size_t k = 2; k < size; ++k) {
      if ((byte_at(i + k) & 0xc0) != 0x80) return -1;
    }
    i += size;
  }
  return characters;
}

}  // namespace cavalry::drivers::handlersocket
