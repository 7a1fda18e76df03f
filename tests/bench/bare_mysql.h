// Logged-in MySQL connections as bare sockets, and one statement as the bytes that ask for it: the
// same bytes that a client sends, without any client. For bare_ping_pong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cavalry::bench {

struct BareMysqlOptions {
  std::string host;
  std::uint16_t port = 3306;
  std::string user, password, database;
  std::string statement;  // with `prepared` it has one parameter
  bool prepared = false;
  int key = 1;  // the parameter
  int connections = 1;
};

struct BareMysql {
  std::vector<int> fds;  // open until the process ends
  std::vector<std::string>
      requests;                  // one whole packet a connection: statements are numbered apart
  std::size_t answer_bytes = 0;  // length of its answer, always the same
};

// Prints what is wrong and exits when a server or statement cannot be used.
BareMysql ConnectBareMysql(const BareMysqlOptions& options);

}  // namespace cavalry::bench
