#include "drivers/mysql/server_facts.h"

#include <charconv>

#include "core/base/units.h"

namespace cavalry::drivers::mysql {
namespace {

// Connections of the run that are no sessions: schema work, one per agent.
constexpr std::uint64_t kSpareConnections = 2;

// Log files, listening sockets and the like, beside one descriptor per connection.
constexpr std::uint64_t kSpareFiles = 50;

constexpr std::string_view kVariables =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version','version_comment',"
    "'innodb_buffer_pool_size','innodb_flush_log_at_trx_commit','innodb_flush_method','sync_binlog'"
    ","
    "'log_bin','max_connections','table_open_cache','performance_schema','thread_handling',"
    "'query_cache_type','max_allowed_packet') OR Variable_name LIKE 'handlersocket%'";

// Limits by name, and what is used of them already.
constexpr std::string_view kLimits =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections','max_user_connections',"
    "'max_prepared_stmt_count','open_files_limit','table_open_cache','max_allowed_packet')";
constexpr std::string_view kCounters =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Bytes_received','Bytes_sent','Com_commit',"
    "'Com_rollback','Connections','Handler_read_key','Handler_read_next','Handler_write',"
    "'Innodb_buffer_pool_read_requests','Innodb_buffer_pool_reads','Innodb_data_fsyncs',"
    "'Innodb_data_reads','Innodb_data_writes','Innodb_os_log_written','Innodb_row_lock_time',"
    "'Innodb_row_lock_waits','Innodb_rows_deleted','Innodb_rows_inserted','Innodb_rows_read',"
    "'Innodb_rows_updated','Questions','Rows_read','Rows_sent','Table_locks_waited')";
constexpr std::string_view kUsed =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected','Prepared_stmt_count')";

using Numbers = std::vector<std::pair<std::string, std::uint64_t>>;

Status ReadNumbers(AdminConnection* connection, std::string_view sql, Numbers* numbers) {
  return connection->Query(sql, [&](std::span<const Field> fields) {
    std::uint64_t number = 0;
    std::from_chars(fields[1].text.data(), fields[1].text.data() + fields[1].text.size(), number);
    numbers->emplace_back(fields[0].text, number);
  });
}

std::uint64_t NumberOf(const Numbers& numbers, std::string_view name) {
  for (const auto& [key, number] : numbers) {
    if (key == name) return number;
  }
  return 0;
}

}  // namespace

StatusOr<std::vector<std::pair<std::string, std::string>>> ReadServerVariables(
    AdminConnection* connection) {
  std::vector<std::pair<std::string, std::string>> variables;
  CAVALRY_RETURN_IF_ERROR(connection->Query(kVariables, [&](std::span<const Field> fields) {
    if (fields[0].text.find("secret") != std::string_view::npos) return;
    variables.emplace_back(fields[0].text, fields[1].text);
  }));
  return variables;
}

StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> ReadCounters(
    AdminConnection* connection) {
  Numbers counters;
  CAVALRY_RETURN_IF_ERROR(ReadNumbers(connection, kCounters, &counters));
  return counters;
}

StatusOr<std::vector<std::string>> ReadLimits(AdminConnection* connection, const Demand& demand) {
  const auto [sessions, statements, request_bytes] = demand;
  Numbers numbers;
  CAVALRY_RETURN_IF_ERROR(ReadNumbers(connection, kLimits, &numbers));
  CAVALRY_RETURN_IF_ERROR(ReadNumbers(connection, kUsed, &numbers));
  std::vector<std::string> sentences;

  // The connection that asks is one of those connected and goes away before the load.
  const std::uint64_t connected = NumberOf(numbers, "Threads_connected");
  const std::uint64_t others = connected > 0 ? connected - 1 : 0;
  const std::uint64_t needed = sessions + others + kSpareConnections;
  const std::uint64_t connections = NumberOf(numbers, "max_connections");
  if (connections != 0 && needed > connections) {
    sentences.push_back(fmt::format(
        "{} sessions need {} connections ({} are in use by others), but max_connections is {}: "
        "raise it on the server, or use fewer sessions",
        FormatCount(sessions), FormatCount(needed), FormatCount(others), FormatCount(connections)));
  }
  const std::uint64_t of_user = NumberOf(numbers, "max_user_connections");
  if (of_user != 0 && sessions + kSpareConnections > of_user) {
    sentences.push_back(fmt::format(
        "{} sessions need as many connections of one user, but max_user_connections is {}: raise "
        "it on the server, or use fewer sessions",
        FormatCount(sessions), FormatCount(of_user)));
  }
  const std::uint64_t prepared = NumberOf(numbers, "max_prepared_stmt_count");
  const std::uint64_t in_use = NumberOf(numbers, "Prepared_stmt_count");
  if (statements != 0 && sessions * statements + in_use > prepared) {
    sentences.push_back(fmt::format(
        "{} sessions x {} statements need {} prepared statements ({} are in use by others), but "
        "max_prepared_stmt_count is {}: raise it on the server, or write statements: text",
        FormatCount(sessions), statements, FormatCount(sessions * statements + in_use),
        FormatCount(in_use), FormatCount(prepared)));
  }
  // Each session uses a table at least. Too few places end no run, but tables are opened and closed
  // all the time then, which is what would be measured.
  const std::uint64_t tables = NumberOf(numbers, "table_open_cache");
  if (tables != 0 && sessions > tables) {
    sentences.push_back(fmt::format(
        "{} sessions use as many open tables, but table_open_cache is {}: raise it on the server, "
        "or tables are opened anew all the time",
        FormatCount(sessions), FormatCount(tables)));
  }
  const std::uint64_t packet = NumberOf(numbers, "max_allowed_packet");
  if (packet != 0 && request_bytes > packet) {
    sentences.push_back(
        fmt::format("the largest request has {} bytes, but max_allowed_packet is {}: raise it on "
                    "the server, or "
                    "use a smaller batch or shorter values",
                    FormatCount(request_bytes), FormatCount(packet)));
  }
  const std::uint64_t files = NumberOf(numbers, "open_files_limit");
  if (files != 0 && needed + kSpareFiles > files) {
    sentences.push_back(fmt::format(
        "{} sessions need more than {} open files of the server, but open_files_limit is {}: raise "
        "it on the server, or use fewer sessions",
        FormatCount(sessions), FormatCount(needed), FormatCount(files)));
  }
  return sentences;
}

}  // namespace cavalry::drivers::mysql
