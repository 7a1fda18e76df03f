#include "drivers/cassandra/cql_literal.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "drivers/cassandra/value_format.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::size_t kLengthBytes = 4;

void AppendNumber(std::int64_t number, ByteBuffer& out) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.Append({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void AppendUnsigned(std::uint64_t number, ByteBuffer& out) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.Append({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void AppendQuoted(std::string_view text, ByteBuffer& out) {
  out.Append('\'');
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t quote = std::min(text.find('\'', begin), text.size());
    out.Append(text.substr(begin, quote - begin));
    if (quote < text.size()) out.Append("''");
    begin = quote + 1;
  }
  out.Append('\'');
}

void AppendHex(std::string_view bytes, ByteBuffer& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.Append("0x");
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.Append(kDigits[byte >> 4]);
    out.Append(kDigits[byte & 15]);
  }
}

void AppendPlain(const Value& value, ByteBuffer& out) {
  if (value.kind == Value::Kind::kInteger) return AppendNumber(value.integer, out);
  if (value.kind == Value::Kind::kUnsigned) {
    return AppendUnsigned(static_cast<std::uint64_t>(value.integer), out);
  }
  out.Append(value.text);
}

// Digits, a sign, a point, an exponent: nothing that could end the literal.
bool IsNumber(const Value& value) {
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) return true;
  return !value.text.empty() &&
         value.text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

// The value as it goes on the wire, which is left behind `begin` in `out` for the call only.
std::uint64_t WireNumber(std::string_view wire) {
  std::uint64_t number = 0;
  for (const char c : wire) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

}  // namespace

bool AppendLiteral(CqlType type, const Value& value, ByteBuffer& out) {
  if (value.kind == Value::Kind::kNull) {
    out.Append("NULL");
    return true;
  }
  const std::size_t begin = out.size();
  std::string_view why;
  if (!AppendValue(type, value, out, &why)) return false;
  const std::string_view wire = out.view().substr(std::min(begin + kLengthBytes, out.size()));
  switch (type) {
    case CqlType::kText:
      out.Truncate(begin);
      if (value.kind == Value::Kind::kText || value.kind == Value::Kind::kBinary) {
        AppendQuoted(value.text, out);
      } else {
        out.Append('\'');
        AppendPlain(value, out);
        out.Append('\'');
      }
      return true;
    case CqlType::kBlob:
      out.Truncate(begin);
      AppendHex(value.text, out);
      return true;
    case CqlType::kBoolean: {
      const bool is_true = WireNumber(wire) != 0;
      out.Truncate(begin);
      out.Append(is_true ? "true" : "false");
      return true;
    }
    // As numbers (CQL, "Working with timestamps"): a text without a zone is in the server's own.
    case CqlType::kDate:
    case CqlType::kTime:
    case CqlType::kTimestamp: {
      const std::uint64_t number = WireNumber(wire);
      out.Truncate(begin);
      AppendNumber(static_cast<std::int64_t>(number), out);
      return true;
    }
    default:
      out.Truncate(begin);
      if (!IsNumber(value)) return false;
      AppendPlain(value, out);
      return true;
  }
}

void AppendUntyped(const Value& value, ByteBuffer& out) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return out.Append("NULL");
    case Value::Kind::kText:
      return AppendQuoted(value.text, out);
    case Value::Kind::kBinary:
      return AppendHex(value.text, out);
    default:
      AppendPlain(value, out);
  }
}

std::optional<std::string> FilterLiteral(const Column& column, std::string_view text) {
  Value value = column.type.is_binary() ? Value::Binary(text) : Value::Text(text);
  const CqlType type = CqlTypeOf(column.type);
  if (column.type.is_integer() || column.type.kind == ColumnType::Kind::kYear) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end) value = Value::Integer(number);
  }
  ByteBuffer literal;
  if (!AppendLiteral(type, value, literal)) return std::nullopt;
  return std::string(literal.view());
}

}  // namespace cavalry::drivers::cassandra
