#include "drivers/mysql/create_statement.h"

#include <fmt/format.h>

#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {
namespace {

std::string ColumnSql(const Column& column) {
  std::string sql = fmt::format("{} {}{}", QuotedName(column.name), column.type.sql,
                                column.nullable ? " NULL" : " NOT NULL");
  if (!column.default_sql.empty()) sql += " DEFAULT " + column.default_sql;
  if (column.auto_increment) sql += " AUTO_INCREMENT";
  return sql;
}

std::string NameList(const TableSchema& table, const std::vector<std::uint32_t>& columns) {
  std::string list;
  for (const std::uint32_t column : columns) {
    if (!list.empty()) list.push_back(',');
    AppendName(table.columns[column].name, &list);
  }
  return list;
}

std::string CharsetSql(const TableSchema& table) {
  // A binary collation where none is asked for: what is read back is compared byte by byte, and no
  // two texts that differ are equal to the server.
  if (table.charset.empty() && table.collation.empty()) {
    return " DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
  }
  std::string sql =
      " DEFAULT CHARACTER SET " + (table.charset.empty() ? std::string("utf8mb4") : table.charset);
  if (!table.collation.empty()) sql += " COLLATE " + table.collation;
  return sql;
}

}  // namespace

std::string CreateStatement(const TableSchema& table, std::string_view comment) {
  std::string sql = fmt::format("CREATE TABLE {} (", QuotedName(table.name));
  for (const Column& column : table.columns) sql += ColumnSql(column) + ", ";
  sql += fmt::format("PRIMARY KEY ({})", NameList(table, table.key_columns));
  for (const Index& index : table.indexes) {
    sql += fmt::format(", {}INDEX {} ({})", index.unique ? "UNIQUE " : "", QuotedName(index.name),
                       NameList(table, index.columns));
  }
  sql += fmt::format(") ENGINE={}{}", table.engine, CharsetSql(table));
  if (!table.row_format.empty()) sql += " ROW_FORMAT=" + table.row_format;
  sql += " COMMENT=";
  AppendPortableText(comment, &sql);
  if (!table.partition_by.empty()) sql += " PARTITION BY " + table.partition_by;
  return sql;
}

}  // namespace cavalry::drivers::mysql
