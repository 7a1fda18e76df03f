#include "agent/load/key_file.h"

#include <algorithm>
#include <charconv>

#include "agent/load/key_sequence.h"
#include "core/base/file.h"

namespace cavalry::load {
namespace {

constexpr std::size_t kMaxShown = 40;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

StatusOr<std::shared_ptr<const KeyList>> LoadKeyFile(const std::string& path) {
  CAVALRY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxKeyFileBytes));
  return ParseKeyFile(text, path);
}

StatusOr<std::shared_ptr<const KeyList>> ParseKeyFile(std::string_view text,
                                                      const std::string& path) {
  auto keys = std::make_shared<KeyList>();
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::uint64_t key = 0;
    const auto result = std::from_chars(line.data(), line.data() + line.size(), key);
    if (result.ec != std::errc() || result.ptr != line.data() + line.size() || key > kMaxKey) {
      return InvalidArgument("{}:{}: '{}' is not a key: a whole number up to {}", path, number,
                             line.substr(0, kMaxShown), kMaxKey);
    }
    keys->push_back(key);
  }
  if (keys->empty()) return InvalidArgument("{}: has no keys", path);
  return std::shared_ptr<const KeyList>(std::move(keys));
}

}  // namespace cavalry::load
