// Rules of values: messages -> what agent/load generates from. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "agent/load/row_generator.h"
#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::agent {

// What a pattern may name beside {key}, {version} and {digits:n}.
struct PatternNames {
  std::string_view key;  // the single key column; "" if there are several
  // Other columns and their rules, for {column+10}; null: none. As long as `rules`.
  const drivers::TableSchema* table = nullptr;
  const std::vector<load::ColumnRule>* rules = nullptr;
};

// A rule that is not set is what fits the type.
StatusOr<load::ColumnRule> MakeColumnRule(const v1::ValueRule& rule, const ColumnType& type,
                                          const PatternNames& names);

}  // namespace cavalry::agent
