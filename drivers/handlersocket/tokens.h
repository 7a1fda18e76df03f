// The tokens that a HandlerSocket line is made of, as bytes and nothing else: a value in and out of
// its escaped form, and a reader that splits an answer. Pure functions; any thread. Malformed bytes
// are reported, never trusted. (HandlerSocket protocol.en.txt, "Basic syntax".)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drivers/core/byte_buffer.h"

namespace cavalry::drivers::handlersocket {

inline constexpr char kTokenEnd = '\t';
inline constexpr char kLineEnd = '\n';
// A token of this one byte is NULL; an empty token is the empty text.
inline constexpr char kNullToken = '\0';
// A byte below kFirstPlainByte is sent as kEscape and the byte + kEscapeShift.
inline constexpr char kEscape = '\x01';
inline constexpr unsigned char kFirstPlainByte = 0x10;
inline constexpr unsigned char kEscapeShift = 0x40;

// Which kinds of bytes a value holds, found eight at a time.
struct ByteKinds {
  bool needs_escape = false;  // some byte is below kFirstPlainByte
  bool non_ascii = false;     // some byte is 0x80 or above
};
ByteKinds FindByteKinds(std::string_view bytes);

// Appends a value's token. False, with nothing appended, when `out` is at its bound.
bool AppendToken(std::string_view value, ByteBuffer& out);
// The same for a caller that knows the kinds of its bytes.
bool AppendToken(std::string_view value, bool needs_escape, ByteBuffer& out);

// Writes the value of an escaped token to `out`, which has room for token.size() bytes; returns the
// value's size. REQUIRES: `token` came from a TokenReader.
std::size_t Unescape(std::string_view token, char* out);

struct Token {
  std::string_view text;  // as received: to be unescaped when `escaped`
  bool is_null = false;
  bool escaped = false;
};

// Splits what follows an answer's number of columns. `tokens` is what stands behind the TAB,
// without the line's end; it is never without a token, but a token may be empty. All bytes that
// mean anything are below kFirstPlainByte, so one scan, eight bytes at a time, finds token ends,
// NULLs, escapes and bytes that must not be there.
class TokenReader {
 public:
  enum class Result : std::uint8_t { kToken, kEnd, kMalformed };

  explicit TokenReader(std::string_view tokens)
      : begin_(tokens.data()),
        token_(tokens.data()),
        word_(tokens.data()),
        end_(tokens.data() + tokens.size()) {}

  // kMalformed: an escape without its second byte or with one below kEscapeShift, a NUL that is not
  // a token of its own, or a byte that should have been escaped. Of no further use then.
  Result Next(Token& token);

 private:
  static constexpr std::size_t kWordBytes = 8;

  bool LoadWord();  // false at the end

  const char* begin_;
  const char* token_;  // where the current token begins
  const char* word_;   // where the next word begins
  const char* end_;
  const char* marked_ = nullptr;  // where the word that `marks_` is about begins
  bool more_ = true;              // a token is still to come
  std::uint64_t marks_ = 0;       // bit 7 of each byte of it below kFirstPlainByte still to be seen
};

}  // namespace cavalry::drivers::handlersocket
