#include <algorithm>
#include <charconv>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/value_pattern.h"

namespace cavalry::spec {
namespace {

using Kind = ColumnType::Kind;

constexpr std::uint8_t kVersionBytes = 4;     // narrower integers would soon overflow
constexpr std::size_t kOpenEndedDigits = 10;  // of keys whose number nothing bounds

std::size_t Digits(std::uint64_t number) { return fmt::format("{}", number).size(); }

bool IsTextual(const ColumnType& type) { return type.is_text() || type.kind == Kind::kVarbinary; }

// Characters for text columns (bytes for the type text, whose length is in bytes), bytes for
// binary.
std::size_t LengthIn(const ColumnType& type, PatternLength length) {
  return type.kind == Kind::kChar || type.kind == Kind::kVarchar ? length.characters : length.bytes;
}

// Digits of the highest key that the table can hold in this spec.
std::size_t KeyDigits(const v1::Table& table, const Checker& checker) {
  const v1::Workload& workload = checker.filled();
  std::uint64_t highest = std::max<std::uint64_t>(table.rows(), 1);
  for (const v1::OperationSpec& operation : workload.operations()) {
    if (operation.insert().table() == table.name())
      return std::max(Digits(highest), kOpenEndedDigits);
  }
  return Digits(highest);
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
    if (!IsTextual(type_)) {
      Fault("a text or pattern does not fit {}; use {{ constant: ... }}{}", type_.sql,
            type_.is_integer() ? ", random_int or new_version" : "");
      return;
    }
    const StatusOr<PatternLength> longest =
        LongestResult(pattern, table_.primary_key(), KeyDigits(table_, *checker_));
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
    bool fits = true;
    switch (type_.kind) {
      case Kind::kInteger:
        fits = ParsesAsInteger(text, type_);
        break;
      case Kind::kDecimal:
        fits = ParsesAsDecimal(text, type_);
        break;
      case Kind::kDate:
        fits = HasShape(text, "0000-00-00");
        break;
      case Kind::kDatetime:
        fits = HasShape(text, "0000-00-00 00:00:00");
        break;
      case Kind::kChar:
      case Kind::kVarchar:
      case Kind::kText:
      case Kind::kVarbinary: {
        PatternLength length{0, text.size()};
        for (const char c : text) {
          if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++length.characters;
        }
        fits = LengthIn(type_, length) <= type_.length;
        break;
      }
    }
    if (!fits) Fault("constant '{}' does not fit {}", text, type_.sql);
  }

 private:
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
    default:
      return;
  }
}

}  // namespace cavalry::spec
