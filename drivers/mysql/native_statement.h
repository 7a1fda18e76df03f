// Cuts a statement that a person wrote where its parameters go, and tells whether it is several.
// Knows quotes and comments as the server does with its default sql_mode. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

namespace cavalry::drivers::mysql {

struct NativeStatement {
  // The text between question marks that stand outside of quotes and comments; views of it.
  std::vector<std::string_view> pieces;
  // A semicolon outside of quotes and comments is followed by a further statement.
  bool several = false;
  bool is_empty = true;  // nothing but blanks, comments and semicolons
  bool is_open = false;  // a quote or comment does not end

  std::size_t parameter_count() const { return pieces.size() - 1; }
};

NativeStatement ParseNative(std::string_view text);

}  // namespace cavalry::drivers::mysql
