#include <map>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/scalar.h"

namespace cavalry::spec {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The engine's name goes into SQL as it is.
void CheckEngine(const std::string& path, std::string_view engine, Checker* checker) {
  for (const char c : engine) {
    const bool good =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) {
      checker->Fault(path + ".engine", "'{}' is not the name of a storage engine", engine);
      return;
    }
  }
}

void CheckKey(const std::string& path, const v1::Table& table, Checker* checker) {
  if (table.primary_key().empty()) {
    checker->Fault(path, "primary_key is needed: the name of an integer column");
    return;
  }
  const v1::ColumnSpec* key = FindColumn(table, table.primary_key());
  if (key == nullptr) {
    checker->Fault(path + ".primary_key", "no column '{}'{}", table.primary_key(),
                   Suggestion(table.primary_key(), ColumnNames(table), "columns"));
    return;
  }
  const std::string column_path = fmt::format("{}.columns.{}", path, key->name());
  if (key->nullable()) checker->Fault(column_path + ".nullable", "the key cannot be NULL");
  if (key->has_value()) {
    checker->Fault(column_path + ".value", "the key's value is the key; leave 'value' out");
  }
  const StatusOr<ColumnType> type = ParseColumnType(key->type());
  if (!type.ok()) return;
  if (!type->is_integer()) {
    checker->Fault(column_path + ".type", "the key must be of an integer type, not {}", type->sql);
  } else if (table.rows() > type->integer_max()) {
    checker->Fault(path + ".rows", "{} rows are more than keys of type {}, which end at {}",
                   table.rows(), type->sql, type->integer_max());
  }
}

void CheckColumns(const std::string& path, const v1::Table& table, Checker* checker) {
  if (table.columns_size() == 0) {
    checker->Fault(path, "columns are needed, at least the key: 'columns: { id: { type: int } }'");
  }
  std::map<std::string, std::string> seen;  // servers do not tell column names apart by case
  for (const v1::ColumnSpec& column : table.columns()) {
    const std::string column_path = fmt::format("{}.columns.{}", path, column.name());
    CheckIdentifier(column_path, "column", column.name(), checker);
    const auto [first, is_new] = seen.emplace(Lower(column.name()), column.name());
    if (!is_new && first->second != column.name()) {
      checker->Fault(column_path, "differs from column '{}' only in case", first->second);
    }
    if (column.type().empty()) {
      checker->Fault(column_path, "type is needed, such as int or varchar(25)");
      continue;
    }
    const StatusOr<ColumnType> type = ParseColumnType(column.type());
    if (!type.ok()) {
      checker->Fault(column_path + ".type", StatusText(type.status()));
    } else if (column.has_value() && column.name() != table.primary_key()) {
      CheckRule(column_path + ".value", column.value(), table, column, *type, checker);
    }
  }
}

}  // namespace

void CheckTables(Checker* checker) {
  if (checker->written().tables_size() == 0 && checker->written().operations_size() > 0) {
    checker->Fault("tables",
                   "the operations need a table, such as 'customer: { rows: 1000, "
                   "primary_key: id, columns: { id: { type: int } } }'");
  }
  for (const v1::Table& table : checker->filled().tables()) {
    const std::string path = fmt::format("tables.{}", table.name());
    CheckIdentifier(path, "table", table.name(), checker);
    CheckEngine(path, table.engine(), checker);
    CheckKey(path, table, checker);
    CheckColumns(path, table, checker);
  }
}

}  // namespace cavalry::spec
