// The only header that includes Connector/C. What the driver assumes of the library beyond its
// manual is asserted here; the rest of the folder gets its handles from this file.
#pragma once

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <memory>
#include <string>
#include <type_traits>

#include "core/base/clock.h"
#include "drivers/mysql/server_address.h"

namespace cavalry::drivers::mysql {

// Connector/C 3.3 is what the non-blocking client was written and tested against.
static_assert(MARIADB_PACKAGE_VERSION_ID >= 30300 && MARIADB_PACKAGE_VERSION_ID < 40000);
// PollableClient turns these bits into poll(2) events one by one.
static_assert(MYSQL_WAIT_READ == 1 && MYSQL_WAIT_WRITE == 2 && MYSQL_WAIT_EXCEPT == 4 &&
              MYSQL_WAIT_TIMEOUT == 8);
// Flags that binds point to, and the socket.
static_assert(sizeof(my_bool) == 1 && std::is_same_v<my_socket, int>);
// Read for SERVER_STATUS_NO_BACKSLASH_ESCAPES: the only field of the handle that is touched.
static_assert(std::is_same_v<decltype(MYSQL::server_status), unsigned int>);
// AnswerReader replaces one method of the handle and calls another, both by these types.
static_assert(
    std::is_same_v<decltype(MYSQL::methods), const st_mariadb_methods*> &&
    std::is_same_v<decltype(st_mariadb_methods::db_read_query_result), int (*)(MYSQL*)> &&
    std::is_same_v<decltype(st_mariadb_methods::db_read_execute_response), int (*)(MYSQL_STMT*)>);

struct ResultCloser {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};
using ResultPtr = std::unique_ptr<MYSQL_RES, ResultCloser>;

enum class CallMode { kBlocking, kNonBlocking };

// What every connection is made with. CLIENT_FOUND_ROWS: an update to equal values counts the row,
// as HandlerSocket does; without it such an update would look like a miss.
inline constexpr unsigned long kClientFlags = CLIENT_FOUND_ROWS;

// Initializes the library once; any thread, any number of times.
void InitializeLibrary();

// A handle with all options set (protocol, character set, timeouts, TLS, compression, plugins, no
// local files, no reconnect), not connected. Null when out of memory. Closed with mysql_close.
MYSQL* NewHandle(const ServerAddress& address, CallMode mode, Nanos connect_timeout);

// The arguments of mysql_real_connect that follow from the transport. Views into `address`.
struct ConnectArguments {
  const char* host = nullptr;
  unsigned int port = 0;
  const char* socket = nullptr;
};
ConnectArguments ArgumentsFor(const ServerAddress& address, std::size_t candidate);

// Lets a prepared statement's answer be read by a call of its own, as mysql_read_query_result does
// for a text statement. mysql_stmt_execute alone tries to read right behind its send: mostly in
// vain, one system call more per operation; and now and then with success, so that one session goes
// on and on while answers of others wait. The library has the parts (MARIADB_OPT_SKIP_READ_RESPONSE
// and the method that reads the answer) but no non-blocking call for the second; methods may be
// replaced, so mysql_read_query_result is made to do it, once per Start: text statements between
// are answered as ever. One per connection; must outlive the handle.
class AnswerReader {
 public:
  AnswerReader() = default;
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // REQUIRES: connected.
  void Install(MYSQL* handle);
  // True: mysql_stmt_execute only sends. False: it reads too, and so does mysql_stmt_prepare.
  // Without effect before Install.
  void SkipReading(bool skip);
  // Reads the answer to an execute and, with `store`, all its rows; goes on by
  // mysql_read_query_result_cont.
  int Start(my_bool* failed, MYSQL_STMT* statement, bool store);

 private:
  // The library hands our table of methods back: it must be the first member.
  struct Methods {
    st_mariadb_methods table{};
    int (*read_text)(MYSQL*) = nullptr;
    MYSQL_STMT* statement = nullptr;
    bool store = false;
  };
  static int ReadAnswer(MYSQL* handle);

  Methods methods_;
  MYSQL* handle_ = nullptr;
};

}  // namespace cavalry::drivers::mysql
