#include "drivers/mysql/mariadb_client.h"

#include <mutex>

namespace cavalry::drivers::mysql {

void InitializeLibrary() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
}

MYSQL* NewHandle(const ServerAddress& address, CallMode mode, Nanos connect_timeout) {
  MYSQL* handle = mysql_init(nullptr);
  if (handle == nullptr) return nullptr;
  if (mode == CallMode::kNonBlocking) mysql_options(handle, MYSQL_OPT_NONBLOCK, nullptr);
  const unsigned int protocol =
      address.transport == Transport::kTcp ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  mysql_options(handle, MYSQL_OPT_PROTOCOL, &protocol);
  // The library knows whole seconds; the caller's own deadline is the fine one.
  const auto seconds = static_cast<unsigned int>((connect_timeout + kSecond - 1) / kSecond);
  mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
  mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  // A server may ask for any file of the client's host otherwise.
  const unsigned int off = 0;
  mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &off);
  const my_bool reconnect = 0;
  mysql_options(handle, MYSQL_OPT_RECONNECT, &reconnect);
  mysql_options4(handle, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "cavalry-agent");
  return handle;
}

ConnectArguments ArgumentsFor(const ServerAddress& address, std::size_t candidate) {
  if (address.transport == Transport::kUnix) return {nullptr, 0, address.socket.c_str()};
  return {address.candidates[candidate].c_str(), address.port, nullptr};
}

void AnswerReader::Install(MYSQL* handle) {
  static_assert(std::is_standard_layout_v<Methods>);
  handle_ = handle;
  methods_.table = *handle->methods;
  methods_.table.db_read_query_result = &AnswerReader::ReadAnswer;
  handle->methods = &methods_.table;
}

void AnswerReader::SkipReading(bool skip) {
  const my_bool flag = skip;
  mysql_options(handle_, MARIADB_OPT_SKIP_READ_RESPONSE, &flag);
}

int AnswerReader::Start(my_bool* failed, MYSQL_STMT* statement) {
  methods_.statement = statement;
  return mysql_read_query_result_start(failed, handle_);
}

int AnswerReader::ReadAnswer(MYSQL* handle) {
  const auto* methods = reinterpret_cast<const Methods*>(handle->methods);
  MYSQL_STMT* statement = methods->statement;
  if (methods->table.db_read_execute_response(statement) != 0) return 1;
  return mysql_stmt_field_count(statement) == 0 ? 0 : mysql_stmt_store_result(statement);
}

}  // namespace cavalry::drivers::mysql
