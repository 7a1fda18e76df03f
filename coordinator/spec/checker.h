// What the checks of a spec share: the document, its workload with defaults filled in, and the list
// of faults. One file a subject: check_targets, check_tables, check_rules, check_operations,
// check_keys, check_script, check_load, check_conditions, check_run, check_sweep. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/spec/fault_list.h"
#include "coordinator/spec/spec_document.h"
#include "core/base/column_type.h"

namespace cavalry::spec {

class Checker {
 public:
  // Both must outlive the checker.
  Checker(const SpecDocument& document, FaultList* faults);

  // As written, and with defaults: elements have the same paths in both, and all but operations the
  // same indexes.
  const v1::Workload& written() const { return document_.workload; }
  const v1::Workload& filled() const { return filled_; }

  // Whether the file (or --set) says something of the path itself.
  bool Says(std::string_view path) const { return document_.positions.contains(path); }

  void Fault(std::string_view path, std::string_view text);
  template <typename Arg, typename... Args>
  void Fault(std::string_view path, fmt::format_string<Arg, Args...> format, Arg&& arg,
             Args&&... args) {
    Fault(path, std::string_view(
                    fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }

  // Null if there is none of that name.
  const v1::Target* FindTarget(std::string_view name) const;
  const v1::Table* FindTable(std::string_view name) const;
  const v1::OperationSpec* FindOperation(std::string_view name) const;

  std::vector<std::string> TargetNames() const;

 private:
  const SpecDocument& document_;
  v1::Workload filled_;
  FaultList* faults_;
};

// Null if there is none of that name.
const v1::ColumnSpec* FindColumn(const v1::Table& table, std::string_view name);
std::vector<std::string> ColumnNames(const v1::Table& table);

// Whether it is one of the table's key columns.
bool IsKeyColumn(const v1::Table& table, std::string_view column);
// The column that the server numbers; null if there is none.
const v1::ColumnSpec* AutoIncrementColumn(const v1::Table& table);

// A fault for a name that is no [A-Za-z0-9_.-]{1,64}: such names go into paths, thresholds and
// reports.
void CheckWord(std::string_view path, std::string_view name, Checker* checker);

// A fault for a name that no server takes as that of a database, table or column.
void CheckIdentifier(std::string_view path, std::string_view what, std::string_view name,
                     Checker* checker);

// A fault for a count that is 0 or above `highest`.
void CheckPositive(std::string_view path, std::uint64_t value, std::uint64_t highest,
                   Checker* checker);

// Whether a rule's values fit a column of `table`.
void CheckRule(const std::string& path, const v1::ValueRule& rule, const v1::Table& table,
               const v1::ColumnSpec& column, const ColumnType& type, Checker* checker);

// Whether a rule can give the value of a native statement's parameter.
void CheckParameterRule(const std::string& path, const v1::ValueRule& rule, Checker* checker);

// Whether the rule gives each row of a table another value; `type`: of its column.
bool TellsRowsApart(const v1::ValueRule& rule, const v1::Table& table, const ColumnType& type);

// Whether keys (with defaults) can be drawn from `table`.
void CheckKeys(const std::string& path, const v1::Keys& keys, const v1::Table& table,
               Checker* checker);

void CheckTargets(Checker* checker);
void CheckTables(Checker* checker);
void CheckOperations(Checker* checker);
void CheckScripts(Checker* checker);
void CheckLoads(Checker* checker);
void CheckConditions(Checker* checker);
void CheckRun(Checker* checker);
void CheckSweep(Checker* checker);

}  // namespace cavalry::spec
