#include "drivers/mysql/operation_check.h"

#include <algorithm>

#include "drivers/mysql/native_statement.h"
#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {
namespace {

// Placeholders of one prepared statement (the protocol counts them in 16 bits).
constexpr std::size_t kMaxParameters = 65'535;

// Engines, character sets, collations and row formats are written as they are.
Status CheckWord(const TableSchema& table, std::string_view what, std::string_view word,
                 std::string_view example) {
  const bool is_plain = std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (is_plain) return absl::OkStatus();
  return InvalidArgument("table \"{}\": {} \"{}\" is no {}'s name, such as {}", table.name, what,
                         word, what, example);
}

std::size_t ParametersOf(const OperationPlan& operation) {
  const std::size_t key = operation.table->key_columns.size();
  switch (operation.kind) {
    case OperationKind::kMultiRead:
      return operation.batch * key;
    case OperationKind::kInsert:
      return operation.batch * operation.columns.size();
    default:
      return operation.columns.size() + key;
  }
}

Status CheckScan(const OperationPlan& operation) {
  const ScanPlan& scan = operation.scan;
  if (scan.columns.empty()) {
    return InvalidArgument("operation \"{}\": a scan compares at least one column of its index",
                           operation.name);
  }
  for (const Filter& filter : scan.filters) {
    if (filter.ends_scan) {
      return InvalidArgument(
          "operation \"{}\": ends_scan in the filter on \"{}\": SQL has no such thing, only "
          "handlersocket can do it; leave it out, or give the bound as a second filter",
          operation.name, operation.table->columns[filter.column].name);
    }
  }
  if (!scan.in.empty() && scan.comparison != Comparison::kEqual) {
    return InvalidArgument(
        "operation \"{}\": in goes with comparison: eq on a mysql target; only handlersocket takes "
        "a row per value with another",
        operation.name);
  }
  if (!scan.index.empty()) {
    return CheckName(fmt::format("operation \"{}\", index", operation.name), scan.index);
  }
  return absl::OkStatus();
}

Status CheckNative(const OperationPlan& operation) {
  const NativeStatement native = ParseNative(operation.statement);
  if (native.is_empty) {
    return InvalidArgument("operation \"{}\": its statement is empty", operation.name);
  }
  if (native.is_open) {
    return InvalidArgument("operation \"{}\": a quote or comment in its statement does not end",
                           operation.name);
  }
  if (native.parameter_count() != operation.parameters) {
    return InvalidArgument(
        "operation \"{}\": its statement has {} question marks, but {} parameters are given: they "
        "must be as many",
        operation.name, native.parameter_count(), operation.parameters);
  }
  return absl::OkStatus();
}

}  // namespace

Status CheckTable(const TableSchema& table) {
  CAVALRY_RETURN_IF_ERROR(CheckName("table", table.name));
  for (const Column& column : table.columns) {
    CAVALRY_RETURN_IF_ERROR(
        CheckName(fmt::format("table \"{}\", column", table.name), column.name));
  }
  for (const Index& index : table.indexes) {
    CAVALRY_RETURN_IF_ERROR(CheckName(fmt::format("table \"{}\", index", table.name), index.name));
  }
  if (table.engine.empty()) return CheckWord(table, "engine", " ", "InnoDB");
  CAVALRY_RETURN_IF_ERROR(CheckWord(table, "engine", table.engine, "InnoDB"));
  CAVALRY_RETURN_IF_ERROR(CheckWord(table, "charset", table.charset, "utf8mb4"));
  CAVALRY_RETURN_IF_ERROR(CheckWord(table, "collation", table.collation, "utf8mb4_bin"));
  return CheckWord(table, "row_format", table.row_format, "compact");
}

Status CheckOperation(const OperationPlan& operation) {
  if (operation.returning) {
    return InvalidArgument(
        "operation \"{}\": returning: MySQL does not give a changed row back as it was before; "
        "leave it out, or read the row in the same transaction",
        operation.name);
  }
  if (operation.kind == OperationKind::kNative) return CheckNative(operation);
  if (!HasTable(operation.kind)) return absl::OkStatus();
  if (ParametersOf(operation) > kMaxParameters) {
    return InvalidArgument("operation \"{}\": {} values a request, but a statement carries {}",
                           operation.name, ParametersOf(operation), kMaxParameters);
  }
  return operation.kind == OperationKind::kScan ? CheckScan(operation) : absl::OkStatus();
}

}  // namespace cavalry::drivers::mysql
