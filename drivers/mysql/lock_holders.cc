#include "drivers/mysql/lock_holders.h"

#include <vector>

namespace cavalry::drivers::mysql {
namespace {

// Connections named at most; the rest is counted.
constexpr std::size_t kMaxNamed = 5;

// A server without the metadata_lock_info plugin or performance_schema does not tell who holds a
// metadata lock. Candidates are: transactions that are open, sessions in the same database, and
// HandlerSocket's threads as long as they have connections. Open transactions come first.
constexpr std::string_view kSelect =
    "SELECT p.ID, p.USER, p.HOST, p.COMMAND, p.TIME, COALESCE(p.STATE,''), ";
constexpr std::string_view kWithTransactions =
    "t.trx_id IS NOT NULL FROM information_schema.PROCESSLIST p "
    "LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id=p.ID";
constexpr std::string_view kWithoutTransactions = "0 FROM information_schema.PROCESSLIST p";
constexpr std::string_view kWhere =
    " WHERE p.ID<>CONNECTION_ID() AND (p.DB=DATABASE() OR {} p.STATE LIKE 'handlersocket%') "
    "ORDER BY 7 DESC, p.TIME DESC";

// "handlersocket: mode=rd, 12 conns, 0 active".
bool IsHandlerSocket(std::string_view state) { return state.starts_with("handlersocket"); }
bool HasConnections(std::string_view state) {
  return state.find(", 0 conns") == std::string_view::npos;
}

}  // namespace

std::string DescribeLockHolders(AdminConnection* connection) {
  std::vector<std::string> named;
  std::size_t more = 0;
  bool handlersocket = false;
  const auto row = [&](std::span<const Field> fields) {
    const std::string_view state = fields[5].text;
    if (IsHandlerSocket(state)) {
      handlersocket |= HasConnections(state);
      return;
    }
    if (named.size() == kMaxNamed) {
      ++more;
      return;
    }
    named.push_back(fmt::format("connection {} ({}@{}, {}{}{}, {} s{})", fields[0].text,
                                fields[1].text, fields[2].text, fields[3].text,
                                state.empty() ? "" : " ", state, fields[4].text,
                                fields[6].text == "1" ? ", in a transaction" : ""));
  };
  const std::string with =
      fmt::format("{}{}{}", kSelect, kWithTransactions,
                  fmt::format(fmt::runtime(kWhere), "t.trx_id IS NOT NULL OR"));
  const bool sees_all = connection->Query(with, row).ok();
  if (!sees_all) {
    // INNODB_TRX needs the PROCESS privilege, without which neither other users' connections nor
    // HandlerSocket's threads are to be seen.
    named.clear();
    const std::string without =
        fmt::format("{}{}{}", kSelect, kWithoutTransactions, fmt::format(fmt::runtime(kWhere), ""));
    const Status status = connection->Query(without, row);
    if (!status.ok()) return fmt::format("unknown ({})", StatusText(status));
    handlersocket = connection->QueryText("SELECT @@handlersocket_port").ok();
  }
  if (more > 0) named.push_back(fmt::format("{} more", more));
  if (handlersocket) {
    named.emplace_back(
        "a client of HandlerSocket, which keeps tables open as long as it has connections");
  }
  if (!sees_all) {
    named.emplace_back("one that this user may not see (it lacks the PROCESS privilege)");
  }
  if (named.empty()) return "a connection that is gone by now";
  return fmt::format("{}", fmt::join(named, ", or "));
}

}  // namespace cavalry::drivers::mysql
