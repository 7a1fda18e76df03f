// Messages -> plain types: a workload and an assignment become what agent/load, agent/run and the
// drivers work with (targets: target_plan.h). The workload has its defaults filled in by the
// coordinator; what cannot be used all the same is an error that names it, never a crash. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/load/row_generator.h"
#include "agent/run/load_plan.h"
#include "cavalry/v1/control.pb.h"
#include "core/base/status.h"
#include "drivers/core/driver.h"

namespace cavalry::agent {

inline constexpr int kMaxOperations = 4096;

// A table with the rules that make its rows.
struct TablePlan {
  std::unique_ptr<drivers::TableSchema> schema;
  std::vector<load::ColumnRule> rules;  // one per column
};

// `key_column`: the name that a pattern may use for the key.
StatusOr<load::ColumnRule> MakeColumnRule(const v1::ValueRule& rule, const ColumnType& type,
                                          std::string_view key_column);

StatusOr<TablePlan> MakeTablePlan(const v1::Table& table, std::uint64_t seed);

// The rows of some columns; fails when they would be too long to be kept in memory. `table` must
// outlive it.
StatusOr<load::RowGenerator> MakeGenerator(const drivers::TableSchema& table,
                                           std::vector<std::uint32_t> columns,
                                           std::vector<load::ColumnRule> rules, std::uint64_t seed);

// Everything a step needs but the resolved secrets. `workers`: threads this agent may use.
StatusOr<std::unique_ptr<run::LoadPlan>> MakeLoadPlan(const v1::Assignment& assignment,
                                                      std::uint32_t workers, run::LoopKind loop);

// The operations of a spec over its tables, as drivers check them (preflight).
struct OperationSet {
  std::vector<std::unique_ptr<drivers::TableSchema>> tables;
  std::vector<std::vector<load::ColumnRule>> rules;  // by table and column
  std::vector<drivers::OperationPlan> operations;
};
StatusOr<OperationSet> MakeOperationSet(const v1::Workload& workload);

}  // namespace cavalry::agent
