#include "agent/load/row_generator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/base/random.h"

namespace cavalry::load {
namespace {

using drivers::Value;

constexpr std::string_view kDefaultAlphabet =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ";
constexpr std::size_t kDigits = 20;  // of the largest uint64
constexpr std::uint32_t kHashDigits = 16;
// Without a rule, a text column gets no more than this: a default should not make rows that are all
// one column.
constexpr std::uint32_t kMaxNaturalText = 1024;

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

// By inversion: x = location + scale * ((1 - u)^-shape - 1) / shape.
std::uint64_t DrawLength(const ColumnRule& rule, RandomStream* random) {
  if (rule.pareto_scale <= 0) return rule.low + random->Below(rule.high - rule.low + 1);
  const double rest = 1 - random->Unit();
  const double x = rule.pareto_shape == 0
                       ? -std::log(rest)
                       : (std::pow(rest, -rule.pareto_shape) - 1) / rule.pareto_shape;
  const double length = rule.pareto_location + rule.pareto_scale * x;
  if (!(length > static_cast<double>(rule.low))) return rule.low;
  if (length >= static_cast<double>(rule.high)) return rule.high;
  return static_cast<std::uint64_t>(length);
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

char* AppendDigits(char* out, std::uint32_t count, RandomStream* random) {
  for (std::uint32_t i = 0; i < count; ++i) *out++ = static_cast<char>('0' + random->Below(10));
  return out;
}

// Any bytes, eight a draw.
char* AppendRandomBytes(char* out, std::uint64_t length, RandomStream* random) {
  std::uint64_t i = 0;
  while (i < length) {
    std::uint64_t bits = random->Next();
    for (int part = 0; part < 8 && i < length; ++part, ++i, bits >>= 8) {
      *out++ = static_cast<char>(bits & 0xff);
    }
  }
  return out;
}

// A bijection of 64 bits, so that different rows have different hashes.
std::uint64_t HashOf(std::uint64_t key, std::uint64_t seed) { return Mix64(key ^ Mix64(seed)); }

char* AppendHash(char* out, std::uint64_t hash) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (std::uint32_t i = kHashDigits; i-- > 0; hash >>= 4) out[i] = kHex[hash & 0xf];
  return out + kHashDigits;
}

// The number that an integer column's rule gives; REQUIRES: IsNumeric.
std::uint64_t NumberOf(const ColumnRule& rule, std::uint64_t key, std::uint64_t seed,
                       RandomStream* random) {
  switch (rule.kind) {
    case RuleKind::kKey:
      return key;
    case RuleKind::kRandomInt: {
      const std::uint64_t span = rule.high - rule.low;
      return span == ~std::uint64_t{0} ? random->Next() : rule.low + random->Below(span + 1);
    }
    case RuleKind::kHashed: {
      const std::uint64_t hash = HashOf(key, seed);
      return rule.high == ~std::uint64_t{0} ? hash : hash % (rule.high + 1);
    }
    default: {
      std::uint64_t number = 0;
      std::from_chars(rule.text.data(), rule.text.data() + rule.text.size(), number);
      return number;
    }
  }
}

// One stream per (column, key, version): a column's value does not depend on which others are
// asked.
RandomStream StreamOf(std::uint32_t column, std::uint64_t key, std::uint64_t version,
                      std::uint64_t seed) {
  return RandomStream(seed ^ Mix64(version), column + 1, key);
}

char* AppendPattern(char* out, const std::vector<PatternPiece>& pattern, std::uint64_t key,
                    std::uint64_t version, std::uint64_t seed, RandomStream* random) {
  using Insert = PatternPiece::Insert;
  for (const PatternPiece& piece : pattern) {
    std::memcpy(out, piece.literal.data(), piece.literal.size());
    out += piece.literal.size();
    switch (piece.insert) {
      case Insert::kNothing:
        break;
      case Insert::kKey:
        out = AppendNumber(out, key, piece.width);
        break;
      case Insert::kVersion:
        out = AppendNumber(out, version, piece.width);
        break;
      case Insert::kDigits:
        out = AppendDigits(out, piece.width, random);
        break;
      case Insert::kColumn: {
        // As fill and insert made it: an update sets single columns.
        RandomStream of_column = StreamOf(piece.column, key, 0, seed);
        const std::uint64_t number = NumberOf(*piece.rule, key, seed, &of_column);
        out = AppendNumber(out, number + piece.plus, piece.width);
        break;
      }
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

// `first_hour`: the earliest, above 0 where a time that a change to summer time leaves out must not
// come up.
char* AppendTime(char* out, RandomStream* random, std::uint64_t first_hour = 0) {
  out = AppendPadded(out, first_hour + random->Below(24 - first_hour), 2);
  *out++ = ':';
  out = AppendPadded(out, random->Below(60), 2);
  *out++ = ':';
  return AppendPadded(out, random->Below(60), 2);
}

std::uint64_t NaturalMaximum(const ColumnType& type) {
  return type.is_boolean ? 1 : std::min<std::uint64_t>(type.integer_max(), 2'147'483'647);
}

// A number with a point that float and double hold exactly or print in the shortest form: at most
// six digits for float.
char* AppendFraction(char* out, const ColumnType& type, RandomStream* random) {
  const bool is_float = type.kind == ColumnType::Kind::kFloat;
  out = AppendNumber(out, random->Below(10'000), 0);
  *out++ = '.';
  if (!is_float) return AppendPadded(out, random->Below(1'000), 3);
  *out++ = random->Below(2) == 0 ? '0' : '5';
  return out;
}

// As servers print it that keep json in a form of their own: keys by length, a space behind : and
// ,.
char* AppendJson(char* out, std::uint64_t key, RandomStream* random) {
  constexpr std::string_view kNumber = "{\"n\": ";
  constexpr std::string_view kText = ", \"text\": \"";
  constexpr std::string_view kEnd = "\"}";
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  out = std::copy(kNumber.begin(), kNumber.end(), out);
  out = AppendNumber(out, key, 0);
  out = std::copy(kText.begin(), kText.end(), out);
  out = AppendRandomText(out, 16, kLetters, random);
  return std::copy(kEnd.begin(), kEnd.end(), out);
}
constexpr std::size_t kMaxJson = 64;

// A text or binary value of half to all of the column's length; binary(n) is filled.
char* AppendNaturalBytes(char* out, const ColumnType& type, RandomStream* random) {
  const std::uint64_t longest = std::min(type.length, kMaxNaturalText);
  std::uint64_t length = longest;
  if (type.kind != ColumnType::Kind::kBinary) {
    length = longest / 2 + random->Below(longest - longest / 2 + 1);
  }
  return type.is_binary() ? AppendRandomBytes(out, length, random)
                          : AppendRandomText(out, length, kDefaultAlphabet, random);
}

// Every type but integers and years, whose values are numbers.
char* AppendNatural(char* out, const ColumnType& type, std::uint64_t key, RandomStream* random) {
  switch (type.kind) {
    case ColumnType::Kind::kDecimal:
      return AppendDecimal(out, type, random);
    case ColumnType::Kind::kFloat:
    case ColumnType::Kind::kDouble:
      return AppendFraction(out, type, random);
    case ColumnType::Kind::kDate:
      return AppendDate(out, random);
    case ColumnType::Kind::kTime:
      return AppendTime(out, random);
    case ColumnType::Kind::kDatetime:
    case ColumnType::Kind::kTimestamp:
      out = AppendDate(out, random);
      *out++ = ' ';
      return AppendTime(out, random, type.kind == ColumnType::Kind::kTimestamp ? 4 : 0);
    case ColumnType::Kind::kJson:
      return AppendJson(out, key, random);
    default:
      return AppendNaturalBytes(out, type, random);
  }
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
    case RuleKind::kHashed:
      return kHashDigits;
    case RuleKind::kOneOf: {
      std::size_t longest = 0;
      for (const std::string& text : rule.texts) longest = std::max(longest, text.size());
      return longest;
    }
    case RuleKind::kServer:
    case RuleKind::kNatural:
      if (type.kind == ColumnType::Kind::kJson) return kMaxJson;
      // Sign, digits, point, or the longest text that the rule would draw.
      return std::max<std::size_t>(std::min(type.length, kMaxNaturalText),
                                   std::size_t{type.precision} + kDigits + 4);
    default:
      return 0;
  }
}

}  // namespace

bool IsNumeric(const ColumnRule& rule) {
  switch (rule.kind) {
    case RuleKind::kKey:
    case RuleKind::kRandomInt:
      return true;
    case RuleKind::kHashed:
      // Of 64 bits, half are negative numbers in a signed column.
      return rule.high != ~std::uint64_t{0};
    case RuleKind::kConstant: {
      std::uint64_t number = 0;
      const char* const end = rule.text.data() + rule.text.size();
      const auto result = std::from_chars(rule.text.data(), end, number);
      return result.ec == std::errc() && result.ptr == end;
    }
    default:
      return false;
  }
}

RowGenerator::RowGenerator(const drivers::TableSchema& table, std::vector<std::uint32_t> columns,
                           std::vector<ColumnRule> rules, std::uint64_t seed)
    : table_(table), columns_(std::move(columns)), rules_(std::move(rules)), seed_(seed) {
  CAVALRY_CHECK(columns_.size() == rules_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    max_bytes_ += MaxBytes(rules_[i], table_.columns[columns_[i]].type);
  }
}

void RowGenerator::Generate(std::uint64_t key, std::uint64_t version, std::size_t index,
                            std::size_t count, RowBuffer* rows) const {
  // At least a byte, so that empty texts point somewhere, too.
  const std::size_t bytes = std::max<std::size_t>(max_bytes_, 1);
  if (rows->capacity_ < bytes * count) {
    // Growing between rows would leave the earlier ones without their bytes.
    CAVALRY_CHECK(index == 0);
    rows->bytes_ = std::make_unique_for_overwrite<char[]>(bytes * count);
    rows->capacity_ = bytes * count;
  }
  rows->values_.resize(columns_.size() * count);
  Value* const values = rows->values_.data() + columns_.size() * index;
  char* out = rows->bytes_.get() + bytes * index;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out = WriteValue(i, key, version, out, &values[i]);
  }
}

char* RowGenerator::WriteValue(std::size_t position, std::uint64_t key, std::uint64_t version,
                               char* out, Value* value) const {
  const ColumnRule& rule = rules_[position];
  if (rule.as_filled) version = 0;
  const std::uint32_t column = columns_[position];
  const ColumnType& type = table_.columns[column].type;
  // A file has rows as they are filled.
  if (rule.file != nullptr && version == 0 && rule.file->Has(key)) {
    *value = rule.file->Read(key, column);
    return out;
  }
  RandomStream random = StreamOf(column, key, version, seed_);
  char* const begin = out;
  switch (rule.kind) {
    case RuleKind::kKey:
      *value = Value::Unsigned(key);
      return out;
    case RuleKind::kNewVersion:
      *value = Value::Unsigned(version);
      return out;
    case RuleKind::kNull:
      *value = Value::Null();
      return out;
    case RuleKind::kRandomInt:
      *value = Value::Unsigned(NumberOf(rule, key, seed_, &random));
      return out;
    case RuleKind::kPattern:
      out = AppendPattern(out, rule.pattern, key, version, seed_, &random);
      break;
    case RuleKind::kRandomText: {
      const std::uint64_t length = DrawLength(rule, &random);
      out =
          AppendRandomText(out, length, rule.text.empty() ? kDefaultAlphabet : rule.text, &random);
      break;
    }
    case RuleKind::kConstant:
      out = std::copy(rule.text.begin(), rule.text.end(), out);
      break;
    case RuleKind::kHashed:
      if (type.is_integer()) {
        const std::uint64_t number = NumberOf(rule, key, seed_, &random);
        *value = type.is_unsigned ? Value::Unsigned(number)
                                  : Value::Integer(static_cast<std::int64_t>(number));
        return out;
      }
      out = AppendHash(out, HashOf(key, seed_));
      break;
    case RuleKind::kOneOf: {
      const std::string& text = rule.texts[random.Below(rule.texts.size())];
      out = std::copy(text.begin(), text.end(), out);
      break;
    }
    case RuleKind::kServer:
    case RuleKind::kNatural:
      if (type.is_integer()) {
        *value = Value::Unsigned(random.Below(NaturalMaximum(type) + 1));
        return out;
      }
      if (type.kind == ColumnType::Kind::kYear) {
        *value = Value::Unsigned(2000 + random.Below(30));
        return out;
      }
      out = AppendNatural(out, type, key, &random);
      break;
  }
  const std::string_view text(begin, static_cast<std::size_t>(out - begin));
  *value = type.is_binary() ? Value::Binary(text) : Value::Text(text);
  return out;
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

std::string_view WithoutTrailing(char filler, std::string_view text) {
  while (!text.empty() && text.back() == filler) text.remove_suffix(1);
  return text;
}

bool FractionMatches(const ColumnType& type, std::string_view value, std::string_view text) {
  // MariaDB prints six digits of a float, and as many of a double as tell it from all others.
  const double tolerance = type.kind == ColumnType::Kind::kFloat ? 1e-5 : 0;
  double wanted = 0;
  double got = 0;
  for (const auto& [from, to] : {std::pair{value, &wanted}, std::pair{text, &got}}) {
    const auto result = std::from_chars(from.data(), from.data() + from.size(), *to);
    if (result.ec != std::errc() || result.ptr != from.data() + from.size()) return false;
  }
  return std::abs(wanted - got) <= tolerance * std::abs(wanted);
}

}  // namespace

bool Matches(const Value& value, const ColumnType& type, const drivers::Field& field) {
  if (value.kind == Value::Kind::kNull || field.is_null) {
    return (value.kind == Value::Kind::kNull) == field.is_null;
  }
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) {
    if (type.is_integer() || type.kind == ColumnType::Kind::kYear) {
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
  switch (type.kind) {
    // A constant such as "007" in an integer column comes back as 7.
    case ColumnType::Kind::kInteger:
    case ColumnType::Kind::kDecimal:
    case ColumnType::Kind::kYear:
      return ParseDecimal(value.text) == ParseDecimal(field.text);
    case ColumnType::Kind::kFloat:
    case ColumnType::Kind::kDouble:
      return FractionMatches(type, value.text, field.text);
    case ColumnType::Kind::kChar:
      return WithoutTrailing(' ', value.text) == WithoutTrailing(' ', field.text);
    case ColumnType::Kind::kBinary:
      return WithoutTrailing('\0', value.text) == WithoutTrailing('\0', field.text);
    default:
      return value.text == field.text;
  }
}

}  // namespace cavalry::load
