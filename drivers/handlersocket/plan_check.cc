#include "drivers/handlersocket/plan_check.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "drivers/handlersocket/requests.h"
#include "drivers/handlersocket/tokens.h"
#include "drivers/handlersocket/value_check.h"

namespace cavalry::drivers::handlersocket {
namespace {

bool Has(const std::vector<std::uint32_t>& columns, std::uint32_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

bool IsCharacters(const ColumnType& type) {
  return type.is_text() || type.kind == ColumnType::Kind::kJson;
}

// What the protocol has no request for, and what to do instead.
std::string_view WhyNot(OperationKind kind) {
  switch (kind) {
    case OperationKind::kNative:
      return "HandlerSocket has no statements: write it as a read, multi_read, scan, insert, "
             "update, "
             "increment or delete, or use a mysql target";
    case OperationKind::kBegin:
    case OperationKind::kCommit:
    case OperationKind::kRollback:
      return "HandlerSocket has no transactions: the server commits each request with the batch it "
             "came in. Take begin, commit and rollback out of the script (steps instead of "
             "transaction), or use a mysql target";
    case OperationKind::kResetConnection:
      return "a HandlerSocket connection has no state to reset: take it out of the script, or let "
             "each iteration connect (load.connections: per_iteration)";
    case OperationKind::kChangeUser:
      return "HandlerSocket knows no users, only a secret per port: take it out of the script, or "
             "let each iteration connect (load.connections: per_iteration)";
    default:
      return "";
  }
}

class PlanCheck {
 public:
  explicit PlanCheck(const OperationPlan& plan) : plan_(plan), table_(*plan.table) {}

  Status Run() const {
    CAVALRY_RETURN_IF_ERROR(
        CheckName(fmt::format("operation {}: table", plan_.name), table_.name, false));
    if (table_.key_columns.empty()) return Fault("table {} has no primary key", table_.name);
    CAVALRY_RETURN_IF_ERROR(CheckColumns("key column", table_.key_columns));
    CAVALRY_RETURN_IF_ERROR(CheckColumns("column", OpenColumns(plan_)));
    CAVALRY_RETURN_IF_ERROR(CheckServerValues());
    switch (plan_.kind) {
      case OperationKind::kInsert:
        CAVALRY_RETURN_IF_ERROR(CheckBatch("rows"));
        return CheckInsert();
      case OperationKind::kMultiRead:
        CAVALRY_RETURN_IF_ERROR(CheckBatch("keys"));
        return CheckReturned();
      case OperationKind::kScan:
        CAVALRY_RETURN_IF_ERROR(CheckReturned());
        return CheckScan();
      case OperationKind::kIncrement:
        return CheckIncrement();
      case OperationKind::kDelete:
        return absl::OkStatus();
      default:
        return CheckReturned();
    }
  }

 private:
  template <typename... Arguments>
  Status Fault(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    return InvalidArgument("handlersocket: operation {}: {}", plan_.name,
                           fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  // Columns that are sent or whose values are.
  Status CheckColumns(std::string_view what, const std::vector<std::uint32_t>& columns) const {
    for (const std::uint32_t number : columns) {
      if (number >= table_.columns.size()) {
        return Fault("table {} has no column number {}", table_.name, number);
      }
      const Column& column = table_.columns[number];
      CAVALRY_RETURN_IF_ERROR(
          CheckName(fmt::format("operation {}: {}", plan_.name, what), column.name, true));
      if (IsCharacters(column.type) &&
          ColumnRule(column, table_.charset).character_bytes_max == 0) {
        return Fault(
            "column {} is in character set {}, and HandlerSocket converts none: give table {} "
            "charset: utf8mb4",
            column.name, table_.charset, table_.name);
      }
    }
    return absl::OkStatus();
  }

  Status CheckServerValues() const {
    for (std::size_t i = 0; i < plan_.server_values.size(); ++i) {
      if (plan_.server_values[i].empty()) continue;
      const std::string_view column =
          i < plan_.columns.size() ? table_.columns[plan_.columns[i]].name : std::string_view();
      return Fault(
          "column {}: HandlerSocket cannot ask the server for {}. Give the column a rule whose "
          "value "
          "is sent, or use a mysql target",
          column, plan_.server_values[i]);
    }
    return absl::OkStatus();
  }

  Status CheckReturned() const {
    if (!plan_.columns.empty()) return absl::OkStatus();
    return Fault("a {} needs at least one column", OperationKindName(plan_.kind));
  }

  Status CheckBatch(std::string_view what) const {
    if (plan_.batch >= 1 && plan_.batch <= kMaxBatch) return absl::OkStatus();
    return Fault("{} {} per request: HandlerSocket is given 1 to {}", plan_.batch, what, kMaxBatch);
  }

  Status CheckInsert() const {
    CAVALRY_RETURN_IF_ERROR(CheckReturned());
    for (const std::uint32_t key : table_.key_columns) {
      if (Has(plan_.columns, key) || table_.columns[key].auto_increment) continue;
      return Fault(
          "the key column {} is not listed: the server would take 0 or '' for it. List it, or make "
          "it auto_increment",
          table_.columns[key].name);
    }
    return absl::OkStatus();
  }

  Status CheckIncrement() const {
    if (plan_.columns.size() != 1) return Fault("an increment is of one column");
    const Column& column = table_.columns[plan_.columns.front()];
    if (!column.type.is_integer()) {
      return Fault(
          "column {} is {}, and HandlerSocket adds whole numbers to whole numbers only: it would "
          "round. Use an update, or a mysql target",
          column.name, column.type.sql);
    }
    if (plan_.amount == std::numeric_limits<std::int64_t>::min()) {
      return Fault("{} cannot be taken away", plan_.amount);
    }
    return absl::OkStatus();
  }

  Status CheckScan() const {
    const ScanPlan& scan = plan_.scan;
    CAVALRY_RETURN_IF_ERROR(CheckColumns("index column", scan.columns));
    if (scan.columns.empty()) return Fault("a scan needs a value to start from");
    if (!scan.index.empty()) {
      CAVALRY_RETURN_IF_ERROR(
          CheckName(fmt::format("operation {}: index", plan_.name), scan.index, false));
      if (scan.index.front() >= '0' && scan.index.front() <= '9') {
        return Fault(
            "index {} begins with a digit, and HandlerSocket takes it for a number; rename it",
            scan.index);
      }
    }
    if (scan.comparison == Comparison::kNotEqual) return Fault("a scan cannot compare by ne");
    // A limit of 0 means 1 to the server.
    if (scan.limit == 0) return Fault("limit is 0");
    for (const Filter& filter : scan.filters) CAVALRY_RETURN_IF_ERROR(CheckFilter(filter));
    return CheckIn();
  }

  Status CheckIn() const {
    const ScanPlan& scan = plan_.scan;
    if (scan.in.empty()) return absl::OkStatus();
    if (scan.in.size() > kMaxBatch) {
      return Fault("{} values of in: HandlerSocket is given at most {}", scan.in.size(), kMaxBatch);
    }
    const ColumnRule rule(table_.columns[scan.columns.front()], table_.charset);
    for (const std::uint64_t number : scan.in) {
      const Value value = Value::Unsigned(number);
      bool needs_escape = false;
      const ValueFault fault = CheckValue(rule, value, needs_escape);
      if (fault != ValueFault::kNone) return Fault("in: {}", DescribeFault(fault, rule, value));
    }
    return absl::OkStatus();
  }

  Status CheckFilter(const Filter& filter) const {
    CAVALRY_RETURN_IF_ERROR(CheckColumns("filter column", {filter.column}));
    const Column& column = table_.columns[filter.column];
    const ColumnType::Kind kind = column.type.kind;
    if (kind == ColumnType::Kind::kText || kind == ColumnType::Kind::kBlob ||
        kind == ColumnType::Kind::kJson) {
      return Fault(
          "filter {}: HandlerSocket does not compare {}; use a varchar or varbinary column",
          column.name, column.type.sql);
    }
    if (filter.is_null) {
      const bool has_sense =
          filter.comparison == Comparison::kEqual || filter.comparison == Comparison::kNotEqual;
      if (has_sense) return absl::OkStatus();
      return Fault("filter {}: NULL is compared by eq and ne only", column.name);
    }
    const ColumnRule rule(column, table_.charset);
    const Value value =
        column.type.is_binary() ? Value::Binary(filter.value) : Value::Text(filter.value);
    bool needs_escape = false;
    const ValueFault fault = CheckValue(rule, value, needs_escape);
    if (fault == ValueFault::kNone) return absl::OkStatus();
    return Fault("filter: {}", DescribeFault(fault, rule, value));
  }

  const OperationPlan& plan_;
  const TableSchema& table_;
};

}  // namespace

Status CheckName(std::string_view what, std::string_view name, bool in_list) {
  if (name.empty()) return InvalidArgument("handlersocket: a {} has no name", what);
  if (FindByteKinds(name).needs_escape) {
    return InvalidArgument(
        "handlersocket: {} \"{}\" holds a control character, which HandlerSocket cannot take in a "
        "name; rename it",
        what, name);
  }
  if (in_list && name.find(',') != std::string_view::npos) {
    return InvalidArgument(
        "handlersocket: {} \"{}\" holds a comma, which HandlerSocket cannot take in a column's "
        "name; rename it or leave it out",
        what, name);
  }
  return absl::OkStatus();
}

Status CheckOperation(const OperationPlan& plan) {
  if (const std::string_view why = WhyNot(plan.kind); !why.empty()) {
    return InvalidArgument("handlersocket: operation {} is a {}: {}", plan.name,
                           OperationKindName(plan.kind), why);
  }
  if (plan.table == nullptr) {
    return InvalidArgument("handlersocket: operation {} names no table", plan.name);
  }
  return PlanCheck(plan).Run();
}

}  // namespace cavalry::drivers::handlersocket
