#include "drivers/cassandra/table_rows.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/cassandra/consistency.h"

namespace cavalry::drivers::cassandra {
namespace {

enum Which : std::size_t { kInsertRow, kReadRow };
constexpr int kAttempts = 4;

// Native protocol, section 8: unavailable, overloaded, bootstrapping, write and read timeout.
bool MayPass(const OpResult& result) {
  if (result.outcome != Outcome::kRejected || result.severity != Severity::kNormal) return false;
  for (const std::string_view code : {"0x1000", "0x1001", "0x1002", "0x1100", "0x1200"}) {
    // The code is followed by its name.
    if (result.code.starts_with(code)) return true;
  }
  return false;
}

// Gives the rows of one operation with the key that was asked for.
class KeyVisitor final : public RowVisitor {
 public:
  using Visit = std::function<void(std::uint64_t, std::span<const Field>)>;
  KeyVisitor(std::uint64_t key, std::size_t fields, const Visit* visit)
      : key_(key), fields_(fields), visit_(visit) {}
  void OnRow(std::span<const Field> fields) override {
    (*visit_)(key_, fields.first(std::min(fields_, fields.size())));
  }

 private:
  const std::uint64_t key_;
  const std::size_t fields_;
  const Visit* const visit_;
};

}  // namespace

TableRows::TableRows(const TableSchema& table, std::span<const std::uint32_t> columns)
    : table_(table), columns_(columns.begin(), columns.end()), operations_(2) {
  OperationPlan& insert = operations_[kInsertRow];
  insert.name = "fill of " + table.name;
  insert.index = kInsertRow;
  insert.kind = OperationKind::kInsert;
  insert.table = &table_;
  insert.columns.resize(table.columns.size());
  std::iota(insert.columns.begin(), insert.columns.end(), 0U);
  OperationPlan& read = operations_[kReadRow];
  read.name = "audit of " + table.name;
  read.index = kReadRow;
  read.kind = OperationKind::kRead;
  read.table = &table_;
  read.columns = columns_;
  if (read.columns.empty()) read.columns = {table.key_columns.front()};
}

StatusOr<std::unique_ptr<TableRows>> TableRows::Open(const Endpoint& endpoint,
                                                     const ConnectPlan& connect,
                                                     const StatementOptions& statements,
                                                     const TableSchema& table,
                                                     std::span<const std::uint32_t> columns) {
  std::unique_ptr<TableRows> rows(new TableRows(table, columns));
  const StatementOptions options = AuditOptions(statements);
  rows->written_ = options.write;
  rows->read_ = options.read;
  for (const OperationPlan& operation : rows->operations_) {
    CAVALRY_RETURN_IF_ERROR(CheckOperation(options, operation));
  }
  CAVALRY_ASSIGN_OR_RETURN(rows->session_,
                           CqlSession::OpenPrepared(endpoint, connect, options, rows->operations_));
  return rows;
}

Status TableRows::Explain(const Status& status) const {
  if (status.ok()) return status;
  return MakeStatus(
      status.code(),
      fmt::format("{}. Rows are read back at {}, which sees all that was acknowledged at {}: have "
                  "enough replicas up, or write at a level that needs fewer to read",
                  StatusText(status), ConsistencyName(read_), ConsistencyName(written_)));
}

bool TableRows::Fits(const TableSchema& table, std::span<const std::uint32_t> columns) const {
  return session_->usable() && table_.name == table.name &&
         table_.schema_hash == table.schema_hash &&
         std::equal(columns_.begin(), columns_.end(), columns.begin(), columns.end());
}

Status TableRows::Insert(std::span<const Value> values) {
  const std::size_t width = table_.columns.size();
  CAVALRY_CHECK(values.size() % width == 0);
  std::vector<Operation> operations(values.size() / width);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    operations[i] = {&operations_[kInsertRow], {}, values.subspan(i * width, width), nullptr};
  }
  std::vector<Operation> again;
  for (int attempt = 1; !operations.empty(); ++attempt) {
    again.clear();
    CAVALRY_RETURN_IF_ERROR(
        session_->RunAll(operations, [&](std::size_t which, const OpResult& result) {
          if (attempt >= kAttempts || !MayPass(result)) return false;
          again.push_back(operations[which]);
          return true;
        }));
    operations.swap(again);
  }
  return absl::OkStatus();
}

Status TableRows::Read(std::span<const std::uint64_t> keys,
                       const std::function<void(std::uint64_t, std::span<const Field>)>& visit) {
  std::vector<KeyVisitor> visitors;
  visitors.reserve(keys.size());
  std::vector<Operation> operations;
  for (const std::uint64_t key : keys) {
    visitors.emplace_back(key, columns_.size(), &visit);
    operations.push_back({&operations_[kReadRow], Key(Value::Unsigned(key)), {}, &visitors.back()});
  }
  return Explain(session_->RunAll(operations));
}

StatusOr<bool> TableRows::ReadOne(std::span<const Value> key,
                                  const std::function<void(std::span<const Field>)>& visit) {
  const KeyVisitor::Visit give = [&](std::uint64_t, std::span<const Field> fields) {
    visit(fields);
  };
  KeyVisitor visitor(0, columns_.size(), &give);
  const Operation operation{&operations_[kReadRow], Key(key), {}, &visitor};
  bool found = false;
  CAVALRY_RETURN_IF_ERROR(
      Explain(session_->RunAll({&operation, 1}, [&](std::size_t, const OpResult& result) {
        found = result.outcome == Outcome::kOk;
        return false;
      })));
  return found;
}

}  // namespace cavalry::drivers::cassandra
