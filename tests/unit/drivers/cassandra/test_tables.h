// Tables and operations that the tests share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {

inline Column MakeColumn(std::string name, std::string_view type, bool nullable = false) {
  Column column;
  column.name = std::move(name);
  column.type = ParseColumnType(type).value();
  column.nullable = nullable;
  return column;
}

// user (id int, name varchar(20) null, "Age" smallint unsigned, born date null), key id.
inline TableSchema UserTable() {
  TableSchema table;
  table.name = "user";
  table.columns = {MakeColumn("id", "int"), MakeColumn("name", "varchar(20)", true),
                   MakeColumn("Age", "smallint unsigned"), MakeColumn("born", "date", true)};
  table.engine = "InnoDB";
  return table;
}

// "Lines" (item varchar(10), "order" bigint, line int, paid boolean), key (order, line, item).
inline TableSchema LinesTable() {
  TableSchema table;
  table.name = "Lines";
  table.columns = {MakeColumn("item", "varchar(10)"), MakeColumn("order", "bigint"),
                   MakeColumn("line", "int"), MakeColumn("paid", "boolean")};
  table.key_columns = {1, 2, 0};
  table.key_is_number = false;
  table.engine = "InnoDB";
  return table;
}

inline OperationPlan MakePlan(OperationKind kind, const TableSchema* table,
                              std::vector<std::uint32_t> columns = {}) {
  OperationPlan plan;
  plan.name = "it";
  plan.kind = kind;
  plan.table = table;
  plan.columns = std::move(columns);
  return plan;
}

}  // namespace cavalry::drivers::cassandra
