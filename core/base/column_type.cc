#include "core/base/column_type.h"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace cavalry {
namespace {

constexpr std::string_view kTypes =
    "tinyint, smallint, mediumint, int, bigint (each also unsigned), boolean, float, double, "
    "decimal(p,s), char(n), varchar(n), text, mediumtext, longtext, binary(n), varbinary(n), blob, "
    "mediumblob, longblob, date, time, datetime, timestamp, year, json";

struct KnownType {
  std::string_view name;
  ColumnType::Kind kind;
  std::uint8_t width_bytes;  // of integers
  std::uint32_t length;      // of texts and blobs without a length of their own
};

// MariaDB's own bounds (Knowledge Base: CHAR, VARCHAR, DECIMAL, BLOB and TEXT Data Types).
constexpr std::uint32_t kMaxCharLength = 255;
constexpr std::uint32_t kMaxVarLength = 65'535;
constexpr std::uint32_t kMaxMediumLength = 16'777'215;
constexpr std::uint32_t kMaxLongLength = 4'294'967'295;

constexpr std::array<KnownType, 27> kKnownTypes = {{
    {"tinyint", ColumnType::Kind::kInteger, 1, 0},
    {"smallint", ColumnType::Kind::kInteger, 2, 0},
    {"mediumint", ColumnType::Kind::kInteger, 3, 0},
    {"int", ColumnType::Kind::kInteger, 4, 0},
    {"integer", ColumnType::Kind::kInteger, 4, 0},
    {"bigint", ColumnType::Kind::kInteger, 8, 0},
    {"boolean", ColumnType::Kind::kInteger, 1, 0},
    {"bool", ColumnType::Kind::kInteger, 1, 0},
    {"float", ColumnType::Kind::kFloat, 0, 0},
    {"double", ColumnType::Kind::kDouble, 0, 0},
    {"decimal", ColumnType::Kind::kDecimal, 0, 0},
    {"char", ColumnType::Kind::kChar, 0, 0},
    {"varchar", ColumnType::Kind::kVarchar, 0, 0},
    {"text", ColumnType::Kind::kText, 0, kMaxVarLength},
    {"mediumtext", ColumnType::Kind::kText, 0, kMaxMediumLength},
    {"longtext", ColumnType::Kind::kText, 0, kMaxLongLength},
    {"binary", ColumnType::Kind::kBinary, 0, 0},
    {"varbinary", ColumnType::Kind::kVarbinary, 0, 0},
    {"blob", ColumnType::Kind::kBlob, 0, kMaxVarLength},
    {"mediumblob", ColumnType::Kind::kBlob, 0, kMaxMediumLength},
    {"longblob", ColumnType::Kind::kBlob, 0, kMaxLongLength},
    {"date", ColumnType::Kind::kDate, 0, 0},
    {"time", ColumnType::Kind::kTime, 0, 0},
    {"datetime", ColumnType::Kind::kDatetime, 0, 0},
    {"timestamp", ColumnType::Kind::kTimestamp, 0, 0},
    {"year", ColumnType::Kind::kYear, 0, 0},
    {"json", ColumnType::Kind::kJson, 0, kMaxLongLength},
}};

constexpr std::uint32_t kMaxPrecision = 65;
constexpr std::uint32_t kMaxScale = 30;

// A type's text in its three parts: name ( numbers ) attribute.
struct Parts {
  std::string name;
  std::vector<std::uint32_t> numbers;
  bool has_parentheses = false;
  std::string attribute;
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Lower case without regard to locale.
std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<std::vector<std::uint32_t>> ParseNumbers(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = Trim(text.substr(0, comma));
    std::uint32_t number = 0;
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc() || stop != item.data() + item.size()) return std::nullopt;
    numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

std::optional<Parts> Split(std::string_view text) {
  Parts parts;
  text = Trim(text);
  std::size_t end = 0;
  while (end < text.size() && !IsBlank(text[end]) && text[end] != '(') ++end;
  parts.name = Lower(text.substr(0, end));
  text = Trim(text.substr(end));
  if (!text.empty() && text.front() == '(') {
    const std::size_t close = text.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    std::optional<std::vector<std::uint32_t>> numbers = ParseNumbers(text.substr(1, close - 1));
    if (!numbers) return std::nullopt;
    parts.numbers = *std::move(numbers);
    parts.has_parentheses = true;
    text = Trim(text.substr(close + 1));
  }
  parts.attribute = Lower(text);
  return parts;
}

Status BadLength(std::string_view text, std::string_view name, std::uint32_t highest) {
  return InvalidArgument("column type \"{0}\": {1} needs a length from 1 to {2}, such as {1}(25)",
                         text, name, highest);
}

Status FillDecimal(std::string_view text, const Parts& parts, ColumnType* type) {
  // Without numbers SQL means decimal(10,0).
  const std::uint32_t precision = parts.numbers.empty() ? 10 : parts.numbers[0];
  const std::uint32_t scale = parts.numbers.size() > 1 ? parts.numbers[1] : 0;
  if (parts.numbers.size() > 2 || precision < 1 || precision > kMaxPrecision || scale > kMaxScale ||
      scale > precision) {
    return InvalidArgument(
        "column type \"{}\": decimal(p,s) needs p from 1 to {} and s from 0 to {}, not above p",
        text, kMaxPrecision, kMaxScale);
  }
  type->precision = static_cast<std::uint8_t>(precision);
  type->scale = static_cast<std::uint8_t>(scale);
  type->sql = fmt::format("decimal({},{})", precision, scale);
  return absl::OkStatus();
}

Status FillLength(std::string_view text, const Parts& parts, ColumnType* type) {
  const bool is_fixed =
      type->kind == ColumnType::Kind::kChar || type->kind == ColumnType::Kind::kBinary;
  const std::uint32_t highest = is_fixed ? kMaxCharLength : kMaxVarLength;
  if (is_fixed && !parts.has_parentheses) {
    type->length = 1;  // SQL's default
  } else if (parts.numbers.size() != 1 || parts.numbers[0] < 1 || parts.numbers[0] > highest) {
    return BadLength(text, parts.name, highest);
  } else {
    type->length = parts.numbers[0];
  }
  type->sql = fmt::format("{}({})", parts.name, type->length);
  return absl::OkStatus();
}

// A display width, as SHOW CREATE TABLE prints it, says nothing about the values; but for
// tinyint(1), which is how MariaDB prints boolean.
Status FillInteger(std::string_view text, const KnownType& known, const Parts& parts,
                   ColumnType* type) {
  const bool boolean = known.name == "boolean" || known.name == "bool";
  if (parts.numbers.size() > 1 || (boolean && (type->is_unsigned || parts.has_parentheses))) {
    return InvalidArgument("column type \"{}\" is malformed; known: {}", text, kTypes);
  }
  type->is_boolean = boolean || (type->width_bytes == 1 && !type->is_unsigned &&
                                 parts.has_parentheses && parts.numbers.front() == 1);
  if (type->is_boolean) {
    type->sql = "tinyint(1)";
  } else {
    const std::string_view name = known.name == "integer" ? "int" : known.name;
    type->sql = fmt::format("{}{}", name, type->is_unsigned ? " unsigned" : "");
  }
  return absl::OkStatus();
}

}  // namespace

std::int64_t ColumnType::integer_min() const {
  if (is_unsigned) return 0;
  return -static_cast<std::int64_t>(integer_max()) - 1;
}

std::uint64_t ColumnType::integer_max() const {
  const int bits = width_bytes * 8 - (is_unsigned ? 0 : 1);
  return ~std::uint64_t{0} >> (64 - bits);
}

StatusOr<ColumnType> ParseColumnType(std::string_view text) {
  const std::optional<Parts> parts = Split(text);
  if (!parts) return InvalidArgument("column type \"{}\" is malformed; known: {}", text, kTypes);
  const KnownType* known = nullptr;
  for (const KnownType& candidate : kKnownTypes) {
    if (candidate.name == parts->name) known = &candidate;
  }
  if (known == nullptr) {
    return InvalidArgument("unknown column type \"{}\"; known: {}", text, kTypes);
  }
  ColumnType type;
  type.kind = known->kind;
  type.width_bytes = known->width_bytes;
  if (type.is_integer() && parts->attribute == "unsigned") {
    type.is_unsigned = true;
  } else if (!parts->attribute.empty()) {
    return InvalidArgument("column type \"{}\": \"{}\" does not belong there; known: {}", text,
                           parts->attribute, kTypes);
  }
  switch (type.kind) {
    case ColumnType::Kind::kInteger:
      CAVALRY_RETURN_IF_ERROR(FillInteger(text, *known, *parts, &type));
      return type;
    case ColumnType::Kind::kDecimal:
      CAVALRY_RETURN_IF_ERROR(FillDecimal(text, *parts, &type));
      return type;
    case ColumnType::Kind::kChar:
    case ColumnType::Kind::kVarchar:
    case ColumnType::Kind::kBinary:
    case ColumnType::Kind::kVarbinary:
      CAVALRY_RETURN_IF_ERROR(FillLength(text, *parts, &type));
      return type;
    case ColumnType::Kind::kYear:
      // year(4) is how servers print it.
      if (parts->has_parentheses && parts->numbers != std::vector<std::uint32_t>{4}) {
        return InvalidArgument("column type \"{}\": a year has 4 digits", text);
      }
      type.sql = "year";
      return type;
    default:
      break;
  }
  if (parts->has_parentheses) {
    return InvalidArgument("column type \"{}\": {} takes no length", text, known->name);
  }
  type.length = known->length;
  type.sql = std::string(known->name);
  return type;
}

}  // namespace cavalry
