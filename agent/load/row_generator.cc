#include "agent/load/row_generator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "core/base/check.h"
#include "core/base/random.h"

namespace cavalry::load {
namespace {

using drivers::Value;

constexpr std::string_view kDefaultAlphabet =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ";
constexpr std::size_t kDigits = 20;  // of the largest uint64

// Appends `number`, padded with zeros to `width`.
char* AppendNumber(char* out, std::uint64_t number, std::uint32_t width) {
  std::array<char, kDigits> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto count = static_cast<std::size_t>(end - digits.data());
  for (std::size_t i = count; i < width; ++i) *out++ = '0';
  std::memcpy(out, digits.data(), count);
  return out + count;
}

char* AppendPadded(char* out, std::uint64_t number, std::uint32_t width) {
  for (std::uint32_t i = width; i-- > 0; number /= 10) {
    out[i] = static_cast<char>('0' + number % 10);
  }
  return out + width;
}

char* AppendRandomText(char* out, std::uint64_t length, std::string_view alphabet,
                       RandomStream* random) {
  const std::uint64_t size = alphabet.size();
  // Four characters a draw: 16 bits choose one with a bias below 1 in 250 for alphabets of letters.
  std::uint64_t i = 0;
  while (i < length) {
    std::uint64_t bits = random->Next();
    for (int part = 0; part < 4 && i < length; ++part, ++i, bits >>= 16) {
      *out++ = alphabet[((bits & 0xffff) * size) >> 16];
    }
  }
  return out;
}

char* AppendPattern(char* out, const std::vector<PatternPiece>& pattern, std::uint64_t key,
                    std::uint64_t version) {
  for (const PatternPiece& piece : pattern) {
    std::memcpy(out, piece.literal.data(), piece.literal.size());
    out += piece.literal.size();
    if (piece.insert == PatternPiece::Insert::kKey) out = AppendNumber(out, key, piece.width);
    if (piece.insert == PatternPiece::Insert::kVersion) {
      out = AppendNumber(out, version, piece.width);
    }
  }
  return out;
}

// 10^exponent, for exponents of a decimal column's digits.
std::uint64_t PowerOfTen(std::uint32_t exponent) {
  std::uint64_t power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

// A decimal that fits (precision, scale): -999.99..9999.99 where the column is wide enough.
char* AppendDecimal(char* out, const ColumnType& type, RandomStream* random) {
  const std::uint32_t whole_digits = std::min<std::uint32_t>(type.precision - type.scale, 4);
  const std::uint32_t scale = std::min<std::uint32_t>(type.scale, 9);
  const std::uint64_t fractions = PowerOfTen(scale);
  const std::uint64_t positives = PowerOfTen(whole_digits) * fractions;
  const std::uint64_t negatives = positives / 10;
  const std::uint64_t draw = random->Below(positives + negatives);
  std::uint64_t magnitude = draw;
  // Zero has no sign: "-0.00" would come back as "0.00".
  if (draw >= positives) {
    magnitude = draw - positives;
    if (magnitude != 0) *out++ = '-';
  }
  out = AppendNumber(out, magnitude / fractions, 0);
  if (type.scale > 0) {
    *out++ = '.';
    out = AppendPadded(out, magnitude % fractions, scale);
    for (std::uint32_t i = scale; i < type.scale; ++i) *out++ = '0';
  }
  return out;
}

char* AppendDate(char* out, RandomStream* random) {
  out = AppendPadded(out, 2000 + random->Below(30), 4);
  *out++ = '-';
  out = AppendPadded(out, 1 + random->Below(12), 2);
  *out++ = '-';
  return AppendPadded(out, 1 + random->Below(28), 2);
}

char* AppendTime(char* out, RandomStream* random) {
  out = AppendPadded(out, random->Below(24), 2);
  *out++ = ':';
  out = AppendPadded(out, random->Below(60), 2);
  *out++ = ':';
  return AppendPadded(out, random->Below(60), 2);
}

std::uint64_t NaturalMaximum(const ColumnType& type) {
  return std::min<std::uint64_t>(type.integer_max(), 2'147'483'647);
}

std::size_t MaxBytes(const ColumnRule& rule, const ColumnType& type) {
  switch (rule.kind) {
    case RuleKind::kPattern: {
      std::size_t bytes = 0;
      for (const PatternPiece& piece : rule.pattern) {
        bytes += piece.literal.size() + std::max<std::size_t>(piece.width, kDigits);
      }
      return bytes;
    }
    case RuleKind::kRandomText:
      return rule.high;
    case RuleKind::kConstant:
      return rule.text.size();
    case RuleKind::kNatural:
      // Sign, digits, point, or the longest text that the rule would draw.
      return std::max<std::size_t>(type.length, std::size_t{type.precision} + kDigits + 4);
    default:
      return 0;
  }
}

bool IsTextual(const ColumnType& type) {
  return type.is_text() || type.kind == ColumnType::Kind::kVarbinary;
}

}  // namespace

RowGenerator::RowGenerator(const drivers::TableSchema& table, std::vector<std::uint32_t> columns,
                           std::vector<ColumnRule> rules, std::uint64_t seed)
    : table_(table), columns_(std::move(columns)), rules_(std::move(rules)), seed_(seed) {
  CAVALRY_CHECK(columns_.size() == rules_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    max_bytes_ += MaxBytes(rules_[i], table_.columns[columns_[i]].type);
  }
}

void RowGenerator::Generate(std::uint64_t key, std::uint64_t version, RowBuffer* row) const {
  // At least a byte, so that empty texts point somewhere, too.
  if (const std::size_t bytes = std::max<std::size_t>(max_bytes_, 1); row->capacity_ < bytes) {
    row->bytes_ = std::make_unique_for_overwrite<char[]>(bytes);
    row->capacity_ = bytes;
  }
  row->values_.resize(columns_.size());
  char* out = row->bytes_.get();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ColumnRule& rule = rules_[i];
    const ColumnType& type = table_.columns[columns_[i]].type;
    Value& value = row->values_[i];
    // One stream per (column, key, version): a column's value does not depend on which others are
    // asked.
    RandomStream random(seed_ ^ Mix64(version), columns_[i] + 1, key);
    char* const begin = out;
    switch (rule.kind) {
      case RuleKind::kKey:
        value = Value::Unsigned(key);
        continue;
      case RuleKind::kNewVersion:
        value = Value::Unsigned(version);
        continue;
      case RuleKind::kNull:
        value = Value::Null();
        continue;
      case RuleKind::kRandomInt:
        value = Value::Unsigned(rule.high - rule.low == ~std::uint64_t{0}
                                    ? random.Next()
                                    : rule.low + random.Below(rule.high - rule.low + 1));
        continue;
      case RuleKind::kPattern:
        out = AppendPattern(out, rule.pattern, key, version);
        break;
      case RuleKind::kRandomText: {
        const std::uint64_t length = rule.low + random.Below(rule.high - rule.low + 1);
        out = AppendRandomText(out, length, rule.text.empty() ? kDefaultAlphabet : rule.text,
                               &random);
        break;
      }
      case RuleKind::kConstant:
        std::memcpy(out, rule.text.data(), rule.text.size());
        out += rule.text.size();
        break;
      case RuleKind::kNatural:
        if (type.is_integer()) {
          value = Value::Unsigned(random.Below(NaturalMaximum(type) + 1));
          continue;
        }
        if (type.kind == ColumnType::Kind::kDecimal) {
          out = AppendDecimal(out, type, &random);
        } else if (type.kind == ColumnType::Kind::kDate) {
          out = AppendDate(out, &random);
        } else if (type.kind == ColumnType::Kind::kDatetime) {
          out = AppendDate(out, &random);
          *out++ = ' ';
          out = AppendTime(out, &random);
        } else {
          const std::uint64_t longest = std::min<std::uint32_t>(type.length, 1024);
          const std::uint64_t length = longest / 2 + random.Below(longest - longest / 2 + 1);
          out = AppendRandomText(out, length, kDefaultAlphabet, &random);
        }
        break;
    }
    const std::string_view text(begin, static_cast<std::size_t>(out - begin));
    value = type.kind == ColumnType::Kind::kVarbinary ? Value::Binary(text) : Value::Text(text);
  }
}

namespace {

bool NumberMatches(const Value& value, std::string_view text) {
  if (value.kind == Value::Kind::kUnsigned) {
    std::uint64_t number = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() &&
           number == static_cast<std::uint64_t>(value.integer);
  }
  std::int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() &&
         number == value.integer;
}

// A decimal in one form: no leading zeros, no trailing zeros after the point, no "-0".
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;
  bool operator==(const Decimal&) const = default;
};

Decimal ParseDecimal(std::string_view text) {
  Decimal decimal;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    decimal.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const std::size_t point = text.find('.');
  decimal.whole = text.substr(0, point);
  if (point != std::string_view::npos) decimal.fraction = text.substr(point + 1);
  while (!decimal.whole.empty() && decimal.whole.front() == '0') decimal.whole.remove_prefix(1);
  while (!decimal.fraction.empty() && decimal.fraction.back() == '0') {
    decimal.fraction.remove_suffix(1);
  }
  if (decimal.whole.empty() && decimal.fraction.empty()) decimal.negative = false;
  return decimal;
}

std::string_view WithoutTrailingSpaces(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

bool Matches(const Value& value, const ColumnType& type, const drivers::Field& field) {
  if (value.kind == Value::Kind::kNull || field.is_null) {
    return (value.kind == Value::Kind::kNull) == field.is_null;
  }
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) {
    if (!IsTextual(type) && type.kind != ColumnType::Kind::kDecimal) {
      return NumberMatches(value, field.text);
    }
    std::array<char, kDigits + 1> digits;
    const auto end =
        value.kind == Value::Kind::kInteger
            ? std::to_chars(digits.data(), digits.data() + digits.size(), value.integer)
            : std::to_chars(digits.data(), digits.data() + digits.size(),
                            static_cast<std::uint64_t>(value.integer));
    return Matches(Value::Text({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())}),
                   type, field);
  }
  // A constant such as "007" in an integer column comes back as 7.
  if (type.kind == ColumnType::Kind::kDecimal || type.is_integer()) {
    return ParseDecimal(value.text) == ParseDecimal(field.text);
  }
  if (type.kind == ColumnType::Kind::kChar) {
    return WithoutTrailingSpaces(value.text) == WithoutTrailingSpaces(field.text);
  }
  return value.text == field.text;
}

}  // namespace cavalry::load
