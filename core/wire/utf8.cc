#include "core/wire/utf8.h"

namespace cavalry::wire {
namespace {

// Length of the valid character at the front of `text`, 0 if there is none (The Unicode Standard,
// table 3-7). REQUIRES: not empty.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  // The second byte's range rules out overlong forms, surrogates and values above U+10FFFF.
  unsigned low = 0x80;
  unsigned high = 0xbf;
  std::size_t length = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::string ValidUtf8(std::string_view text, std::size_t max_bytes) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = CharacterLength(text);
    const std::string_view character = length == 0 ? "?" : text.substr(0, length);
    if (valid.size() + character.size() > max_bytes) break;
    valid += character;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace cavalry::wire
