#include "drivers/mysql/mysql_error.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "drivers/mysql/mariadb_client.h"

namespace cavalry::drivers::mysql {
namespace {

constexpr ErrorClass kRejectedNormal = {Outcome::kRejected, Severity::kNormal, false};
constexpr ErrorClass kRejectedRetryable = {Outcome::kRejected, Severity::kNormal, false, true};
constexpr ErrorClass kRejectedReconnect = {Outcome::kRejected, Severity::kReconnect, false};
constexpr ErrorClass kRejectedFatal = {Outcome::kRejected, Severity::kFatal, false};
// The server ended the statement by force: it may have been past its commit.
constexpr ErrorClass kInterrupted = {Outcome::kRejected, Severity::kNormal, true};
constexpr ErrorClass kKilled = {Outcome::kRejected, Severity::kReconnect, true};
constexpr ErrorClass kNotSentReconnect = {Outcome::kNotSent, Severity::kReconnect, false};
constexpr ErrorClass kBrokenReconnect = {Outcome::kBroken, Severity::kReconnect, true};

bool IsClientError(unsigned int error) {
  return (error >= CR_MIN_ERROR && error <= CR_MAX_ERROR) ||
         (error >= CR_EVENT_CREATE_FAILED && error <= CR_MARIADB_LAST_ERROR);
}

ErrorClass ClassifyClientError(unsigned int error) {
  switch (error) {
    case CR_SOCKET_CREATE_ERROR:
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
    case CR_IPSOCK_ERROR:
    case CR_UNKNOWN_HOST:
      return kNotSentReconnect;
    // The statement was larger than the library sends at all.
    case CR_NET_PACKET_TOO_LARGE:
      return kNotSentReconnect;
    case CR_SSL_CONNECTION_ERROR:
      return kRejectedReconnect;
    // Neither a retry nor a wait makes the two sides understand each other.
    case CR_VERSION_ERROR:
    case CR_CANT_READ_CHARSET:
    case CR_SECURE_AUTH:
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
    case CR_AUTH_PLUGIN_ERR:
      return kRejectedFatal;
    default:
      return kBrokenReconnect;
  }
}

// The library ends its connect errors with the system's errno: "Can't connect to server on 'x'
// (111)". 0 when there is none.
int SystemError(unsigned int error, std::string_view text) {
  if (error != CR_CONNECTION_ERROR && error != CR_CONN_HOST_ERROR && error != CR_SERVER_LOST) {
    return 0;
  }
  const std::size_t open = text.rfind('(');
  int cause = 0;
  if (open == std::string_view::npos) return 0;
  std::from_chars(text.data() + open + 1, text.data() + text.size(), cause);
  return cause;
}

// Where the library looks for plugins, in its own order.
std::string PluginFolder(const ServerAddress& address) {
  if (!address.plugin_dir.empty()) return address.plugin_dir;
  const char* variable = std::getenv("MARIADB_PLUGIN_DIR");
  return variable != nullptr ? std::string(variable) + " (MARIADB_PLUGIN_DIR)"
                             : "that it was built with";
}

// What a person can do about it, or "" when nothing is known.
std::string ConnectHint(unsigned int error, const ServerAddress& address) {
  switch (error) {
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
      return address.transport == Transport::kUnix
                 ? "is the server running, and is this its socket?"
                 : "is the server running, and are host and port right?";
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
      return fmt::format(
          "check user and password of the target, and that user \"{}\" may log in "
          "from this host",
          address.user);
    case ER_DBACCESS_DENIED_ERROR:
      return fmt::format("grant user \"{}\" rights on database \"{}\"", address.user,
                         address.database);
    case ER_BAD_DB_ERROR:
      return fmt::format("create it (CREATE DATABASE `{}`) or change the target's database",
                         address.database);
    case ER_HOST_IS_BLOCKED:
      return "run FLUSH HOSTS on the server";
    case ER_CON_COUNT_ERROR:
      return "raise max_connections on the server, or use fewer sessions";
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
      return "raise max_user_connections or the user's limits, or use fewer sessions";
    case ER_MAX_PREPARED_STMT_COUNT_REACHED:
      return "raise max_prepared_stmt_count on the server, or use fewer sessions";
    case ER_UNSUPPORTED_PS:
      return "the server does not prepare such a statement: write statements: text";
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
    case CR_AUTH_PLUGIN_ERR:
      return fmt::format(
          "user \"{}\" logs in by an authentication plugin that Connector/C looks for in the "
          "folder "
          "{}: install it there, or name its folder as the target's plugin_dir",
          address.user, PluginFolder(address));
    case CR_SSL_CONNECTION_ERROR:
      return address.tls.enabled
                 ? "does the server offer TLS, and do tls.ca, tls.cert and tls.key fit it?"
                 : "the server wants TLS: write tls: {} for the target";
    case ER_NO_SUCH_TABLE:
      return "let cavalry prepare the tables (reset: run), or create the table";
    default:
      return "";
  }
}

}  // namespace

ErrorClass ClassifyError(unsigned int error, ErrorPhase phase) {
  if (IsClientError(error)) return ClassifyClientError(error);
  switch (error) {
    // No place for one more connection: others go on, this one backs off.
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
      return kRejectedReconnect;
    // Access, database, table or column: every further attempt would fail in the same way.
    case ER_HOST_IS_BLOCKED:
    case ER_HOST_NOT_PRIVILEGED:
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_BAD_DB_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_FIELD_ERROR:
    case ER_PARSE_ERROR:
    case ER_WRONG_VALUE_COUNT_ON_ROW:
    case ER_NON_INSERTABLE_TABLE:
    case ER_NON_UPDATABLE_TABLE:
    case ER_OPEN_AS_READONLY:
    case ER_OPTION_PREVENTS_STATEMENT:
    case ER_UNSUPPORTED_PS:
    case ER_UNKNOWN_CHARACTER_SET:
    case ER_NOT_SUPPORTED_AUTH_MODE:
      return kRejectedFatal;
    // Another session was in the way: the transaction (or with 1205 at least the statement) is
    // rolled back.
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_CHECKREAD:
      return phase == ErrorPhase::kOperation ? kRejectedRetryable : kRejectedReconnect;
    case ER_CONNECTION_KILLED:
    case ER_SERVER_SHUTDOWN:
      return kKilled;
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
      return kInterrupted;
    // The server has read or written half a packet and closes the connection.
    case ER_NET_PACKET_TOO_LARGE:
      return kRejectedReconnect;
    case ER_NET_PACKETS_OUT_OF_ORDER:
    case ER_NET_UNCOMPRESS_ERROR:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
      return kKilled;
    default:
      // A connection that was refused for any other reason (too many prepared statements, say) is
      // tried again with back-off.
      return phase == ErrorPhase::kConnect ? kRejectedReconnect : kRejectedNormal;
  }
}

bool IsFullBacklog(unsigned int error, std::string_view text, const ServerAddress& address) {
  static const std::string unconnected = fmt::format("system error: {}", EINVAL);
  return address.transport == Transport::kUnix && error == CR_SERVER_LOST &&
         text.ends_with(unconnected);
}

std::string ConnectErrorText(unsigned int error, std::string_view text,
                             const ServerAddress& address) {
  std::string full = fmt::format("{}: {}", address.label, text);
  const int cause = SystemError(error, text);
  if (cause == EINPROGRESS) {
    // Left from the start of a connect whose own end the library does not tell.
    full.erase(full.rfind('('));
    full += "(refused, or no answer in time)";
  } else if (cause != 0) {
    full += fmt::format(" {}", strerror(cause));
  }
  // The library tells of a plugin that is not there by the number of a refused login.
  const bool no_plugin =
      text.starts_with("Plugin ") && text.find("could not be loaded") != std::string_view::npos;
  const std::string hint = ConnectHint(no_plugin ? CR_AUTH_PLUGIN_CANNOT_LOAD : error, address);
  if (!hint.empty()) full += "; " + hint;
  return full;
}

}  // namespace cavalry::drivers::mysql
