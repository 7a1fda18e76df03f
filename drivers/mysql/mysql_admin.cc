#include "drivers/mysql/mysql_admin.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/check.h"
#include "drivers/core/table_mark.h"
#include "drivers/mysql/admin_connection.h"
#include "drivers/mysql/create_statement.h"
#include "drivers/mysql/lock_holders.h"
#include "drivers/mysql/server_facts.h"
#include "drivers/mysql/statement.h"
#include "drivers/mysql/table_check.h"

namespace cavalry::drivers::mysql {
namespace {

constexpr std::size_t kKeysPerRead = 500;
// Larger statements fill no faster and make the server's parser take more memory.
constexpr std::uint64_t kMaxBatchBytes = 1024 * 1024;

// AdminConnection sets sql_mode so that backslashes escape.
std::string Literal(std::string_view text) {
  std::string literal;
  AppendText(text, Escaping::kBackslash, &literal);
  return literal;
}

class MysqlAdmin final : public Admin {
 public:
  explicit MysqlAdmin(AdminConfig config)
      : connection_(std::move(config.address)), prepared_(config.prepared) {}

  Status Connect() override;
  StatusOr<std::vector<std::pair<std::string, std::string>>> ServerVariables() override {
    return ReadServerVariables(&connection_);
  }
  StatusOr<std::vector<std::string>> Limits(std::uint64_t sessions, std::uint64_t operations,
                                            std::uint64_t request_bytes) override {
    return ReadLimits(&connection_, {sessions, prepared_ ? operations : 0, request_bytes});
  }
  StatusOr<TableInfo> Describe(const TableSchema& table, bool count) override;
  Status Create(const TableSchema& table) override;
  Status Mark(const TableSchema& table, TableMark mark) override;
  Status Truncate(const TableSchema& table) override;
  Status Drop(const TableSchema& table, bool allow_unmarked) override;
  Status InsertRows(const TableSchema& table, std::span<const Value> values) override;
  Status ReadRows(const TableSchema& table, std::span<const std::uint64_t> keys,
                  std::span<const std::uint32_t> columns,
                  const std::function<void(std::uint64_t, std::span<const Field>)>& visit) override;
  Status CheckColumns(const TableSchema& table) override;
  StatusOr<bool> ReadRow(const TableSchema& table, std::span<const Value> key,
                         std::span<const std::uint32_t> columns,
                         const std::function<void(std::span<const Field>)>& visit) override;
  StatusOr<std::uint64_t> RunNative(std::string_view statement) override {
    return connection_.Run(statement);
  }
  StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> Counters() override {
    return ReadCounters(&connection_);
  }
  StatusOr<std::string> LookUpSecret(std::string_view driver, std::string_view setting) override;

 private:
  struct Seen {
    std::optional<MarkText> mark;
    std::uint64_t estimated_rows = 0;
  };

  // " WHERE …" that finds exactly this table in information_schema.TABLES or COLUMNS.
  std::string WhereTable(const TableSchema& table) const;
  // What information_schema says of the table; nothing when there is no such table.
  StatusOr<std::optional<Seen>> Look(const TableSchema& table);
  // Ok when the table has a mark right now; `what` is what would be done to it.
  Status RequireMark(const TableSchema& table, std::string_view what);
  // Runs DDL. When it had to wait for a lock too long, the error says who holds it.
  Status RunDdl(const TableSchema& table, std::string_view sql);

  AdminConnection connection_;
  const bool prepared_;
  std::uint64_t batch_bytes_ = kMaxBatchBytes;
  std::string fillable_table_;  // its mark was seen by InsertRows on this connection
  std::string sql_;
};

Status MysqlAdmin::Connect() {
  fillable_table_.clear();
  CAVALRY_RETURN_IF_ERROR(connection_.Connect());
  CAVALRY_ASSIGN_OR_RETURN(const std::uint64_t max_packet,
                           connection_.QueryNumber("SELECT @@max_allowed_packet"));
  // A quarter leaves room for the value that crosses the bound.
  if (max_packet > 0) batch_bytes_ = std::min(kMaxBatchBytes, max_packet / 4);
  return absl::OkStatus();
}

std::string MysqlAdmin::WhereTable(const TableSchema& table) const {
  // information_schema compares names without case; most servers' table names have case.
  return fmt::format(
      " WHERE TABLE_SCHEMA={0} AND TABLE_NAME={1} AND (@@lower_case_table_names<>0 OR BINARY "
      "TABLE_NAME={1})",
      Literal(connection_.address().database), Literal(table.name));
}

StatusOr<std::optional<MysqlAdmin::Seen>> MysqlAdmin::Look(const TableSchema& table) {
  std::optional<Seen> seen;
  CAVALRY_RETURN_IF_ERROR(connection_.Query(
      "SELECT TABLE_COMMENT, TABLE_ROWS FROM information_schema.TABLES" + WhereTable(table),
      [&](std::span<const Field> fields) {
        seen.emplace();
        seen->mark = ParseMark(fields[0].text);
        const std::string_view rows = fields[1].text;
        std::from_chars(rows.data(), rows.data() + rows.size(), seen->estimated_rows);
      }));
  return seen;
}

Status MysqlAdmin::RequireMark(const TableSchema& table, std::string_view what) {
  CAVALRY_ASSIGN_OR_RETURN(const std::optional<Seen> seen, Look(table));
  if (!seen) {
    return FailedPrecondition("{}: table \"{}\" does not exist in database \"{}\"",
                              connection_.address().label, table.name,
                              connection_.address().database);
  }
  if (seen->mark) return absl::OkStatus();
  return FailedPrecondition(
      "{}: table \"{}\" in database \"{}\" was not created by cavalry (its comment has no mark): "
      "it is not {}. Use another table name or database, or existing: use to read and write it as "
      "it is",
      connection_.address().label, table.name, connection_.address().database, what);
}

Status MysqlAdmin::RunDdl(const TableSchema& table, std::string_view sql) {
  const Status status = connection_.Execute(sql);
  if (status.ok() || connection_.last_error() != ER_LOCK_WAIT_TIMEOUT) return status;
  const std::string holders = DescribeLockHolders(&connection_);
  return FailedPrecondition("{}; table \"{}\" may be held by {}", StatusText(status), table.name,
                            holders);
}

StatusOr<TableInfo> MysqlAdmin::Describe(const TableSchema& table, bool count) {
  TableInfo info;
  CAVALRY_ASSIGN_OR_RETURN(const std::optional<Seen> seen, Look(table));
  if (!seen) return info;
  const std::optional<MarkText>& mark = seen->mark;
  info.exists = true;
  info.marked = mark.has_value();
  info.same_schema = mark && mark->schema_hash == table.schema_hash;
  // Counting reads the whole table: not one that is neither ours nor to be used.
  info.rows = seen->estimated_rows;
  if (!count || (!info.marked && !table.use_as_is)) return info;
  CAVALRY_ASSIGN_OR_RETURN(
      info.rows, connection_.QueryNumber("SELECT COUNT(*) FROM " + QuotedName(table.name)));
  // A table of another schema need not have the key.
  if (table.key_is_number && (info.same_schema || table.use_as_is)) {
    CAVALRY_ASSIGN_OR_RETURN(
        info.max_key, connection_.QueryNumber(fmt::format("SELECT MAX({}) FROM {}",
                                                          QuotedName(table.key_column().name),
                                                          QuotedName(table.name))));
  }
  info.filled = info.same_schema && mark->state == TableMark::kFilled && mark->rows == info.rows &&
                table.rows == info.rows;
  return info;
}

Status MysqlAdmin::Create(const TableSchema& table) {
  const std::string mark = FormatMark({table.schema_hash, table.rows, TableMark::kEmpty});
  return RunDdl(table, CreateStatement(table, mark));
}

Status MysqlAdmin::Mark(const TableSchema& table, TableMark mark) {
  CAVALRY_RETURN_IF_ERROR(RequireMark(table, "marked"));
  return RunDdl(table, fmt::format("ALTER TABLE {} COMMENT={}", QuotedName(table.name),
                                   Literal(FormatMark({table.schema_hash, table.rows, mark}))));
}

Status MysqlAdmin::Truncate(const TableSchema& table) {
  // Marked empty first: a run that ends in between must not leave a filled mark on half a table.
  CAVALRY_RETURN_IF_ERROR(RequireMark(table, "emptied"));
  CAVALRY_RETURN_IF_ERROR(Mark(table, TableMark::kEmpty));
  return RunDdl(table, "TRUNCATE TABLE " + QuotedName(table.name));
}

Status MysqlAdmin::Drop(const TableSchema& table, bool allow_unmarked) {
  if (!allow_unmarked) CAVALRY_RETURN_IF_ERROR(RequireMark(table, "dropped"));
  return RunDdl(table, "DROP TABLE " + QuotedName(table.name));
}

Status MysqlAdmin::InsertRows(const TableSchema& table, std::span<const Value> values) {
  const std::size_t width = table.columns.size();
  CAVALRY_CHECK(values.size() % width == 0);
  if (fillable_table_ != table.name) {
    CAVALRY_RETURN_IF_ERROR(RequireMark(table, "filled"));
    fillable_table_ = table.name;
  }
  std::string head = fmt::format("INSERT INTO {} (", QuotedName(table.name));
  for (const Column& column : table.columns) {
    AppendName(column.name, &head);
    head.push_back(',');
  }
  head.back() = ')';
  head += " VALUES ";
  sql_ = head;
  for (std::size_t row = 0; row < values.size(); row += width) {
    for (std::size_t i = 0; i < width; ++i) {
      sql_.push_back(i == 0 ? '(' : ',');
      const std::string& server_sql = table.columns[i].server_sql;
      if (server_sql.empty()) {
        AppendValue(values[row + i], Escaping::kBackslash, &sql_);
      } else {
        sql_.append(server_sql);
      }
    }
    sql_.push_back(')');
    if (sql_.size() >= batch_bytes_ || row + width == values.size()) {
      CAVALRY_RETURN_IF_ERROR(connection_.Execute(sql_));
      sql_ = head;
    } else {
      sql_.push_back(',');
    }
  }
  return absl::OkStatus();
}

Status MysqlAdmin::ReadRows(
    const TableSchema& table, std::span<const std::uint64_t> keys,
    std::span<const std::uint32_t> columns,
    const std::function<void(std::uint64_t, std::span<const Field>)>& visit) {
  const std::string key = QuotedName(table.key_column().name);
  std::string head = "SELECT " + key;
  for (const std::uint32_t column : columns) {
    head.push_back(',');
    AppendName(table.columns[column].name, &head);
  }
  head += fmt::format(" FROM {} WHERE {} IN (", QuotedName(table.name), key);
  Status malformed;
  const auto row = [&](std::span<const Field> fields) {
    std::uint64_t number = 0;
    const std::string_view text = fields[0].text;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && stop == text.data() + text.size()) {
      visit(number, fields.subspan(1));
    } else {
      malformed = DataLoss("{}: table \"{}\" answered the key \"{}\", which is no number",
                           connection_.address().label, table.name, text);
    }
  };
  for (std::size_t first = 0; first < keys.size(); first += kKeysPerRead) {
    sql_ = head;
    for (const std::uint64_t number :
         keys.subspan(first, std::min(kKeysPerRead, keys.size() - first))) {
      AppendValue(Value::Unsigned(number), Escaping::kBackslash, &sql_);
      sql_.push_back(',');
    }
    sql_.back() = ')';
    CAVALRY_RETURN_IF_ERROR(connection_.Query(sql_, row));
    CAVALRY_RETURN_IF_ERROR(malformed);
  }
  return absl::OkStatus();
}

StatusOr<bool> MysqlAdmin::ReadRow(const TableSchema& table, std::span<const Value> key,
                                   std::span<const std::uint32_t> columns,
                                   const std::function<void(std::span<const Field>)>& visit) {
  OperationPlan plan;
  plan.table = &table;
  plan.columns.assign(columns.begin(), columns.end());
  // A row without columns is a row all the same.
  if (plan.columns.empty()) plan.columns = {table.key_columns.front()};
  Operation operation;
  operation.plan = &plan;
  operation.key = Key(key);
  StatementTemplate(plan).Write(operation, Escaping::kBackslash, &sql_);
  bool found = false;
  CAVALRY_RETURN_IF_ERROR(connection_.Query(sql_, [&](std::span<const Field> fields) {
    found = true;
    visit(fields.first(columns.size()));
  }));
  return found;
}

Status MysqlAdmin::CheckColumns(const TableSchema& table) {
  std::vector<ActualColumn> actual;
  CAVALRY_RETURN_IF_ERROR(connection_.Query(
      "SELECT COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, COLUMN_KEY FROM "
      "information_schema.COLUMNS" +
          WhereTable(table) + " ORDER BY ORDINAL_POSITION",
      [&](std::span<const Field> fields) {
        actual.push_back({std::string(fields[0].text), std::string(fields[1].text),
                          std::string(fields[2].text), fields[3].text == "PRI"});
      }));
  return Annotate(CheckActualColumns(table, actual), connection_.address().label);
}

StatusOr<std::string> MysqlAdmin::LookUpSecret(std::string_view driver, std::string_view setting) {
  const bool write = setting == "write_secret";
  if (driver != "handlersocket" || !(write || setting == "secret")) {
    return InvalidArgument("a mysql target knows no {} of {}", setting, driver);
  }
  const std::string_view variable =
      write ? "handlersocket_plain_secret_wr" : "handlersocket_plain_secret";
  StatusOr<std::optional<std::string>> secret =
      connection_.QueryText(fmt::format("SELECT @@{}", variable));
  if (secret.ok()) return std::move(*secret).value_or("");
  if (connection_.last_error() == ER_UNKNOWN_SYSTEM_VARIABLE) {
    return FailedPrecondition(
        "{}: the server has no variable {}: load its HandlerSocket plugin (plugin-load-add="
        "handlersocket=handlersocket.so, plugin_maturity=unknown)",
        connection_.address().label, variable);
  }
  return secret.status();
}

}  // namespace

std::unique_ptr<Admin> NewMysqlAdmin(AdminConfig config) {
  return std::make_unique<MysqlAdmin>(std::move(config));
}

}  // namespace cavalry::drivers::mysql
