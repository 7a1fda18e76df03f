#include "drivers/cassandra/table_ddl.h"

#include <vector>

#include <fmt/format.h>

#include "drivers/cassandra/names.h"
#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {

std::string CreateKeyspace(std::string_view keyspace, std::string_view replication) {
  return fmt::format("CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {}", QuotedName(keyspace),
                     replication);
}

std::string CreateTable(std::string_view keyspace, const TableSchema& table,
                        std::string_view comment, std::string_view options) {
  std::string cql = fmt::format("CREATE TABLE {} (", TableName(keyspace, table));
  for (const Column& column : table.columns) {
    cql += fmt::format("{} {}, ", QuotedName(column.name), CqlTypeName(CqlTypeOf(column.type)));
  }
  std::vector<std::string> key;
  for (const std::uint32_t column : table.key_columns) {
    key.push_back(QuotedName(table.columns[column].name));
  }
  cql +=
      fmt::format("PRIMARY KEY ({})) WITH comment = {}", fmt::join(key, ", "), QuotedText(comment));
  if (!options.empty()) cql += fmt::format(" AND {}", options);
  return cql;
}

std::string TableName(std::string_view keyspace, const TableSchema& table) {
  return fmt::format("{}.{}", QuotedName(keyspace), QuotedName(table.name));
}

}  // namespace cavalry::drivers::cassandra
