#include "drivers/memcached/item_key.h"

#include <algorithm>
#include <charconv>

namespace cavalry::drivers::memcached {
namespace {

constexpr std::string_view kTable = "{table}";
constexpr std::string_view kKey = "{key}";
constexpr std::size_t kMaxDigits = 20;

bool IsKeyByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f;
}

}  // namespace

std::string_view KeyFault(std::string_view text) {
  if (text.size() > kMaxKeyBytes) return "a key of memcached has at most 250 bytes";
  if (std::all_of(text.begin(), text.end(), IsKeyByte)) return {};
  return "a key of memcached holds no blank and no control character";
}

StatusOr<ItemKey> ItemKey::Make(std::string_view key_template, std::string_view table) {
  std::string text(key_template);
  for (std::size_t at = 0; (at = text.find(kTable, at)) != std::string::npos; at += table.size()) {
    text.replace(at, kTable.size(), table);
  }
  const std::size_t key = text.find(kKey);
  if (key == std::string::npos) {
    return InvalidArgument(
        "memcached: key: '{}' has no {{key}}, so all rows of a table would be one item",
        key_template);
  }
  ItemKey item;
  item.prefix_ = text.substr(0, key);
  item.suffix_ = text.substr(key + kKey.size());
  if (item.suffix_.find(kKey) != std::string::npos) {
    return InvalidArgument("memcached: key: '{}' has {{key}} twice", key_template);
  }
  const std::string fixed = item.MarkKey();
  const std::string_view fault = KeyFault(fixed);
  if (!fault.empty()) {
    return InvalidArgument("memcached: key: '{}' makes '{}' of table '{}': {}", key_template, text,
                           table, fault);
  }
  return item;
}

bool ItemKey::Append(std::span<const Value> values, ByteBuffer& out, std::string_view* why) const {
  const std::size_t before = out.size();
  out.Append(prefix_);
  bool first = true;
  for (const Value& value : values) {
    if (!first) out.Append(kKeySeparator);
    first = false;
    if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) {
      char* const begin = out.Reserve(kMaxDigits);
      if (begin == nullptr) break;  // the buffer's bound: seen by the caller
      const char* const end =
          value.kind == Value::Kind::kInteger
              ? std::to_chars(begin, begin + kMaxDigits, value.integer).ptr
              : std::to_chars(begin, begin + kMaxDigits, static_cast<std::uint64_t>(value.integer))
                    .ptr;
      out.Commit(static_cast<std::size_t>(end - begin));
      continue;
    }
    if (value.kind == Value::Kind::kNull || value.text.empty()) *why = "a key column is empty";
    if (why->empty()) *why = KeyFault(value.text);
    const bool ambiguous =
        values.size() > 1 && value.text.find(kKeySeparator) != std::string_view::npos;
    if (why->empty() && ambiguous)
      *why = "a value of several key columns holds ':', their separator";
    if (!why->empty()) break;
    out.Append(value.text);
  }
  out.Append(suffix_);
  if (why->empty() && out.size() - before > kMaxKeyBytes) *why = KeyFault(std::string(251, 'k'));
  if (why->empty()) return true;
  out.Truncate(before);
  return false;
}

std::string_view ItemKey::Middle(std::string_view key) const {
  if (key.size() <= prefix_.size() + suffix_.size() || !key.starts_with(prefix_) ||
      !key.ends_with(suffix_)) {
    return {};
  }
  return key.substr(prefix_.size(), key.size() - prefix_.size() - suffix_.size());
}

}  // namespace cavalry::drivers::memcached
