// Tables: messages -> schemas and the rules that make their rows. Any thread. Reads the file of
// `rows_from`, hence blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "agent/load/row_generator.h"
#include "agent/value_rule.h"
#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::agent {

// A table with the rules that make its rows.
struct TablePlan {
  std::unique_ptr<drivers::TableSchema> schema;
  std::vector<load::ColumnRule> rules;  // one per column
};

StatusOr<TablePlan> MakeTablePlan(const v1::Table& table, std::uint64_t seed);

// What the patterns of a table's columns may name. Views of both arguments.
PatternNames NamesOf(const drivers::TableSchema& schema,
                     const std::vector<load::ColumnRule>& rules);

StatusOr<std::uint32_t> ColumnIndex(const drivers::TableSchema& table, std::string_view name);

// The rows of some columns; fails when they would be too long to be kept in memory. `table` must
// outlive it.
StatusOr<load::RowGenerator> MakeGenerator(const drivers::TableSchema& table,
                                           std::vector<std::uint32_t> columns,
                                           std::vector<load::ColumnRule> rules, std::uint64_t seed);

}  // namespace cavalry::agent
