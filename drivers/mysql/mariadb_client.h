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

// A handle with all options set (protocol, character set, timeouts, no local files, no reconnect),
// not connected. Null when out of memory. Closed with mysql_close.
MYSQL* NewHandle(const ServerAddress& address, CallMode mode, Nanos connect_timeout);

// The arguments of mysql_real_connect that follow from the transport. Views into `address`.
struct ConnectArguments {
  const char* host = nullptr;
  unsigned int port = 0;
  const char* socket = nullptr;
};
ConnectArguments ArgumentsFor(const ServerAddress& address, std::size_t candidate);

}  // namespace cavalry::drivers::mysql
