#include "tests/bench/bare_mysql.h"

#include <mysql.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace cavalry::bench {
namespace {

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "bare_ping_pong: %s\n", what);
  std::exit(1);
}

void AppendNumber(std::string* out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i, number >>= 8) *out += static_cast<char>(number & 0xff);
}

// MySQL client/server protocol, "MySQL Packets": 3 bytes of length, 1 of sequence.
std::string Packet(const std::string& payload) {
  std::string packet;
  AppendNumber(&packet, payload.size(), 3);
  AppendNumber(&packet, 0, 1);
  return packet + payload;
}

// COM_STMT_EXECUTE with one INT parameter.
std::string ExecutePacket(unsigned long statement, int key) {
  std::string payload = "\x17";
  AppendNumber(&payload, statement, 4);
  AppendNumber(&payload, 0, 1);  // no cursor
  AppendNumber(&payload, 1, 4);  // iteration count
  AppendNumber(&payload, 0, 1);  // NULL bitmap
  AppendNumber(&payload, 1, 1);  // types follow
  AppendNumber(&payload, MYSQL_TYPE_LONG, 2);
  AppendNumber(&payload, static_cast<std::uint32_t>(key), 4);
  return Packet(payload);
}

// The answer is over when nothing more comes for a while: measured once, before the run.
std::size_t MeasureAnswer(int fd, const std::string& request) {
  constexpr int kQuietMs = 300;
  if (send(fd, request.data(), request.size(), 0) < 0) Fail("send");
  std::size_t bytes = 0;
  std::array<char, 4096> buffer;
  pollfd readable{fd, POLLIN, 0};
  while (poll(&readable, 1, kQuietMs) > 0) {
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) Fail("the server closed the connection");
    if (bytes == 0 && got > 4 && buffer[4] == '\xff') Fail("the server refused the statement");
    bytes += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

BareMysql ConnectBareMysql(const BareMysqlOptions& options) {
  BareMysql result;
  for (int i = 0; i < options.connections; ++i) {
    MYSQL* const mysql = mysql_init(nullptr);
    const unsigned int protocol = MYSQL_PROTOCOL_TCP;
    mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
    if (mysql_real_connect(mysql, options.host.c_str(), options.user.c_str(),
                           options.password.c_str(), options.database.c_str(), options.port,
                           nullptr, 0) == nullptr) {
      Fail(mysql_error(mysql));
    }
    if (options.prepared) {
      MYSQL_STMT* const statement = mysql_stmt_init(mysql);
      if (mysql_stmt_prepare(statement, options.statement.data(), options.statement.size()) != 0) {
        Fail(mysql_stmt_error(statement));
      }
      result.requests.push_back(ExecutePacket(statement->stmt_id, options.key));
    } else {
      result.requests.push_back(Packet("\x03" + options.statement));
    }
    result.fds.push_back(static_cast<int>(mysql_get_socket(mysql)));
  }
  result.answer_bytes = MeasureAnswer(result.fds.front(), result.requests.front());
  return result;
}

}  // namespace cavalry::bench
