#include "drivers/cassandra/cassandra_admin.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "drivers/cassandra/cluster.h"
#include "drivers/cassandra/consistency.h"
#include "drivers/cassandra/cql_text.h"
#include "drivers/cassandra/names.h"
#include "drivers/cassandra/server_facts.h"
#include "drivers/cassandra/table_check.h"
#include "drivers/cassandra/table_ddl.h"
#include "drivers/cassandra/table_rows.h"
#include "drivers/core/table_mark.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr Nanos kConnectTimeout = 10 * kSecond;
// As long as the server itself works on a TRUNCATE (truncate_request_timeout), and some.
constexpr Nanos kStatementTimeout = 65 * kSecond;
// A node that is down cannot agree: after so long its schema is left to it, and it is hardly waited
// for again.
constexpr Nanos kAgreementTimeout = 10 * kSecond;
constexpr Nanos kLaterAgreementTimeout = kSecond;
constexpr int kAgreementPollMs = 20;
// The ring is counted in so many parts that each has about so many rows: none then takes as long as
// the server's limit.
constexpr std::uint64_t kRowsPerRange = 10'000;
constexpr std::uint64_t kFewestRanges = 16;
constexpr std::uint64_t kMostRanges = 4'096;

// Native protocol, section 8: too few replicas are up for the consistency level.
constexpr std::string_view kUnavailable = " 0x1000 ";

std::uint64_t ToNumber(const Field& field) {
  std::uint64_t number = 0;
  std::from_chars(field.text.data(), field.text.data() + field.text.size(), number);
  return number;
}

// Two tokens a range: the one it begins behind, and its last. No row has the smallest token: it is
// the empty key's, which Cassandra refuses.
std::vector<Value> RangeBounds(std::uint64_t ranges) {
  constexpr auto kFirst = std::numeric_limits<std::int64_t>::min();
  const std::uint64_t step = std::numeric_limits<std::uint64_t>::max() / ranges;
  std::vector<Value> bounds;
  std::int64_t begin = kFirst;
  for (std::uint64_t i = 1; i <= ranges; ++i) {
    const auto end = i == ranges
                         ? std::numeric_limits<std::int64_t>::max()
                         : static_cast<std::int64_t>(static_cast<std::uint64_t>(kFirst) + i * step);
    bounds.push_back(Value::Integer(begin));
    bounds.push_back(Value::Integer(end));
    begin = end;
  }
  return bounds;
}

class CassandraAdmin final : public Admin {
 public:
  CassandraAdmin(TargetOptions options, std::shared_ptr<const TlsContext> tls)
      : options_(std::move(options)), tls_(std::move(tls)) {
    audit_ = AuditLevel(options_.statements.read, options_.statements.write);
  }

  Status Connect() override;
  StatusOr<std::vector<std::pair<std::string, std::string>>> ServerVariables() override {
    CAVALRY_RETURN_IF_ERROR(Reconnect());
    return ReadServerVariables(&*cluster_, keyspace(), options_.replication);
  }
  StatusOr<std::vector<std::string>> Limits(std::uint64_t /*sessions*/,
                                            std::uint64_t /*operations*/,
                                            std::uint64_t request_bytes) override {
    CAVALRY_RETURN_IF_ERROR(Reconnect());
    return ReadLimits(&*cluster_, request_bytes);
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
  StatusOr<bool> ReadRow(const TableSchema& table, std::span<const Value> key,
                         std::span<const std::uint32_t> columns,
                         const std::function<void(std::span<const Field>)>& visit) override;
  StatusOr<std::uint64_t> RunNative(std::string_view statement) override;
  StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> Counters() override {
    CAVALRY_RETURN_IF_ERROR(Reconnect());
    return ReadCounters(&*cluster_);
  }
  Status CheckColumns(const TableSchema& table) override;
  StatusOr<std::string> LookUpSecret(std::string_view driver, std::string_view setting) override {
    return FailedPrecondition("cassandra knows no {} of {}: write it into the spec", setting,
                              driver);
  }

 private:
  struct Seen {
    std::optional<MarkText> mark;
  };

  const std::string& keyspace() const { return options_.statements.keyspace; }
  const std::string& label() const { return cluster_->session->endpoint().label; }
  // Connects again when the session was lost.
  Status Reconnect();
  // Of the node's own tables, which have one replica.
  StatusOr<std::uint64_t> Query(std::string_view cql, const RowFunction& visit = {},
                                std::span<const Value> values = {});
  // Runs DDL and waits until the nodes agree on the schema.
  Status RunDdl(std::string_view cql);
  Status AwaitAgreement();
  // What system_schema says of the table; nothing when there is no such table.
  StatusOr<std::optional<Seen>> Look(const TableSchema& table);
  // Ok when the table has a mark right now; `what` is what would be done to it.
  Status RequireMark(const TableSchema& table, std::string_view what);
  Status MakeKeyspace();
  StatusOr<std::uint64_t> EstimateRows(const TableSchema& table);
  StatusOr<std::vector<ActualColumn>> ReadColumns(const TableSchema& table);
  Status CountRows(const TableSchema& table, bool max_key, TableInfo* info);
  StatusOr<TableRows*> RowsOf(const TableSchema& table, std::span<const std::uint32_t> columns);

  const TargetOptions options_;
  const std::shared_ptr<const TlsContext> tls_;
  Consistency audit_ = Consistency::kAll;
  Nanos agreement_timeout_ = kAgreementTimeout;
  std::optional<Cluster> cluster_;
  std::unique_ptr<TableRows> rows_;  // of the table that was last filled or read
  std::string fillable_table_;       // its mark was seen by InsertRows on this connection
};

Status CassandraAdmin::Connect() {
  fillable_table_.clear();
  rows_.reset();
  cluster_.reset();
  CAVALRY_ASSIGN_OR_RETURN(
      cluster_, OpenCluster(options_, {options_.codec, tls_, kConnectTimeout, kStatementTimeout}));
  return absl::OkStatus();
}

Status CassandraAdmin::Reconnect() {
  return cluster_ && cluster_->session->usable() ? absl::OkStatus() : Connect();
}

StatusOr<std::uint64_t> CassandraAdmin::Query(std::string_view cql, const RowFunction& visit,
                                              std::span<const Value> values) {
  CAVALRY_RETURN_IF_ERROR(Reconnect());
  return cluster_->session->Query(cql, visit, Consistency::kLocalOne, values);
}

Status CassandraAdmin::AwaitAgreement() {
  const Nanos deadline = MonotonicNow() + agreement_timeout_;
  while (true) {
    CAVALRY_ASSIGN_OR_RETURN(const std::vector<std::string> versions,
                             ReadSchemaVersions(cluster_->session.get()));
    if (versions.size() <= 1) return absl::OkStatus();
    if (MonotonicNow() >= deadline) break;
    ::poll(nullptr, 0, kAgreementPollMs);
  }
  agreement_timeout_ = kLaterAgreementTimeout;
  return absl::OkStatus();
}

Status CassandraAdmin::RunDdl(std::string_view cql) {
  CAVALRY_RETURN_IF_ERROR(Query(cql).status());
  return AwaitAgreement();
}

StatusOr<std::optional<CassandraAdmin::Seen>> CassandraAdmin::Look(const TableSchema& table) {
  std::optional<Seen> seen;
  const std::array<Value, 2> names = {Value::Text(keyspace()), Value::Text(table.name)};
  CAVALRY_RETURN_IF_ERROR(
      Query(
          "SELECT comment FROM system_schema.tables WHERE keyspace_name=? AND table_name=?",
          [&](std::span<const Field> fields) {
            seen.emplace();
            if (!fields.empty()) seen->mark = ParseMark(fields[0].text);
          },
          names)
          .status());
  return seen;
}

Status CassandraAdmin::RequireMark(const TableSchema& table, std::string_view what) {
  CAVALRY_ASSIGN_OR_RETURN(const std::optional<Seen> seen, Look(table));
  if (!seen) {
    return FailedPrecondition("{}: table \"{}\" does not exist in keyspace \"{}\"", label(),
                              table.name, keyspace());
  }
  if (seen->mark) return absl::OkStatus();
  return FailedPrecondition(
      "{}: table \"{}\" in keyspace \"{}\" was not created by cavalry (its comment has no mark): "
      "it is not {}. Use another table name or keyspace, or existing: use to read and write it as "
      "it is",
      label(), table.name, keyspace(), what);
}

StatusOr<std::uint64_t> CassandraAdmin::EstimateRows(const TableSchema& table) {
  std::uint64_t rows = 0;
  const std::array<Value, 2> names = {Value::Text(keyspace()), Value::Text(table.name)};
  CAVALRY_RETURN_IF_ERROR(
      Query(
          "SELECT partitions_count FROM system.size_estimates WHERE keyspace_name=? AND "
          "table_name=?",
          [&](std::span<const Field> fields) {
            if (!fields.empty()) rows += ToNumber(fields[0]);
          },
          names)
          .status());
  return rows;
}

StatusOr<std::vector<ActualColumn>> CassandraAdmin::ReadColumns(const TableSchema& table) {
  std::vector<ActualColumn> actual;
  const std::array<Value, 2> names = {Value::Text(keyspace()), Value::Text(table.name)};
  CAVALRY_RETURN_IF_ERROR(
      Query(
          "SELECT column_name, type, kind, position FROM system_schema.columns WHERE "
          "keyspace_name=? AND table_name=?",
          [&](std::span<const Field> fields) {
            if (fields.size() < 4) return;
            ActualColumn column{std::string(fields[0].text), std::string(fields[1].text),
                                std::string(fields[2].text), -1};
            if (column.kind == "partition_key" || column.kind == "clustering") {
              column.position = static_cast<int>(ToNumber(fields[3]));
            }
            actual.push_back(std::move(column));
          },
          names)
          .status());
  return actual;
}

Status CassandraAdmin::CountRows(const TableSchema& table, bool max_key, TableInfo* info) {
  CAVALRY_ASSIGN_OR_RETURN(const std::vector<ActualColumn> columns, ReadColumns(table));
  std::vector<std::string> partition = NamesOf(columns, "partition_key");
  for (std::string& name : partition) name = QuotedName(name);
  const std::string token = fmt::format("token({})", fmt::join(partition, ","));
  const std::string cql =
      fmt::format("SELECT count(*){} FROM {} WHERE {}>? AND {}<=?",
                  max_key ? fmt::format(", max({})", QuotedName(table.key_column().name)) : "",
                  TableName(keyspace(), table), token, token);
  const std::vector<Value> bounds =
      RangeBounds(std::clamp(table.rows / kRowsPerRange, kFewestRanges, kMostRanges));
  const auto count = [&](Consistency level) -> Status {
    info->rows = info->max_key = 0;
    CAVALRY_RETURN_IF_ERROR(Reconnect());
    return cluster_->session->QueryAll(
        cql, bounds, 2,
        [&](std::span<const Field> fields) {
          if (!fields.empty()) info->rows += ToNumber(fields[0]);
          if (fields.size() > 1 && !fields[1].is_null) {
            info->max_key = std::max(info->max_key, ToNumber(fields[1]));
          }
        },
        level);
  };
  const Status status = count(audit_);
  // With a node down the count may be too low, which has a table filled again, but never too high.
  const bool is_unavailable = StatusText(status).find(kUnavailable) != std::string::npos;
  return is_unavailable ? count(options_.statements.read) : status;
}

StatusOr<TableInfo> CassandraAdmin::Describe(const TableSchema& table, bool count) {
  TableInfo info;
  CAVALRY_ASSIGN_OR_RETURN(const std::optional<Seen> seen, Look(table));
  if (!seen) return info;
  const std::optional<MarkText>& mark = seen->mark;
  info.exists = true;
  info.marked = mark.has_value();
  info.same_schema = mark && mark->schema_hash == table.schema_hash;
  // Counting reads the whole table: not one that is neither ours nor to be used.
  if (!count || (!info.marked && !table.use_as_is)) {
    CAVALRY_ASSIGN_OR_RETURN(info.rows, EstimateRows(table));
    return info;
  }
  if (!info.same_schema && !table.use_as_is) {
    // Made for another spec: it need not have the key.
    CAVALRY_ASSIGN_OR_RETURN(info.rows, Query("SELECT * FROM " + TableName(keyspace(), table)));
    return info;
  }
  CAVALRY_RETURN_IF_ERROR(CountRows(table, table.key_is_number, &info));
  info.filled = info.same_schema && mark->state == TableMark::kFilled && mark->rows == info.rows &&
                table.rows == info.rows;
  return info;
}

// Looks first, since making one needs a right of its own.
Status CassandraAdmin::MakeKeyspace() {
  const Value name = Value::Text(keyspace());
  CAVALRY_ASSIGN_OR_RETURN(
      const std::uint64_t found,
      Query("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name=?", {},
            {&name, 1}));
  if (found > 0) return absl::OkStatus();
  return RunDdl(CreateKeyspace(keyspace(), options_.replication));
}

Status CassandraAdmin::Create(const TableSchema& table) {
  CAVALRY_RETURN_IF_ERROR(MakeKeyspace());
  const std::string mark = FormatMark({table.schema_hash, table.rows, TableMark::kEmpty});
  return RunDdl(CreateTable(keyspace(), table, mark, options_.table_options));
}

Status CassandraAdmin::Mark(const TableSchema& table, TableMark mark) {
  CAVALRY_RETURN_IF_ERROR(RequireMark(table, "marked"));
  return RunDdl(fmt::format("ALTER TABLE {} WITH comment = {}", TableName(keyspace(), table),
                            QuotedText(FormatMark({table.schema_hash, table.rows, mark}))));
}

Status CassandraAdmin::Truncate(const TableSchema& table) {
  // Marked empty first: a run that ends in between must not leave a filled mark on half a table.
  CAVALRY_RETURN_IF_ERROR(RequireMark(table, "emptied"));
  CAVALRY_RETURN_IF_ERROR(Mark(table, TableMark::kEmpty));
  return Query("TRUNCATE " + TableName(keyspace(), table)).status();
}

Status CassandraAdmin::Drop(const TableSchema& table, bool allow_unmarked) {
  if (!allow_unmarked) CAVALRY_RETURN_IF_ERROR(RequireMark(table, "dropped"));
  rows_.reset();
  fillable_table_.clear();
  return RunDdl("DROP TABLE " + TableName(keyspace(), table));
}

StatusOr<TableRows*> CassandraAdmin::RowsOf(const TableSchema& table,
                                            std::span<const std::uint32_t> columns) {
  if (rows_ && rows_->Fits(table, columns)) return rows_.get();
  rows_.reset();
  CAVALRY_RETURN_IF_ERROR(Reconnect());
  CAVALRY_ASSIGN_OR_RETURN(rows_, TableRows::Open(cluster_->session->endpoint(), cluster_->connect,
                                                  options_.statements, table, columns));
  return rows_.get();
}

Status CassandraAdmin::InsertRows(const TableSchema& table, std::span<const Value> values) {
  if (fillable_table_ != table.name) {
    CAVALRY_RETURN_IF_ERROR(RequireMark(table, "filled"));
    fillable_table_ = table.name;
  }
  CAVALRY_ASSIGN_OR_RETURN(TableRows * rows, RowsOf(table, {}));
  return rows->Insert(values);
}

Status CassandraAdmin::ReadRows(
    const TableSchema& table, std::span<const std::uint64_t> keys,
    std::span<const std::uint32_t> columns,
    const std::function<void(std::uint64_t, std::span<const Field>)>& visit) {
  CAVALRY_ASSIGN_OR_RETURN(TableRows * rows, RowsOf(table, columns));
  return rows->Read(keys, visit);
}

StatusOr<bool> CassandraAdmin::ReadRow(const TableSchema& table, std::span<const Value> key,
                                       std::span<const std::uint32_t> columns,
                                       const std::function<void(std::span<const Field>)>& visit) {
  CAVALRY_ASSIGN_OR_RETURN(TableRows * rows, RowsOf(table, columns));
  return rows->ReadOne(key, visit);
}

StatusOr<std::uint64_t> CassandraAdmin::RunNative(std::string_view statement) {
  CAVALRY_RETURN_IF_ERROR(Reconnect());
  const CqlText seen = LookAtCql(statement);
  const Consistency level = seen.is_select ? audit_ : options_.statements.write;
  CAVALRY_ASSIGN_OR_RETURN(const std::uint64_t rows,
                           cluster_->session->Query(statement, {}, level));
  if (seen.is_schema) CAVALRY_RETURN_IF_ERROR(AwaitAgreement());
  return rows;
}

Status CassandraAdmin::CheckColumns(const TableSchema& table) {
  CAVALRY_ASSIGN_OR_RETURN(const std::vector<ActualColumn> actual, ReadColumns(table));
  return Annotate(CheckActualColumns(table, actual), label());
}

}  // namespace

std::unique_ptr<Admin> NewCassandraAdmin(TargetOptions options,
                                         std::shared_ptr<const TlsContext> tls) {
  return std::make_unique<CassandraAdmin>(std::move(options), std::move(tls));
}

}  // namespace cavalry::drivers::cassandra
