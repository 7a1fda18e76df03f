#include "agent/operation_plan.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "agent/table_plan.h"

namespace cavalry::agent {
namespace {

using drivers::OperationKind;
using drivers::OperationPlan;
using drivers::TableSchema;

constexpr int kMaxParameters = 65'535;  // of a prepared statement of MySQL's protocol
constexpr std::uint32_t kMaxScanRows = 1'000'000'000;
constexpr int kMaxInValues = 10'000;

bool IsKeyColumn(const TableSchema& table, std::uint32_t column) {
  return std::find(table.key_columns.begin(), table.key_columns.end(), column) !=
         table.key_columns.end();
}

std::vector<std::uint32_t> AllColumns(const TableSchema& table) {
  std::vector<std::uint32_t> columns(table.columns.size());
  std::iota(columns.begin(), columns.end(), 0U);
  return columns;
}

template <typename Names>
Status SetColumns(const Names& names, const TableSchema& table, OperationPlan* plan) {
  for (const std::string& name : names) {
    CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(table, name));
    plan->columns.push_back(column);
  }
  if (plan->columns.empty()) plan->columns = AllColumns(table);
  return absl::OkStatus();
}

// Fills in server_values; `sql` gives the SQL of a position, "" for none.
template <typename Sql>
void SetServerValues(OperationPlan* plan, const Sql& sql) {
  std::vector<std::string> values;
  bool any = false;
  for (std::size_t i = 0; i < plan->columns.size(); ++i) {
    values.push_back(sql(i));
    any = any || !values.back().empty();
  }
  if (any) plan->server_values = std::move(values);
}

Status SetBatch(std::uint32_t batch, OperationPlan* plan) {
  if (batch < 1 || batch > kMaxBatch) {
    return InvalidArgument("{} in one request: 1 to {} can be", batch, kMaxBatch);
  }
  plan->batch = batch;
  return absl::OkStatus();
}

Status SetInsert(const v1::Insert& insert, const TableSchema& table, OperationPlan* plan) {
  plan->kind = OperationKind::kInsert;
  CAVALRY_RETURN_IF_ERROR(SetBatch(insert.has_batch() ? insert.batch() : 1, plan));
  CAVALRY_RETURN_IF_ERROR(SetColumns(insert.columns(), table, plan));
  if (insert.columns_size() == 0) {
    std::erase_if(plan->columns, [&](auto column) { return table.columns[column].auto_increment; });
  }
  std::vector<bool> given(table.columns.size(), false);
  for (const std::uint32_t column : plan->columns) {
    const std::string& name = table.columns[column].name;
    if (given[column]) return InvalidArgument("column '{}' is given twice", name);
    if (table.columns[column].auto_increment) {
      return InvalidArgument("the server numbers '{}', so inserts leave it out", name);
    }
    given[column] = true;
  }
  for (const std::uint32_t column : table.key_columns) {
    if (given[column] || table.columns[column].auto_increment) continue;
    return InvalidArgument("the key column '{}' must be among columns", table.columns[column].name);
  }
  SetServerValues(plan, [&](std::size_t i) { return table.columns[plan->columns[i]].server_sql; });
  return absl::OkStatus();
}

// An update that replaces the row whole also writes what the spec leaves alone.
void AddOtherColumns(const TableSchema& table, OperationPlan* plan) {
  for (const std::uint32_t column : AllColumns(table)) {
    const bool there =
        std::find(plan->columns.begin(), plan->columns.end(), column) != plan->columns.end();
    if (!there && !IsKeyColumn(table, column)) plan->columns.push_back(column);
  }
  if (!plan->server_values.empty()) plan->server_values.resize(plan->columns.size());
}

Status SetUpdate(const v1::Update& update, const TableSchema& table, OperationPlan* plan) {
  plan->kind = OperationKind::kUpdate;
  plan->returning = update.returning();
  for (const v1::SetColumn& set : update.set()) {
    CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(table, set.column()));
    if (IsKeyColumn(table, column)) {
      return InvalidArgument("the key '{}' cannot be set", set.column());
    }
    plan->columns.push_back(column);
  }
  if (plan->columns.empty()) return InvalidArgument("nothing to set");
  SetServerValues(plan, [&](std::size_t i) {
    const v1::SetColumn& set = update.set(static_cast<int>(i));
    const bool own = set.value().rule_case() == v1::ValueRule::RULE_NOT_SET;
    return own ? table.columns[plan->columns[i]].server_sql : set.value().server();
  });
  return absl::OkStatus();
}

Status SetIncrement(const v1::Increment& increment, const TableSchema& table, OperationPlan* plan) {
  plan->kind = OperationKind::kIncrement;
  plan->returning = increment.returning();
  plan->amount = increment.has_by() ? increment.by() : 1;
  CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(table, increment.column()));
  if (IsKeyColumn(table, column) || !table.columns[column].type.is_number()) {
    return InvalidArgument("'{}' is no column of numbers that may change", increment.column());
  }
  plan->columns = {column};
  return absl::OkStatus();
}

drivers::Comparison ComparisonOf(v1::Comparison comparison, drivers::Comparison by_default) {
  switch (comparison) {
    case v1::COMPARISON_EQ:
      return drivers::Comparison::kEqual;
    case v1::COMPARISON_GT:
      return drivers::Comparison::kGreater;
    case v1::COMPARISON_GE:
      return drivers::Comparison::kGreaterEqual;
    case v1::COMPARISON_LT:
      return drivers::Comparison::kLess;
    case v1::COMPARISON_LE:
      return drivers::Comparison::kLessEqual;
    case v1::COMPARISON_NE:
      return drivers::Comparison::kNotEqual;
    default:
      return by_default;
  }
}

Status AddFilter(const v1::Filter& spec, const TableSchema& table, drivers::ScanPlan* scan) {
  drivers::Filter filter;
  CAVALRY_ASSIGN_OR_RETURN(filter.column, ColumnIndex(table, spec.column()));
  filter.comparison = ComparisonOf(spec.comparison(), drivers::Comparison::kEqual);
  filter.is_null = !spec.has_value();
  filter.value = spec.value();
  filter.ends_scan = spec.ends_scan();
  if (filter.is_null && filter.comparison != drivers::Comparison::kEqual &&
      filter.comparison != drivers::Comparison::kNotEqual) {
    return InvalidArgument("filter '{}': NULL is compared by eq and ne only", spec.column());
  }
  scan->filters.push_back(std::move(filter));
  return absl::OkStatus();
}

Status SetScan(const v1::Scan& spec, const TableSchema& table, OperationPlan* plan) {
  plan->kind = OperationKind::kScan;
  CAVALRY_RETURN_IF_ERROR(SetColumns(spec.columns(), table, plan));
  drivers::ScanPlan& scan = plan->scan;
  scan.columns = table.key_columns;
  if (!spec.index().empty()) {
    const auto index = std::find_if(table.indexes.begin(), table.indexes.end(),
                                    [&](const auto& one) { return one.name == spec.index(); });
    if (index == table.indexes.end()) return InvalidArgument("no index '{}'", spec.index());
    scan.index = index->name;
    scan.columns = index->columns;
  }
  if (spec.parts() > scan.columns.size()) {
    return InvalidArgument("the index has {} columns, not {}", scan.columns.size(), spec.parts());
  }
  if (spec.parts() > 0) scan.columns.resize(spec.parts());
  scan.comparison = ComparisonOf(spec.comparison(), drivers::Comparison::kGreaterEqual);
  if (scan.comparison == drivers::Comparison::kNotEqual) {
    return InvalidArgument("an index is not scanned by ne");
  }
  if (spec.has_limit()) scan.limit = spec.limit();
  scan.offset = spec.offset();
  if (scan.limit < 1 || scan.limit > kMaxScanRows || scan.offset > kMaxScanRows) {
    return InvalidArgument("limit {} offset {}: at most {}", scan.limit, scan.offset, kMaxScanRows);
  }
  if (spec.in_size() > kMaxInValues) return InvalidArgument("in: more than {}", kMaxInValues);
  scan.in.assign(spec.in().begin(), spec.in().end());
  for (const v1::Filter& filter : spec.filters()) {
    CAVALRY_RETURN_IF_ERROR(AddFilter(filter, table, &scan));
  }
  return absl::OkStatus();
}

Status SetNative(const v1::Native& native, OperationPlan* plan) {
  plan->kind = OperationKind::kNative;
  plan->statement = native.statement();
  if (plan->statement.empty()) return InvalidArgument("no statement");
  if (native.parameters_size() > kMaxParameters) {
    return InvalidArgument("more than {} parameters", kMaxParameters);
  }
  plan->parameters = static_cast<std::uint32_t>(native.parameters_size());
  return absl::OkStatus();
}

// Kinds that work on no table.
Status SetWithoutTable(const v1::OperationSpec& spec, OperationPlan* plan) {
  switch (spec.kind_case()) {
    case v1::OperationSpec::kNative:
      return SetNative(spec.native(), plan);
    case v1::OperationSpec::kBegin:
      plan->kind = OperationKind::kBegin;
      return absl::OkStatus();
    case v1::OperationSpec::kCommit:
      plan->kind = OperationKind::kCommit;
      return absl::OkStatus();
    case v1::OperationSpec::kRollback:
      plan->kind = OperationKind::kRollback;
      return absl::OkStatus();
    case v1::OperationSpec::kResetConnection:
      plan->kind = OperationKind::kResetConnection;
      return absl::OkStatus();
    case v1::OperationSpec::kChangeUser:
      plan->kind = OperationKind::kChangeUser;
      return absl::OkStatus();
    default:
      return InvalidArgument("no kind");
  }
}

Status SetWithTable(const v1::OperationSpec& spec, const TableSchema& table, OperationPlan* plan) {
  plan->table = &table;
  switch (spec.kind_case()) {
    case v1::OperationSpec::kRead:
      plan->kind = OperationKind::kRead;
      return SetColumns(spec.read().columns(), table, plan);
    case v1::OperationSpec::kMultiRead:
      plan->kind = OperationKind::kMultiRead;
      CAVALRY_RETURN_IF_ERROR(
          SetBatch(spec.multi_read().has_count() ? spec.multi_read().count() : 10, plan));
      return SetColumns(spec.multi_read().columns(), table, plan);
    case v1::OperationSpec::kScan:
      return SetScan(spec.scan(), table, plan);
    case v1::OperationSpec::kInsert:
      return SetInsert(spec.insert(), table, plan);
    case v1::OperationSpec::kUpdate:
      return SetUpdate(spec.update(), table, plan);
    case v1::OperationSpec::kIncrement:
      return SetIncrement(spec.increment(), table, plan);
    default:
      plan->kind = OperationKind::kDelete;
      plan->returning = spec.delete_().returning();
      return absl::OkStatus();
  }
}

// Null: the kind works on no table.
const std::string* TableOf(const v1::OperationSpec& operation) {
  switch (operation.kind_case()) {
    case v1::OperationSpec::kRead:
      return &operation.read().table();
    case v1::OperationSpec::kMultiRead:
      return &operation.multi_read().table();
    case v1::OperationSpec::kScan:
      return &operation.scan().table();
    case v1::OperationSpec::kInsert:
      return &operation.insert().table();
    case v1::OperationSpec::kUpdate:
      return &operation.update().table();
    case v1::OperationSpec::kDelete:
      return &operation.delete_().table();
    case v1::OperationSpec::kIncrement:
      return &operation.increment().table();
    default:
      return nullptr;
  }
}

Status SetOperation(const v1::OperationSpec& spec, const OperationSet& set, OperationPlan* plan) {
  plan->name = spec.name();
  const std::string* const name = TableOf(spec);
  if (name == nullptr) return SetWithoutTable(spec, plan);
  const auto table = std::find_if(set.tables.begin(), set.tables.end(),
                                  [&](const auto& schema) { return schema->name == *name; });
  if (table == set.tables.end()) return InvalidArgument("no table is named '{}'", *name);
  return SetWithTable(spec, **table, plan);
}

}  // namespace

StatusOr<OperationSet> MakeOperationSet(const v1::Workload& workload, bool replaces_rows) {
  OperationSet set;
  if (workload.operations_size() > kMaxOperations) {
    return InvalidArgument("more than {} operations", kMaxOperations);
  }
  for (const v1::Table& table : workload.tables()) {
    CAVALRY_ASSIGN_OR_RETURN(TablePlan plan, MakeTablePlan(table, workload.seed()));
    set.tables.push_back(std::move(plan.schema));
    set.rules.push_back(std::move(plan.rules));
  }
  bool sleeps = false;
  for (const v1::OperationSpec& spec : workload.operations()) {
    if (spec.has_sleep()) {
      sleeps = true;
      continue;
    }
    if (sleeps) return InvalidArgument("operation '{}' stands behind a sleep", spec.name());
    OperationPlan plan;
    plan.index = static_cast<std::uint32_t>(set.operations.size());
    CAVALRY_RETURN_IF_ERROR(
        Annotate(SetOperation(spec, set, &plan), fmt::format("operation '{}'", spec.name())));
    if (replaces_rows && plan.kind == OperationKind::kUpdate) AddOtherColumns(*plan.table, &plan);
    set.operations.push_back(std::move(plan));
  }
  return set;
}

}  // namespace cavalry::agent
