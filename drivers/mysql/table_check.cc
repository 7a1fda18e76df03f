#include "drivers/mysql/table_check.h"

#include <algorithm>

#include "core/base/column_type.h"

namespace cavalry::drivers::mysql {
namespace {

// Whether every value of `wanted` can be stored in, and read back from, a column of `actual`.
bool Holds(const ColumnType& actual, const ColumnType& wanted) {
  // MariaDB's json is another name of longtext, and the one it prints.
  if (wanted.kind == ColumnType::Kind::kJson && actual.kind == ColumnType::Kind::kText) {
    return actual.length >= wanted.length;
  }
  if (actual.kind != wanted.kind) return false;
  switch (wanted.kind) {
    case ColumnType::Kind::kInteger:
      return actual.integer_min() <= wanted.integer_min() &&
             actual.integer_max() >= wanted.integer_max();
    case ColumnType::Kind::kDecimal:
      // Another scale would print other digits.
      return actual.scale == wanted.scale && actual.precision >= wanted.precision;
    case ColumnType::Kind::kChar:
    case ColumnType::Kind::kVarchar:
    case ColumnType::Kind::kVarbinary:
    case ColumnType::Kind::kText:
    case ColumnType::Kind::kBlob:
      return actual.length >= wanted.length;
    case ColumnType::Kind::kBinary:
      // Another length would come back with other padding.
      return actual.length == wanted.length;
    case ColumnType::Kind::kFloat:
    case ColumnType::Kind::kDouble:
    case ColumnType::Kind::kDate:
    case ColumnType::Kind::kTime:
    case ColumnType::Kind::kDatetime:
    case ColumnType::Kind::kTimestamp:
    case ColumnType::Kind::kYear:
    case ColumnType::Kind::kJson:
      return true;
  }
  return false;
}

const ActualColumn* Find(const std::vector<ActualColumn>& actual, std::string_view name) {
  // Column names are compared without regard to case, as the server does.
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  for (const ActualColumn& column : actual) {
    if (std::equal(column.name.begin(), column.name.end(), name.begin(), name.end(), same)) {
      return &column;
    }
  }
  return nullptr;
}

}  // namespace

Status CheckActualColumns(const TableSchema& table, const std::vector<ActualColumn>& actual) {
  if (actual.empty()) {
    return FailedPrecondition("table \"{}\" does not exist; create it, or write existing: refuse",
                              table.name);
  }
  std::vector<std::string> faults;
  for (const Column& column : table.columns) {
    const ActualColumn* found = Find(actual, column.name);
    if (found == nullptr) {
      faults.push_back(fmt::format("it has no column \"{}\"", column.name));
      continue;
    }
    const StatusOr<ColumnType> type = ParseColumnType(found->type);
    if (!type.ok() || !Holds(*type, column.type)) {
      faults.push_back(
          fmt::format("column \"{}\" is {}, not {}", column.name, found->type, column.type.sql));
    }
  }
  std::vector<std::string> key;
  bool is_whole = true;  // none of the key's columns is missing: that was told above
  bool is_key = true;
  for (const std::uint32_t column : table.key_columns) {
    key.push_back(fmt::format("\"{}\"", table.columns[column].name));
    const ActualColumn* found = Find(actual, table.columns[column].name);
    is_whole &= found != nullptr;
    is_key &= found == nullptr || found->in_primary_key;
  }
  const auto key_columns = static_cast<std::size_t>(
      std::count_if(actual.begin(), actual.end(),
                    [](const ActualColumn& column) { return column.in_primary_key; }));
  if (!is_key || (is_whole && key_columns != key.size())) {
    faults.push_back(fmt::format("its primary key is not the column{} {} alone",
                                 key.size() > 1 ? "s" : "", fmt::join(key, ", ")));
  }
  if (faults.empty()) return absl::OkStatus();
  return FailedPrecondition("table \"{}\" does not fit the spec: {}", table.name,
                            fmt::join(faults, "; "));
}

}  // namespace cavalry::drivers::mysql
