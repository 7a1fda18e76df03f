// Texts that may hold any bytes (a server's error message) as protobuf takes them: a proto3 string
// that is not UTF-8 makes its whole message unreadable for the other side. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cavalry::wire {

// The text with each byte that is not part of valid UTF-8 replaced by '?', cut to at most
// `max_bytes` without splitting a character.
std::string ValidUtf8(std::string_view text, std::size_t max_bytes);

}  // namespace cavalry::wire
