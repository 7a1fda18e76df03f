// The DDL of keyspaces and tables. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "drivers/core/operation.h"

namespace cavalry::drivers::cassandra {

// `replication` as CQL writes it: a map.
std::string CreateKeyspace(std::string_view keyspace, std::string_view replication);

// The first key column is the partition key, the others are clustering columns in rising order.
// `comment` is the table's mark, `options` what else follows WITH; may be empty. REQUIRES: the
// table passed CheckTable.
std::string CreateTable(std::string_view keyspace, const TableSchema& table,
                        std::string_view comment, std::string_view options);

// "keyspace.table", quoted where needed.
std::string TableName(std::string_view keyspace, const TableSchema& table);

}  // namespace cavalry::drivers::cassandra
