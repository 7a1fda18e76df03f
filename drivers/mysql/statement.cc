#include "drivers/mysql/statement.h"

#include <array>
#include <charconv>

namespace cavalry::drivers::mysql {
namespace {

// Longest decimal text of a 64-bit number, with its sign.
constexpr std::size_t kMaxDigits = 20;
// Characters of an identifier (MariaDB Knowledge Base, Identifier Names).
constexpr std::size_t kMaxNameCharacters = 64;

// For each byte the letter that follows a backslash, or 0 when the byte stands for itself: the set
// of mysql_real_escape_string.
constexpr std::array<char, 256> MakeEscapes() {
  std::array<char, 256> escapes{};
  escapes['\0'] = '0';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\\'] = '\\';
  escapes['\''] = '\'';
  escapes['"'] = '"';
  escapes[0x1a] = 'Z';
  return escapes;
}
constexpr std::array<char, 256> kEscapes = MakeEscapes();

template <typename Number>
void AppendNumber(Number number, std::string* sql) {
  char digits[kMaxDigits];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  sql->append(digits, end);
}

void AppendHex(std::string_view bytes, std::string* sql) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  sql->append("X'");
  const std::size_t begin = sql->size();
  sql->resize(begin + bytes.size() * 2);
  char* out = sql->data() + begin;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *out++ = kDigits[byte >> 4];
    *out++ = kDigits[byte & 15];
  }
  sql->push_back('\'');
}

}  // namespace

void AppendName(std::string_view name, std::string* sql) {
  sql->push_back('`');
  for (const char c : name) {
    if (c == '`') sql->push_back('`');
    sql->push_back(c);
  }
  sql->push_back('`');
}

std::string QuotedName(std::string_view name) {
  std::string quoted;
  AppendName(name, &quoted);
  return quoted;
}

void AppendText(std::string_view text, Escaping escaping, std::string* sql) {
  sql->push_back('\'');
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char escape = kEscapes[static_cast<unsigned char>(text[i])];
    if (escape == 0) [[likely]] {
      continue;
    }
    if (escaping == Escaping::kBackslash) {
      sql->append(text, copied, i - copied);
      sql->push_back('\\');
      sql->push_back(escape);
      copied = i + 1;
    } else if (text[i] == '\'') {
      sql->append(text, copied, i + 1 - copied);
      sql->push_back('\'');
      copied = i + 1;
    }
  }
  sql->append(text, copied, text.size() - copied);
  sql->push_back('\'');
}

void AppendValue(const Value& value, Escaping escaping, std::string* sql) {
  switch (value.kind) {
    case Value::Kind::kNull:
      sql->append("NULL");
      return;
    case Value::Kind::kInteger:
      AppendNumber(value.integer, sql);
      return;
    case Value::Kind::kUnsigned:
      AppendNumber(static_cast<std::uint64_t>(value.integer), sql);
      return;
    case Value::Kind::kText:
      AppendText(value.text, escaping, sql);
      return;
    case Value::Kind::kBinary:
      AppendHex(value.text, sql);
      return;
  }
}

Status CheckName(std::string_view what, std::string_view name) {
  std::size_t characters = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return InvalidArgument("{}: a name cannot hold a zero byte", what);
    if (byte >= 0xf0) {
      return InvalidArgument("{} \"{}\": a name cannot hold characters above U+FFFF", what, name);
    }
    if ((byte & 0xc0) != 0x80) ++characters;
  }
  if (characters == 0) return InvalidArgument("{}: a name is missing", what);
  if (characters > kMaxNameCharacters) {
    return InvalidArgument("{} \"{}\": {} characters, but MySQL allows {}", what, name, characters,
                           kMaxNameCharacters);
  }
  if (name.back() == ' ') {
    return InvalidArgument("{} \"{}\": a name cannot end with a space", what, name);
  }
  return absl::OkStatus();
}

void AppendPortableText(std::string_view text, std::string* sql) {
  if (text.find('\\') == std::string_view::npos) {
    AppendText(text, Escaping::kQuotesOnly, sql);
    return;
  }
  sql->append("_utf8mb4 ");
  AppendHex(text, sql);
}

}  // namespace cavalry::drivers::mysql
