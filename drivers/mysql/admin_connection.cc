#include "drivers/mysql/admin_connection.h"

#include <charconv>

#include "core/base/check.h"
#include "drivers/mysql/mysql_error.h"
#include "drivers/mysql/native_statement.h"

namespace cavalry::drivers::mysql {
namespace {

constexpr Nanos kConnectTimeout = 10 * kSecond;
// How much of a statement an error quotes.
constexpr std::size_t kMaxQuotedBytes = 120;

// Strict, so that no value is cut or changed silently; no engine in place of the one asked for; DDL
// gives up after a few seconds when somebody holds the table.
constexpr std::string_view kSetUp =
    "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit=1, "
    "lock_wait_timeout=5, innodb_lock_wait_timeout=5";

}  // namespace

AdminConnection::~AdminConnection() { Close(); }

void AdminConnection::Close() {
  if (handle_ != nullptr) mysql_close(handle_);
  handle_ = nullptr;
}

Status AdminConnection::Connect() {
  Close();
  CAVALRY_RETURN_IF_ERROR(Resolve(&address_));
  std::string text;
  for (std::size_t i = 0; i < address_.candidates.size(); ++i) {
    handle_ = NewHandle(address_, CallMode::kBlocking, kConnectTimeout);
    CAVALRY_CHECK(handle_ != nullptr);
    const ConnectArguments to = ArgumentsFor(address_, i);
    if (mysql_real_connect(handle_, to.host, address_.user.c_str(), address_.password.c_str(),
                           address_.database.c_str(), to.port, to.socket, kClientFlags)) {
      return Execute(kSetUp);
    }
    last_error_ = mysql_errno(handle_);
    text = ConnectErrorText(last_error_, mysql_error(handle_), address_);
    Close();
    if (ClassifyError(last_error_, ErrorPhase::kConnect).outcome != Outcome::kNotSent) break;
  }
  return Unavailable("{} (error {})", text, last_error_);
}

Status AdminConnection::Fail(std::string_view sql) {
  last_error_ = mysql_errno(handle_);
  const std::string text =
      fmt::format("{}: {} (error {}) in: {}{}", address_.label, mysql_error(handle_), last_error_,
                  sql.substr(0, kMaxQuotedBytes), sql.size() > kMaxQuotedBytes ? " …" : "");
  const ErrorClass kind = ClassifyError(last_error_, ErrorPhase::kOperation);
  return MakeStatus(kind.severity == Severity::kReconnect ? absl::StatusCode::kUnavailable
                                                          : absl::StatusCode::kFailedPrecondition,
                    text);
}

Status AdminConnection::Query(std::string_view sql, const RowCallback& visit) {
  last_error_ = 0;
  if (handle_ == nullptr) return FailedPrecondition("{}: not connected", address_.label);
  if (mysql_real_query(handle_, sql.data(), sql.size()) != 0) return Fail(sql);
  const ResultPtr result(mysql_store_result(handle_));
  if (result == nullptr) {
    return mysql_errno(handle_) == 0 ? absl::OkStatus() : Fail(sql);
  }
  std::vector<Field> fields(mysql_num_fields(result.get()));
  while (MYSQL_ROW row = mysql_fetch_row(result.get())) {
    const unsigned long* lengths = mysql_fetch_lengths(result.get());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i].is_null = row[i] == nullptr;
      fields[i].text =
          row[i] == nullptr ? std::string_view() : std::string_view(row[i], lengths[i]);
    }
    if (visit) visit(fields);
  }
  return absl::OkStatus();
}

Status AdminConnection::Execute(std::string_view sql) { return Query(sql, nullptr); }

StatusOr<std::uint64_t> AdminConnection::Run(std::string_view sql) {
  last_error_ = 0;
  if (handle_ == nullptr) return FailedPrecondition("{}: not connected", address_.label);
  if (ParseNative(sql).several &&
      mysql_set_server_option(handle_, MYSQL_OPTION_MULTI_STATEMENTS_ON) != 0) {
    return Fail(sql);
  }
  std::uint64_t rows = 0;
  int more = mysql_real_query(handle_, sql.data(), sql.size());
  while (more == 0) {
    // Taken row by row: a statement that reads a whole table must not be held in memory.
    const ResultPtr result(mysql_use_result(handle_));
    if (result != nullptr) {
      while (mysql_fetch_row(result.get()) != nullptr) ++rows;
    }
    if (mysql_errno(handle_) != 0) break;
    more = mysql_next_result(handle_);  // -1: that was the last
  }
  if (mysql_errno(handle_) != 0) return Fail(sql);
  return rows;
}

StatusOr<std::optional<std::string>> AdminConnection::QueryText(std::string_view sql) {
  std::optional<std::string> text;
  bool first = true;
  CAVALRY_RETURN_IF_ERROR(Query(sql, [&](std::span<const Field> fields) {
    if (first && !fields.empty() && !fields[0].is_null) text.emplace(fields[0].text);
    first = false;
  }));
  return text;
}

StatusOr<std::uint64_t> AdminConnection::QueryNumber(std::string_view sql) {
  CAVALRY_ASSIGN_OR_RETURN(const std::optional<std::string> text, QueryText(sql));
  std::uint64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

}  // namespace cavalry::drivers::mysql
