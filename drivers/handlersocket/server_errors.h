// What the words and numbers in a HandlerSocket error answer mean, for people. Any thread;
// allocates nothing.
#pragma once

#include <string_view>

namespace cavalry::drivers::handlersocket {

// Answer codes. (HandlerSocket protocol.en.txt, "Response syntax", says only "non-zero"; the plugin
// uses 1 for the server or its engine, 2 for a request it cannot take, 3 for authorisation.)
inline constexpr unsigned kCodeOk = 0;
inline constexpr unsigned kCodeServer = 1;
inline constexpr unsigned kCodeRequest = 2;
inline constexpr unsigned kCodeAuthorisation = 3;

struct ServerError {
  std::string_view meaning;  // empty: nothing known
  // Whether a write that got it is known not to have been done.
  bool not_done = false;
  // Whether the same may well succeed when it is tried again.
  bool retryable = false;
};

// The text of a kCodeServer answer: a word, or the number of a handler error (MariaDB's my_base.h).
ServerError ExplainServerError(std::string_view text);

// The word of a kCodeRequest answer.
std::string_view ExplainRequestError(std::string_view word);

}  // namespace cavalry::drivers::handlersocket
