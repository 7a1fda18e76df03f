#include "agent/value_rule.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

namespace cavalry::agent {
namespace {

using Insert = load::PatternPiece::Insert;

constexpr std::uint64_t kMaxTextBytes = 65'535;
constexpr std::uint64_t kMaxDefaultInteger = 2'147'483'647;
constexpr std::uint32_t kMaxDefaultText = 1'024;
constexpr std::uint32_t kMaxPatternWidth = 255;

bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// "column" or "column+10": the number in another column of the row.
Status SetColumn(std::string_view pattern, std::string_view name, const PatternNames& names,
                 load::PatternPiece* piece) {
  if (const std::size_t sign = name.rfind('+'); sign != std::string_view::npos) {
    if (const auto plus = ParseNumber(name.substr(sign + 1))) {
      piece->plus = *plus;
      name = name.substr(0, sign);
    }
  }
  const std::size_t columns = names.table == nullptr ? 0 : names.table->columns.size();
  for (std::uint32_t i = 0; i < columns; ++i) {
    if (names.table->columns[i].name != name) continue;
    const load::ColumnRule& rule = (*names.rules)[i];
    if (!names.table->columns[i].type.is_integer() || !IsNumeric(rule)) {
      return InvalidArgument("pattern '{}': column '{}' has no whole number that a rule gives",
                             pattern, name);
    }
    piece->insert = Insert::kColumn;
    piece->column = i;
    piece->rule = std::make_shared<load::ColumnRule>(rule);
    return absl::OkStatus();
  }
  return InvalidArgument("pattern '{}': '{}' is neither key, version, digits nor a column", pattern,
                         name);
}

// What stands between braces: "key:09", "digits:4", "nation+10".
Status SetInsertion(std::string_view pattern, std::string_view inner, const PatternNames& names,
                    load::PatternPiece* piece) {
  std::string_view name = inner;
  if (const std::size_t colon = inner.find(':'); colon != std::string_view::npos) {
    name = inner.substr(0, colon);
    const auto width = ParseNumber(inner.substr(colon + 1));
    if (!width || *width > kMaxPatternWidth) {
      return InvalidArgument("pattern '{}': the width must be a number up to {}", pattern,
                             kMaxPatternWidth);
    }
    piece->width = static_cast<std::uint32_t>(*width);
  }
  if (name == "key" || (name == names.key && !name.empty())) {
    piece->insert = Insert::kKey;
  } else if (name == "version") {
    piece->insert = Insert::kVersion;
  } else if (name == "digits") {
    if (piece->width == 0) {
      return InvalidArgument("pattern '{}': digits needs their number, {{digits:4}}", pattern);
    }
    piece->insert = Insert::kDigits;
  } else {
    return SetColumn(pattern, name, names, piece);
  }
  return absl::OkStatus();
}

// "Customer#{key:09}" -> pieces.
StatusOr<std::vector<load::PatternPiece>> ParsePattern(std::string_view text,
                                                       const PatternNames& names) {
  std::vector<load::PatternPiece> pieces(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool doubled = i + 1 < text.size() && text[i + 1] == c;
    if (c != '{' || doubled) {
      pieces.back().literal += c;
      if ((c == '{' || c == '}') && doubled) ++i;
      continue;
    }
    const std::size_t close = text.find('}', i);
    if (close == std::string_view::npos) {
      return InvalidArgument("pattern '{}': '{{' without '}}'", text);
    }
    CAVALRY_RETURN_IF_ERROR(
        SetInsertion(text, text.substr(i + 1, close - i - 1), names, &pieces.back()));
    pieces.emplace_back();
    i = close;
  }
  return pieces;
}

// A pattern in an integer column is the row's number alone.
StatusOr<load::ColumnRule> MakePattern(const std::string& text, const ColumnType& type,
                                       const PatternNames& names) {
  load::ColumnRule rule;
  CAVALRY_ASSIGN_OR_RETURN(rule.pattern, ParsePattern(text, names));
  rule.kind = load::RuleKind::kPattern;
  if (!type.is_integer()) return rule;
  const bool is_key = rule.pattern.size() == 2 && rule.pattern[0].insert == Insert::kKey &&
                      rule.pattern[0].literal.empty() && rule.pattern[1].literal.empty();
  if (!is_key) return InvalidArgument("pattern '{}': for {} only {{key}}", text, type.sql);
  rule.kind = load::RuleKind::kKey;
  rule.pattern.clear();
  return rule;
}

void SetIntegers(std::uint64_t highest, const ColumnType& type, load::ColumnRule* rule) {
  rule->kind = load::RuleKind::kRandomInt;
  rule->high = highest;
  if (type.is_integer()) rule->high = std::min(type.integer_max(), highest);
  if (type.is_boolean) rule->high = 1;
}

Status SetText(const v1::RandomText& text, const ColumnType& type, load::ColumnRule* rule) {
  rule->kind = load::RuleKind::kRandomText;
  rule->text = text.alphabet();
  rule->low = text.length().first();
  rule->high = text.length().last();
  if (!IsPrintableAscii(rule->text)) {
    return InvalidArgument("alphabet: only printable ASCII characters");
  }
  if (!text.has_length()) {
    rule->high = std::min(type.length, kMaxDefaultText);
    rule->low = rule->high / 2;
  }
  if (!text.has_pareto()) return absl::OkStatus();
  const v1::Pareto& pareto = text.pareto();
  if (!(pareto.scale() > 0) || !(pareto.shape() >= 0 && pareto.shape() <= 1) ||
      !(pareto.location() >= 0)) {
    return InvalidArgument("pareto: scale is above 0, shape in 0..1, location not negative");
  }
  rule->pareto_location = pareto.location();
  rule->pareto_scale = pareto.scale();
  rule->pareto_shape = pareto.shape();
  return absl::OkStatus();
}

}  // namespace

StatusOr<load::ColumnRule> MakeColumnRule(const v1::ValueRule& rule, const ColumnType& type,
                                          const PatternNames& names) {
  load::ColumnRule result;
  switch (rule.rule_case()) {
    case v1::ValueRule::kPattern:
      return MakePattern(rule.pattern(), type, names);
    case v1::ValueRule::kRandomText:
      CAVALRY_RETURN_IF_ERROR(SetText(rule.random_text(), type, &result));
      break;
    case v1::ValueRule::kRandomInt:
      SetIntegers(kMaxDefaultInteger, type, &result);
      if (rule.random_int().has_range()) {
        result.low = rule.random_int().range().first();
        result.high = rule.random_int().range().last();
      }
      break;
    case v1::ValueRule::kNewVersion:
      result.kind = load::RuleKind::kNewVersion;
      break;
    case v1::ValueRule::kAlwaysNull:
      result.kind = load::RuleKind::kNull;
      break;
    case v1::ValueRule::kConstant:
      result.kind = load::RuleKind::kConstant;
      result.text = rule.constant();
      break;
    case v1::ValueRule::kServer:
      result.kind = load::RuleKind::kServer;
      result.text = rule.server();
      break;
    case v1::ValueRule::kHashed:
      result.kind = load::RuleKind::kHashed;
      result.high = ~std::uint64_t{0};
      if (type.is_integer() && type.width_bytes < 8) result.high = type.integer_max();
      break;
    case v1::ValueRule::kOneOf:
      result.kind = load::RuleKind::kOneOf;
      result.texts.assign(rule.one_of().values().begin(), rule.one_of().values().end());
      if (result.texts.empty()) return InvalidArgument("one_of: no texts");
      break;
    case v1::ValueRule::RULE_NOT_SET:
      if (type.is_integer()) SetIntegers(kMaxDefaultInteger, type, &result);
      break;
  }
  if (result.low > result.high ||
      (result.kind == load::RuleKind::kRandomText && result.high > kMaxTextBytes)) {
    return InvalidArgument("a value's range {}..{} cannot be used", result.low, result.high);
  }
  return result;
}

}  // namespace cavalry::agent
