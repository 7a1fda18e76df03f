#include "drivers/mysql/mariadb_client.h"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace cavalry::drivers::mysql {

namespace {

// Of the coroutine in which a non-blocking call runs: the library's own 60 KiB are too few for what
// TLS and authentication plugins do in it. Pages that are not used cost no memory.
constexpr std::size_t kLargeStackBytes = 256 * 1024;

bool NeedsLargeStack(const ServerAddress& address) {
  return address.tls.enabled || !address.plugin_dir.empty() ||
         std::getenv("MARIADB_PLUGIN_DIR") != nullptr;
}

void SetTls(const TlsOptions& tls, MYSQL* handle) {
  if (!tls.enabled) return;
  const my_bool on = 1;
  mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &on);
  const my_bool verify = tls.verify;
  mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
  if (!tls.ca.empty()) mysql_options(handle, MYSQL_OPT_SSL_CA, tls.ca.c_str());
  if (!tls.cert.empty()) mysql_options(handle, MYSQL_OPT_SSL_CERT, tls.cert.c_str());
  if (!tls.key.empty()) mysql_options(handle, MYSQL_OPT_SSL_KEY, tls.key.c_str());
}

}  // namespace

void InitializeLibrary() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
}

MYSQL* NewHandle(const ServerAddress& address, CallMode mode, Nanos connect_timeout) {
  MYSQL* handle = mysql_init(nullptr);
  if (handle == nullptr) return nullptr;
  if (mode == CallMode::kNonBlocking) {
    const std::size_t stack = kLargeStackBytes;
    mysql_options(handle, MYSQL_OPT_NONBLOCK, NeedsLargeStack(address) ? &stack : nullptr);
  }
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
  SetTls(address.tls, handle);
  if (address.compress) mysql_options(handle, MYSQL_OPT_COMPRESS, nullptr);
  if (!address.plugin_dir.empty()) {
    mysql_options(handle, MYSQL_PLUGIN_DIR, address.plugin_dir.c_str());
  }
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
  methods_.read_text = std::exchange(methods_.table.db_read_query_result, &ReadAnswer);
  methods_.statement = nullptr;
  handle->methods = &methods_.table;
}

void AnswerReader::SkipReading(bool skip) {
  if (handle_ == nullptr) return;
  const my_bool flag = skip;
  mysql_options(handle_, MARIADB_OPT_SKIP_READ_RESPONSE, &flag);
}

int AnswerReader::Start(my_bool* failed, MYSQL_STMT* statement, bool store) {
  methods_.statement = statement;
  methods_.store = store;
  return mysql_read_query_result_start(failed, handle_);
}

int AnswerReader::ReadAnswer(MYSQL* handle) {
  auto* methods = const_cast<Methods*>(reinterpret_cast<const Methods*>(handle->methods));
  MYSQL_STMT* statement = std::exchange(methods->statement, nullptr);
  if (statement == nullptr) return methods->read_text(handle);
  if (methods->table.db_read_execute_response(statement) != 0) return 1;
  const bool has_rows = mysql_stmt_field_count(statement) != 0;
  return has_rows && methods->store ? mysql_stmt_store_result(statement) : 0;
}

}  // namespace cavalry::drivers::mysql
