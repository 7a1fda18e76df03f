#include "drivers/cassandra/statement_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "drivers/cassandra/cql_literal.h"
#include "drivers/cassandra/cql_text.h"
#include "drivers/cassandra/names.h"

namespace cavalry::drivers::cassandra {
namespace {

// Values of a statement are counted in 16 bits (native protocol, section 4.1.4).
constexpr std::uint64_t kMaxValues = 65'535;

bool Has(const std::vector<std::uint32_t>& columns, std::uint32_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::string_view WhyNot(OperationKind kind) {
  switch (kind) {
    case OperationKind::kIncrement:
      return "CQL adds to counters only, which are a kind of table of their own; to read a number "
             "and write it back use steps with a read and an update";
    case OperationKind::kBegin:
    case OperationKind::kCommit:
    case OperationKind::kRollback:
      return "Cassandra has no transactions: write steps instead of transaction, or a batch insert "
             "with logged_batches: true";
    case OperationKind::kResetConnection:
    case OperationKind::kChangeUser:
      return "the connections are shared by all sessions: leave it out";
    default:
      return {};
  }
}

class OperationCheck {
 public:
  OperationCheck(const StatementOptions& options, const OperationPlan& plan)
      : options_(options), plan_(plan), table_(*plan.table) {}

  Status Run() const {
    CAVALRY_RETURN_IF_ERROR(CheckServerValues());
    if (plan_.returning) {
      return Fault(
          "returning: Cassandra does not give a changed row back as it was; leave it out, or read "
          "the row before");
    }
    switch (plan_.kind) {
      case OperationKind::kRead:
        return CheckReturned();
      case OperationKind::kMultiRead:
        CAVALRY_RETURN_IF_ERROR(CheckReturned());
        return CheckMultiRead();
      case OperationKind::kScan:
        CAVALRY_RETURN_IF_ERROR(CheckReturned());
        return CheckScan();
      case OperationKind::kInsert:
        return CheckInsert();
      case OperationKind::kUpdate:
        return CheckUpdate();
      default:
        return absl::OkStatus();
    }
  }

 private:
  template <typename... Arguments>
  Status Fault(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    return InvalidArgument("cassandra: operation {}: {}", plan_.name,
                           fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  const std::string& Name(std::uint32_t column) const { return table_.columns[column].name; }

  Status CheckServerValues() const {
    for (std::size_t i = 0; i < plan_.server_values.size() && i < plan_.columns.size(); ++i) {
      if (plan_.server_values[i].empty()) continue;
      return Fault(
          "column {}: its value is {}, which is SQL and not CQL. Give the column a rule whose "
          "value "
          "is sent, or write the statement as native CQL",
          Name(plan_.columns[i]), plan_.server_values[i]);
    }
    return absl::OkStatus();
  }

  Status CheckReturned() const {
    if (!plan_.columns.empty()) return absl::OkStatus();
    return Fault("a {} needs at least one column", OperationKindName(plan_.kind));
  }

  Status CheckMultiRead() const {
    if (plan_.batch < 1 || plan_.batch > kMaxValues) {
      return Fault("{} keys a request: Cassandra takes 1 to {}", plan_.batch, kMaxValues);
    }
    if (plan_.batch == 1 || table_.key_columns.size() == 1) return absl::OkStatus();
    return Fault(
        "CQL has no list of keys of several columns (its IN is of one column, so two lists give "
        "every pair of them): read them one by one, or use a table with a key of one column");
  }

  Status CheckScan() const {
    const ScanPlan& scan = plan_.scan;
    if (!scan.index.empty()) {
      return Fault(
          "a scan of index {}: CQL has no ranges over an index beside the primary key. Leave index "
          "out, or make a table whose key begins with these columns",
          scan.index);
    }
    if (scan.columns.empty()) return Fault("a scan compares at least one column of the key");
    const bool is_prefix =
        scan.columns.size() <= table_.key_columns.size() &&
        std::equal(scan.columns.begin(), scan.columns.end(), table_.key_columns.begin());
    if (!is_prefix) return Fault("a scan compares the key's first columns in their order");
    if (scan.comparison == Comparison::kNotEqual) return Fault("a scan cannot compare by ne");
    if (scan.offset != 0) {
      return Fault("offset {}: CQL cannot skip rows; leave it out and start from a later key",
                   scan.offset);
    }
    if (scan.limit == 0) return Fault("limit is 0: CQL wants at least 1");
    const bool is_falling =
        scan.comparison == Comparison::kLess || scan.comparison == Comparison::kLessEqual;
    if (is_falling && scan.columns.size() == 1) {
      return Fault(
          "Cassandra reads partitions in rising order of their tokens only: use ge or gt, or a key "
          "of several columns, whose rows it reads both ways within a partition");
    }
    if (!scan.in.empty() && scan.comparison != Comparison::kEqual) {
      return Fault("in goes with comparison: eq only: CQL has one range a statement");
    }
    if (!scan.in.empty() && !table_.columns[scan.columns.front()].type.is_integer()) {
      return Fault("in: column {} is no integer", Name(scan.columns.front()));
    }
    for (const Filter& filter : scan.filters) CAVALRY_RETURN_IF_ERROR(CheckFilter(filter));
    return absl::OkStatus();
  }

  Status CheckFilter(const Filter& filter) const {
    const Column& column = table_.columns[filter.column];
    if (filter.is_null) {
      return Fault("filter {}: CQL does not compare with NULL; leave the filter out", column.name);
    }
    if (filter.comparison == Comparison::kNotEqual) {
      return Fault("filter {}: CQL does not compare by ne; use two scans, by lt and by gt",
                   column.name);
    }
    if (filter.ends_scan) {
      return Fault(
          "filter {}: ends_scan: only handlersocket can do it; leave it out, or give the bound as "
          "a "
          "second filter",
          column.name);
    }
    if (FilterLiteral(column, filter.value)) return absl::OkStatus();
    return Fault("filter {}: \"{}\" is no {}, which {} is in Cassandra", column.name, filter.value,
                 CqlTypeName(CqlTypeOf(column.type)), column.type.sql);
  }

  Status CheckInsert() const {
    for (const std::uint32_t key : table_.key_columns) {
      if (Has(plan_.columns, key)) continue;
      if (table_.columns[key].auto_increment) {
        return Fault(
            "the key column {} is auto_increment, and Cassandra numbers no rows: leave "
            "auto_increment out, so that its value is sent",
            Name(key));
      }
      return Fault("the key column {} is not listed, and Cassandra has no row without it: list it",
                   Name(key));
    }
    if (plan_.batch == 1) return CheckValues(plan_.columns.size());
    if (plan_.batch < 1 || plan_.batch > kMaxValues) {
      return Fault("{} rows a request: Cassandra takes 1 to {}", plan_.batch, kMaxValues);
    }
    if (options_.conditional) {
      return Fault(
          "{} rows a request with conditional: true: a batch with conditions must stay in one "
          "partition. Use batch: 1, or conditional: false",
          plan_.batch);
    }
    return CheckValues(plan_.columns.size());
  }

  Status CheckUpdate() const {
    if (plan_.columns.empty()) return Fault("an update sets at least one column");
    for (const std::uint32_t column : plan_.columns) {
      if (!Has(table_.key_columns, column)) continue;
      return Fault("column {} is part of the key, which CQL cannot change: leave it out",
                   Name(column));
    }
    return CheckValues(plan_.columns.size() + table_.key_columns.size());
  }

  Status CheckValues(std::size_t values) const {
    if (values <= kMaxValues) return absl::OkStatus();
    return Fault("{} values, but a statement carries {}", values, kMaxValues);
  }

  const StatementOptions& options_;
  const OperationPlan& plan_;
  const TableSchema& table_;
};

Status CheckNative(const OperationPlan& plan) {
  const CqlText seen = LookAtCql(plan.statement);
  if (seen.is_empty) {
    return InvalidArgument("cassandra: operation {}: its statement is empty", plan.name);
  }
  if (seen.is_open) {
    return InvalidArgument(
        "cassandra: operation {}: a quote or comment in its statement does not end", plan.name);
  }
  if (seen.marks != plan.parameters) {
    return InvalidArgument(
        "cassandra: operation {}: its statement has {} question marks, but {} parameters are "
        "given: they must be as many",
        plan.name, seen.marks, plan.parameters);
  }
  return absl::OkStatus();
}

}  // namespace

Status CheckOperation(const StatementOptions& options, const OperationPlan& operation) {
  if (const std::string_view why = WhyNot(operation.kind); !why.empty()) {
    return InvalidArgument("cassandra: operation {} is a {}: {}", operation.name,
                           OperationKindName(operation.kind), why);
  }
  if (operation.kind == OperationKind::kNative) return CheckNative(operation);
  if (operation.table == nullptr) {
    return InvalidArgument("cassandra: operation {} names no table", operation.name);
  }
  return OperationCheck(options, operation).Run();
}

Status CheckTable(const TableSchema& table) {
  CAVALRY_RETURN_IF_ERROR(CheckFolderName("table", table.name));
  for (const Column& column : table.columns) {
    if (!column.name.empty()) continue;
    return InvalidArgument("cassandra: a column of table \"{}\" has no name", table.name);
  }
  return absl::OkStatus();
}

}  // namespace cavalry::drivers::cassandra
