// Where the parameters of a CQL text are. Knows quotes and comments as the server does. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cavalry::drivers::cassandra {

// The place of the next question mark outside of quotes and comments, from `from` on, which is
// outside of them too; npos: there is none.
std::size_t NextMark(std::string_view cql, std::size_t from);

struct CqlText {
  std::uint32_t marks = 0;
  bool is_empty = true;    // nothing but blanks, comments and semicolons
  bool is_open = false;    // a quote or comment does not end
  bool is_select = false;  // its first word is SELECT
  bool is_schema = false;  // its first word is CREATE, ALTER or DROP
};
CqlText LookAtCql(std::string_view cql);

}  // namespace cavalry::drivers::cassandra
