#include "drivers/cassandra/table_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {
namespace {

std::string KeyText(const std::vector<std::string>& partition,
                    const std::vector<std::string>& clustering) {
  std::string text = fmt::format("(({})", fmt::join(partition, ", "));
  for (const std::string& name : clustering) text += ", " + name;
  return text + ")";
}

}  // namespace

std::vector<std::string> NamesOf(const std::vector<ActualColumn>& actual, std::string_view kind) {
  std::vector<const ActualColumn*> found;
  for (const ActualColumn& column : actual) {
    if (column.kind == kind) found.push_back(&column);
  }
  std::sort(found.begin(), found.end(),
            [](const ActualColumn* a, const ActualColumn* b) { return a->position < b->position; });
  std::vector<std::string> names;
  for (const ActualColumn* column : found) names.push_back(column->name);
  return names;
}

Status CheckActualColumns(const TableSchema& table, const std::vector<ActualColumn>& actual) {
  if (actual.empty()) {
    return FailedPrecondition("table \"{}\" does not exist; create it, or write existing: refuse",
                              table.name);
  }
  std::vector<std::string> faults;
  for (const Column& column : table.columns) {
    const auto found = std::find_if(actual.begin(), actual.end(), [&](const ActualColumn& one) {
      return one.name == column.name;
    });
    const std::string_view wanted = CqlTypeName(CqlTypeOf(column.type));
    if (found == actual.end()) {
      faults.push_back(fmt::format("it has no column \"{}\"", column.name));
    } else if (found->type != wanted) {
      faults.push_back(fmt::format("column \"{}\" is {}, not {}, which {} is in Cassandra",
                                   column.name, found->type, wanted, column.type.sql));
    }
  }
  std::vector<std::string> key;
  for (const std::uint32_t column : table.key_columns) key.push_back(table.columns[column].name);
  const std::vector<std::string> wanted_clustering(key.begin() + 1, key.end());
  key.resize(1);
  const std::vector<std::string> partition = NamesOf(actual, "partition_key");
  const std::vector<std::string> clustering = NamesOf(actual, "clustering");
  if (partition != key || clustering != wanted_clustering) {
    faults.push_back(fmt::format("its primary key is {}, not {}", KeyText(partition, clustering),
                                 KeyText(key, wanted_clustering)));
  }
  if (faults.empty()) return absl::OkStatus();
  return FailedPrecondition("table \"{}\" does not fit the spec: {}", table.name,
                            fmt::join(faults, "; "));
}

}  // namespace cavalry::drivers::cassandra
