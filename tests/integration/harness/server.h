// The MariaDB that the environment names (as `deploy/sandbox env` prints it), and SQL beside the
// programs under test, over Connector/C's plain API. Errors fail the test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Of Connector/C; its header stays in the .cc.
struct st_mysql;

namespace cavalry::e2e {

struct Server {
  std::string host;
  int port = 0;
  std::string socket;
  std::string user;
  std::string password;
  int read_port = 0;  // of HandlerSocket
  int write_port = 0;
  std::string secret;
  std::string write_secret;

  // Name of a variable that is missing, or "".
  static std::string Missing();
  // REQUIRES: nothing is missing.
  static Server FromEnvironment();
};

class Sql {
 public:
  // As root over the Unix socket, which a sandbox allows without a password.
  explicit Sql(const Server& server);
  ~Sql();
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  void Run(const std::string& statement);
  // First column of all rows; NULL as "NULL".
  std::vector<std::string> List(const std::string& statement);
  // First row's columns, joined by ",".
  std::string Row(const std::string& statement);
  std::int64_t Number(const std::string& statement);
  // SHOW GLOBAL STATUS.
  std::int64_t Status(const std::string& name);

 private:
  st_mysql* connection_;
};

// A global variable of the server set for as long as this lives.
class GlobalVariable {
 public:
  GlobalVariable(Sql* sql, std::string name, const std::string& value);
  ~GlobalVariable();
  GlobalVariable(const GlobalVariable&) = delete;
  GlobalVariable& operator=(const GlobalVariable&) = delete;

 private:
  Sql* sql_;
  std::string name_;
  std::string before_;
};

}  // namespace cavalry::e2e
