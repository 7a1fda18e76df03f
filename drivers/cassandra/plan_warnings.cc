// What Cassandra does otherwise than SQL. See statement_check.h.
#include <algorithm>

#include <fmt/format.h>

#include "drivers/cassandra/statement_check.h"

namespace cavalry::drivers::cassandra {
namespace {

std::string UnlistedColumns(const OperationPlan& plan) {
  std::string names;
  for (std::uint32_t i = 0; i < plan.table->columns.size(); ++i) {
    if (std::find(plan.columns.begin(), plan.columns.end(), i) != plan.columns.end()) continue;
    const Column& column = plan.table->columns[i];
    if (column.default_sql.empty() && column.nullable) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", column.name);
  }
  return names;
}

void AddScanWarnings(const OperationPlan& plan, std::vector<std::string>* warnings) {
  const ScanPlan& scan = plan.scan;
  if (scan.comparison != Comparison::kEqual && scan.columns.size() == 1) {
    warnings->push_back(fmt::format(
        "operation {}: Cassandra orders partitions by the token (a hash) of {}: the scan gives the "
        "rows that follow in that order, not the next keys",
        plan.name, plan.table->columns[scan.columns.front()].name));
  } else if (scan.comparison != Comparison::kEqual) {
    warnings->push_back(fmt::format(
        "operation {}: the scan stays within the rows of one {} (a partition), where SQL goes on "
        "with the next",
        plan.name, plan.table->columns[scan.columns.front()].name));
  }
  if (!scan.filters.empty()) {
    warnings->push_back(fmt::format(
        "operation {}: filters are sent with ALLOW FILTERING: the server reads and drops what does "
        "not fit, up to the whole table",
        plan.name));
  }
}

}  // namespace

void AddWarnings(const StatementOptions& options, const OperationPlan& operation,
                 std::vector<std::string>* warnings) {
  const auto warn = [&](std::string_view text) {
    warnings->push_back(fmt::format("operation {}: {}", operation.name, text));
  };
  switch (operation.kind) {
    case OperationKind::kScan:
      return AddScanWarnings(operation, warnings);
    case OperationKind::kMultiRead:
      if (operation.batch > 1) {
        warn(
            "the keys of one request are in several partitions: the node that gets it asks the "
            "others for theirs");
      }
      return;
    case OperationKind::kInsert: {
      if (!options.conditional) {
        warn(
            "an insert of a key that is there replaces its columns and counts as ok, where SQL "
            "refuses it; conditional: true tells, at the price of several trips between the nodes");
      }
      if (const std::string names = UnlistedColumns(operation); !names.empty()) {
        warn(fmt::format(
            "columns that are not listed get null, since Cassandra has no defaults: {}", names));
      }
      return;
    }
    case OperationKind::kUpdate:
      if (!options.conditional) {
        warn(
            "an update of a row that is missing makes one and counts as ok, where SQL misses; "
            "conditional: true tells, at the price of several trips between the nodes");
      }
      return;
    case OperationKind::kDelete:
      if (!options.conditional) {
        warn(
            "a delete of a row that is missing counts as ok, where SQL misses; conditional: true "
            "tells, at the price of several trips between the nodes");
      }
      return;
    default:
      return;
  }
}

void AddTableWarnings(const TableSchema& table, std::vector<std::string>* warnings) {
  for (const Index& index : table.indexes) {
    warnings->push_back(fmt::format(
        "table {}: index {} is not made: CQL cannot scan it{}", table.name, index.name,
        index.unique ? ", and nothing in Cassandra is unique but the primary key" : ""));
  }
}

}  // namespace cavalry::drivers::cassandra
