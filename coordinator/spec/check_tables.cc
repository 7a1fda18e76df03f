#include <algorithm>
#include <map>
#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/scalar.h"
#include "coordinator/spec/spec_check.h"
#include "core/wire/operation_keys.h"

namespace cavalry::spec {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Names that go into SQL as they are.
void CheckSqlWord(const std::string& path, std::string_view what, std::string_view word,
                  Checker* checker) {
  for (const char c : word) {
    const bool good =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) {
      checker->Fault(path, "'{}' is not the name of a {}", word, what);
      return;
    }
  }
}

// SQL of one line: what follows it is a statement of ours.
void CheckSql(const std::string& path, std::string_view sql, Checker* checker) {
  if (sql.find_first_of(std::string_view(";\n\r\0", 4)) == std::string_view::npos) return;
  checker->Fault(path, "must be one line of SQL without ';'");
}

void CheckOptions(const std::string& path, const v1::Table& table, Checker* checker) {
  CheckSqlWord(path + ".engine", "storage engine", table.engine(), checker);
  CheckSqlWord(path + ".charset", "character set", table.charset(), checker);
  CheckSqlWord(path + ".collation", "collation", table.collation(), checker);
  CheckSqlWord(path + ".row_format", "row format", table.row_format(), checker);
  CheckSql(path + ".partition_by", table.partition_by(), checker);
  if (table.rows_from().empty()) return;
  if (table.existing() == v1::EXISTING_USE) {
    checker->Fault(path + ".rows_from", "a table of 'existing: use' is never filled");
  } else if (table.rows() == 0) {
    checker->Fault(path + ".rows_from", "needs 'rows': how many lines of the file are rows");
  }
}

void CheckIndexes(const std::string& path, const v1::Table& table, Checker* checker) {
  std::set<std::string> seen = {"primary"};
  for (const v1::Index& index : table.indexes()) {
    const std::string index_path = fmt::format("{}.indexes.{}", path, index.name());
    CheckIdentifier(index_path, "index", index.name(), checker);
    if (!seen.insert(Lower(index.name())).second) {
      checker->Fault(index_path, "the name is taken, whatever the case of its letters");
    }
    if (index.columns_size() == 0) checker->Fault(index_path, "columns are needed: [a, b]");
    std::set<std::string> columns;
    for (const std::string& name : index.columns()) {
      if (FindColumn(table, name) == nullptr) {
        checker->Fault(index_path, "no column '{}'{}", name,
                       Suggestion(name, ColumnNames(table), "columns"));
      } else if (!columns.insert(name).second) {
        checker->Fault(index_path, "column '{}' is listed twice", name);
      }
    }
  }
}

// Where a key column is named: the value itself, or one of a list.
std::string KeyPath(const std::string& path, const v1::Table& table, int index) {
  return table.primary_key_size() == 1 ? path + ".primary_key"
                                       : fmt::format("{}.primary_key[{}]", path, index);
}

// Whether all key columns are there.
bool CheckKeyColumns(const std::string& path, const v1::Table& table, Checker* checker) {
  bool all = true;
  std::set<std::string> seen;
  for (int i = 0; i < table.primary_key_size(); ++i) {
    const std::string& name = table.primary_key(i);
    const v1::ColumnSpec* key = FindColumn(table, name);
    if (key == nullptr) {
      all = false;
      checker->Fault(KeyPath(path, table, i), "no column '{}'{}", name,
                     Suggestion(name, ColumnNames(table), "columns"));
      continue;
    }
    if (!seen.insert(name).second) {
      checker->Fault(KeyPath(path, table, i), "column '{}' is listed twice", name);
    }
    const std::string column_path = fmt::format("{}.columns.{}", path, name);
    if (key->nullable()) checker->Fault(column_path + ".nullable", "the key cannot be NULL");
  }
  return all;
}

// Columns that are the row's number must hold it, and some column must tell rows apart.
void CheckKeyValues(const std::string& path, const v1::Table& table, Checker* checker) {
  bool apart = false;
  for (const std::string& name : table.primary_key()) {
    const v1::ColumnSpec& key = *FindColumn(table, name);
    const StatusOr<ColumnType> type = ParseColumnType(key.type());
    if (!type.ok()) return;
    apart = apart || TellsRowsApart(key.value(), table, *type);
    const bool number = key.value().rule_case() == v1::ValueRule::RULE_NOT_SET ||
                        (key.value().has_pattern() && type->is_integer());
    if (number && type->is_integer() && table.rows() > type->integer_max()) {
      checker->Fault(path + ".rows", "{} rows are more than keys of type {}, which end at {}",
                     table.rows(), type->sql, type->integer_max());
    }
  }
  if (apart || !table.rows_from().empty()) return;
  const std::string& first = table.primary_key(0);
  checker->Fault(fmt::format("{}.columns.{}", path, first),
                 "the key must differ from row to row; give '{}' a value that holds the row's "
                 "number, as in value: \"{{key}}\"",
                 first);
}

void CheckKey(const std::string& path, const v1::Table& table, Checker* checker) {
  if (table.primary_key_size() == 0) {
    checker->Fault(path, "primary_key is needed: the name of the key column, or a list of names");
    return;
  }
  if (CheckKeyColumns(path, table, checker)) CheckKeyValues(path, table, checker);
}

void CheckAutoIncrement(const std::string& path, const v1::Table& table,
                        const v1::ColumnSpec& column, Checker* checker) {
  const StatusOr<ColumnType> type = ParseColumnType(column.type());
  if (!column.auto_increment() || !type.ok()) return;
  const bool is_key = table.primary_key_size() == 1 && table.primary_key(0) == column.name() &&
                      type->is_integer() && !column.has_value();
  if (!is_key) {
    checker->Fault(path + ".auto_increment",
                   "only for a single key column of an integer type without a value of its own");
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
      continue;
    }
    if (column.has_value()) {
      CheckRule(column_path + ".value", column.value(), table, column, *type, checker);
    }
    CheckAutoIncrement(column_path, table, column, checker);
    CheckSql(column_path + ".default", column.default_(), checker);
  }
}

}  // namespace

void CheckTables(Checker* checker) {
  const auto& operations = checker->written().operations();
  const bool needs_table =
      std::any_of(operations.begin(), operations.end(), [](const v1::OperationSpec& one) {
        return wire::KeysOf(one) != nullptr || one.has_insert();
      });
  if (checker->written().tables_size() == 0 && needs_table) {
    checker->Fault("tables",
                   "the operations need a table, such as 'customer: { rows: 1000, "
                   "primary_key: id, columns: { id: { type: int } } }'");
  }
  for (const v1::Table& table : checker->filled().tables()) {
    const std::string path = fmt::format("tables.{}", table.name());
    CheckIdentifier(path, "table", table.name(), checker);
    CheckOptions(path, table, checker);
    CheckKey(path, table, checker);
    CheckIndexes(path, table, checker);
    CheckColumns(path, table, checker);
  }
}

}  // namespace cavalry::spec
