#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/value_pattern.h"
#include "core/base/units.h"

namespace cavalry::spec {
namespace {

using Kind = ColumnType::Kind;

constexpr std::uint8_t kVersionBytes = 4;     // narrower integers would soon overflow
constexpr std::size_t kOpenEndedDigits = 10;  // of keys whose number nothing bounds

std::size_t Digits(std::uint64_t number) { return fmt::format("{}", number).size(); }

constexpr std::size_t kHashDigits = 16;
constexpr std::uint64_t kFirstYear = 1901;
constexpr std::uint64_t kLastYear = 2155;

// Columns of texts of any kind; json takes only texts that are json.
bool IsTextual(const ColumnType& type) { return type.is_text() || type.is_binary(); }

// Characters for text columns (bytes for the type text, whose length is in bytes), bytes for
// binary.
std::size_t LengthIn(const ColumnType& type, PatternLength length) {
  return type.kind == Kind::kChar || type.kind == Kind::kVarchar ? length.characters : length.bytes;
}

// Digits of the highest key that the table can hold in this spec.
std::size_t KeyDigits(const v1::Table& table, const v1::Workload& workload) {
  std::uint64_t highest = std::max<std::uint64_t>(table.rows(), 1);
  for (const v1::OperationSpec& operation : workload.operations()) {
    if (operation.insert().table() == table.name())
      return std::max(Digits(highest), kOpenEndedDigits);
  }
  return Digits(highest);
}

// The highest number that a column's rule (with defaults) gives; none if it gives no whole number
// without a sign.
std::optional<std::uint64_t> HighestNumber(const v1::ColumnSpec& column, const v1::Table& table) {
  const StatusOr<ColumnType> type = ParseColumnType(column.type());
  if (!type.ok() || !type->is_integer()) return std::nullopt;
  switch (column.value().rule_case()) {
    case v1::ValueRule::kRandomInt:
      return column.value().random_int().range().last();
    case v1::ValueRule::kHashed:
      if (type->width_bytes == 8) return std::nullopt;
      return type->integer_max();
    case v1::ValueRule::kConstant: {
      std::uint64_t number = 0;
      const std::string& text = column.value().constant();
      const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
      if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
      return number;
    }
    case v1::ValueRule::kPattern:  // the key alone; others are a fault
      return type->integer_max();
    case v1::ValueRule::RULE_NOT_SET:
      if (!IsKeyColumn(table, column.name())) return std::nullopt;
      return type->integer_max();
    default:
      return std::nullopt;
  }
}

PatternNames NamesOf(const v1::Table& table, const v1::Workload& workload) {
  PatternNames names;
  if (table.primary_key_size() == 1) names.key_column = table.primary_key(0);
  names.key_digits = KeyDigits(table, workload);
  for (const v1::ColumnSpec& column : table.columns()) {
    if (const auto highest = HighestNumber(column, table)) {
      names.numbers.emplace_back(column.name(), *highest);
    }
  }
  return names;
}

bool ParsesAsInteger(std::string_view text, const ColumnType& type) {
  const char* end = text.data() + text.size();
  if (text.starts_with('-')) {
    std::int64_t value = 0;
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end && value >= type.integer_min();
  }
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && value <= type.integer_max();
}

bool AllDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool ParsesAsDecimal(std::string_view text, const ColumnType& type) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const bool has_digits = !whole.empty() && (point == std::string_view::npos || !fraction.empty());
  return has_digits && AllDigits(whole) && AllDigits(fraction) && fraction.size() <= type.scale &&
         whole.size() <=
             std::max<std::size_t>(static_cast<std::size_t>(type.precision - type.scale), 1);
}

// "2026-11-30" or "2026-11-30 21:27:00" by the shape alone; days of months are the server's matter.
bool HasShape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : text[i] != shape[i]) return false;
  }
  return true;
}

class RuleCheck {
 public:
  RuleCheck(const std::string& path, const v1::Table& table, const v1::ColumnSpec& column,
            const ColumnType& type, Checker* checker)
      : path_(path), table_(table), column_(column), type_(type), checker_(checker) {}

  void Pattern(const std::string& pattern) {
    const PatternNames names = NamesOf(table_, checker_->filled());
    if (type_.is_integer() && IsKeyAlone(pattern, names)) return;
    if (!IsTextual(type_) && type_.kind != Kind::kJson) {
      Fault("a text or pattern does not fit {}; use {{ constant: ... }}{}", type_.sql,
            type_.is_integer() ? ", random_int, new_version or \"{key}\"" : "");
      return;
    }
    const StatusOr<PatternLength> longest = LongestResult(pattern, names);
    if (!longest.ok()) {
      Fault("{}", StatusText(longest.status()));
    } else if (LengthIn(type_, *longest) > type_.length) {
      Fault("'{}' can become {} long, and {} holds {}", pattern, LengthIn(type_, *longest),
            type_.sql, type_.length);
    }
  }

  void Text(const v1::RandomText& text) {
    if (!IsTextual(type_)) {
      Fault("random_text does not fit {}", type_.sql);
      return;
    }
    if (text.length().last() > type_.length) {
      Fault("random_text of up to {} does not fit {}", text.length().last(), type_.sql);
    }
    if (text.has_pareto()) {
      const v1::Pareto& pareto = text.pareto();
      if (!(pareto.scale() > 0) || !std::isfinite(pareto.scale())) {
        Fault("pareto: scale is needed, and above 0");
      }
      if (!(pareto.shape() >= 0 && pareto.shape() <= 1)) Fault("pareto: shape is in 0..1");
      if (!(pareto.location() >= 0) || !std::isfinite(pareto.location())) {
        Fault("pareto: location is not negative");
      }
    }
    for (const char c : text.alphabet()) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x80 || byte < 0x20) {
        Fault("alphabet: only printable ASCII characters");
        return;
      }
    }
  }

  void Integer(const v1::RandomInt& rule) {
    const std::uint64_t last = rule.range().last();
    if (type_.is_integer()) {
      if (last > type_.integer_max()) {
        Fault("random_int up to {} does not fit {}, which ends at {}", last, type_.sql,
              type_.integer_max());
      }
      return;
    }
    if (type_.kind == Kind::kFloat || type_.kind == Kind::kDouble) return;
    if (type_.kind == Kind::kYear) {
      if (rule.range().first() >= kFirstYear && last <= kLastYear) return;
      Fault("random_int for a year must be within {}..{}", kFirstYear, kLastYear);
      return;
    }
    std::size_t room = 0;
    if (type_.kind == Kind::kDecimal)
      room = static_cast<std::size_t>(type_.precision - type_.scale);
    if (IsTextual(type_)) room = type_.length;
    if (Digits(last) > room) Fault("random_int up to {} does not fit {}", last, type_.sql);
  }

  void NewVersion() {
    if (!type_.is_integer() || type_.width_bytes < kVersionBytes) {
      Fault("new_version needs an int or bigint column, not {}", type_.sql);
    }
  }

  void AlwaysNull() {
    if (!column_.nullable())
      Fault("always_null needs 'nullable: true' for column '{}'", column_.name());
  }

  void Constant(const std::string& text) {
    if (!Fits(text)) Fault("constant '{}' does not fit {}", text, type_.sql);
  }

  void Server(const std::string& sql) {
    if (sql.empty()) Fault("server needs SQL, as in 'server: \"now()\"'");
    if (IsKeyColumn(table_, column_.name())) {
      Fault("a key must be known to be asked for; the server's value is not");
    }
  }

  void Hash() {
    if (type_.is_integer()) return;
    if (!IsTextual(type_)) {
      Fault("hashed does not fit {}", type_.sql);
    } else if (type_.length < kHashDigits) {
      Fault("hashed is {} digits long, and {} holds {}", kHashDigits, type_.sql, type_.length);
    }
  }

  void Choice(const v1::OneOf& choice) {
    if (choice.values_size() == 0) Fault("one_of needs texts, as in 'one_of: [red, green]'");
    for (const std::string& text : choice.values()) {
      if (!Fits(text)) Fault("'{}' of one_of does not fit {}", text, type_.sql);
    }
  }

 private:
  bool Fits(const std::string& text) const {
    switch (type_.kind) {
      case Kind::kInteger:
        return ParsesAsInteger(text, type_);
      case Kind::kDecimal:
        return ParsesAsDecimal(text, type_);
      case Kind::kFloat:
      case Kind::kDouble:
        return ParseNumber(text).ok();
      case Kind::kDate:
        return HasShape(text, "0000-00-00");
      case Kind::kTime:
        return HasShape(text, "00:00:00");
      case Kind::kDatetime:
      case Kind::kTimestamp:
        return HasShape(text, "0000-00-00 00:00:00");
      case Kind::kYear:
        return HasShape(text, "0000");
      case Kind::kJson:
        return !text.empty();
      default:
        break;
    }
    PatternLength length{0, text.size()};
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++length.characters;
    }
    return LengthIn(type_, length) <= type_.length;
  }

  template <typename... Args>
  void Fault(fmt::format_string<Args...> format, Args&&... args) {
    checker_->Fault(path_, std::string_view(fmt::format(format, std::forward<Args>(args)...)));
  }

  const std::string& path_;
  const v1::Table& table_;
  const v1::ColumnSpec& column_;
  const ColumnType& type_;
  Checker* checker_;
};

}  // namespace

void CheckRule(const std::string& path, const v1::ValueRule& rule, const v1::Table& table,
               const v1::ColumnSpec& column, const ColumnType& type, Checker* checker) {
  RuleCheck check(path, table, column, type, checker);
  switch (rule.rule_case()) {
    case v1::ValueRule::kPattern:
      return check.Pattern(rule.pattern());
    case v1::ValueRule::kRandomText:
      return check.Text(rule.random_text());
    case v1::ValueRule::kRandomInt:
      return check.Integer(rule.random_int());
    case v1::ValueRule::kNewVersion:
      return check.NewVersion();
    case v1::ValueRule::kAlwaysNull:
      return check.AlwaysNull();
    case v1::ValueRule::kConstant:
      return check.Constant(rule.constant());
    case v1::ValueRule::kServer:
      return check.Server(rule.server());
    case v1::ValueRule::kHashed:
      return check.Hash();
    case v1::ValueRule::kOneOf:
      return check.Choice(rule.one_of());
    case v1::ValueRule::RULE_NOT_SET:
      return;
  }
}

void CheckParameterRule(const std::string& path, const v1::ValueRule& rule, Checker* checker) {
  switch (rule.rule_case()) {
    case v1::ValueRule::kPattern: {
      PatternNames names;
      names.key_digits = kOpenEndedDigits;
      const StatusOr<PatternLength> longest = LongestResult(rule.pattern(), names);
      if (!longest.ok()) checker->Fault(path, StatusText(longest.status()));
      return;
    }
    case v1::ValueRule::kServer:
      checker->Fault(path, "write the server's SQL into the statement itself");
      return;
    case v1::ValueRule::kNewVersion:
      checker->Fault(path, "a statement's writes have no version; use \"{key}\" or random_int");
      return;
    case v1::ValueRule::kOneOf:
      if (rule.one_of().values_size() == 0) checker->Fault(path, "one_of needs texts");
      return;
    default:
      return;
  }
}

bool TellsRowsApart(const v1::ValueRule& rule, const v1::Table& table, const ColumnType& type) {
  switch (rule.rule_case()) {
    case v1::ValueRule::RULE_NOT_SET:
      return type.is_integer();
    case v1::ValueRule::kPattern: {
      PatternNames names;
      if (table.primary_key_size() == 1) names.key_column = table.primary_key(0);
      return HoldsKey(rule.pattern(), names);
    }
    case v1::ValueRule::kHashed:
      return !type.is_integer() || type.width_bytes == 8;
    default:
      return false;
  }
}

}  // namespace cavalry::spec
