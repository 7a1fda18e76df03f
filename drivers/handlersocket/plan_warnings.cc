#include "drivers/handlersocket/plan_warnings.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace cavalry::drivers::handlersocket {
namespace {

bool Has(const std::vector<std::uint32_t>& columns, std::uint32_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// What becomes of a column that an insert does not list. The server's default row is taken with its
// constants, all its NULLs are cleared, and no expression is worked out.
enum class Unlisted {
  kDefault,     // as in SQL
  kNotNull,     // zero or '' instead of NULL
  kNoDefault,   // zero or '' where SQL refuses the insert
  kExpression,  // zero or '' instead of what the expression gives
};

Unlisted WhatBecomesOf(const Column& column) {
  if (column.auto_increment) return Unlisted::kDefault;
  const std::string sql = LowerCase(column.default_sql);
  if (sql.empty() || sql == "null") {
    return column.nullable ? Unlisted::kNotNull : Unlisted::kNoDefault;
  }
  const bool constant =
      std::string_view("'\"+-.0123456789").find(sql.front()) != std::string_view::npos ||
      sql == "true" || sql == "false";
  return constant ? Unlisted::kDefault : Unlisted::kExpression;
}

// Where a scan's first row is, seen from the value it starts from.
std::string_view Where(Comparison comparison) {
  switch (comparison) {
    case Comparison::kGreater:
      return "above";
    case Comparison::kGreaterEqual:
      return "at or above";
    case Comparison::kLess:
      return "below";
    case Comparison::kLessEqual:
      return "at or below";
    default:
      return "at";
  }
}

class PlanWarnings {
 public:
  PlanWarnings(const OperationPlan& plan, std::vector<std::string>* warnings)
      : plan_(plan), table_(*plan.table), warnings_(warnings) {}

  void Run() {
    switch (plan_.kind) {
      case OperationKind::kInsert:
        WarnOfUnlisted();
        WarnOfBatch();
        break;
      case OperationKind::kUpdate:
        WarnOfOnUpdate();
        break;
      case OperationKind::kIncrement:
        WarnOfOnUpdate();
        WarnOfBounds();
        break;
      case OperationKind::kScan:
        WarnOfIn();
        WarnOfNullFilters();
        break;
      default:
        break;
    }
    // A table of cavalry's own making is none and has none of these.
    if (!table_.use_as_is) return;
    // Seen with MariaDB 10.11: open_index of a view is a null pointer in the plugin.
    Warn("make sure that {} is no view: HandlerSocket ends the whole server when it opens one",
         table_.name);
    if (!IsWrite(plan_.kind)) return;
    Warn(
        "HandlerSocket runs no triggers, CHECK constraints, DEFAULT CURRENT_TIMESTAMP or ON UPDATE "
        "of table {}, and gives columns that the spec does not list 0 or '' instead of NULL",
        table_.name);
  }

 private:
  template <typename... Arguments>
  void Warn(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    warnings_->push_back(fmt::format("operation {}: {}", plan_.name,
                                     fmt::format(text, std::forward<Arguments>(arguments)...)));
  }

  void WarnOfUnlisted() {
    const auto warn = [this](Unlisted fate, std::string_view instead) {
      std::string names;
      for (std::uint32_t i = 0; i < table_.columns.size(); ++i) {
        const Column& column = table_.columns[i];
        if (Has(plan_.columns, i) || WhatBecomesOf(column) != fate) continue;
        names += names.empty() ? "" : ", ";
        names += column.name;
        if (fate == Unlisted::kExpression) names += fmt::format(" ({})", column.default_sql);
      }
      if (names.empty()) return;
      Warn("unlisted columns of {} get 0 or '' from HandlerSocket {}: {}. List them", table_.name,
           instead, names);
    };
    warn(Unlisted::kNotNull, "instead of NULL");
    warn(Unlisted::kNoDefault, "where SQL would refuse the row");
    warn(Unlisted::kExpression, "instead of their default, which is not run");
  }

  void WarnOfBatch() {
    if (plan_.batch == 1) return;
    Warn(
        "HandlerSocket has no insert of several rows: the {} rows are sent as so many requests at "
        "once, of which some can be done and others not",
        plan_.batch);
  }

  void WarnOfOnUpdate() {
    for (std::uint32_t i = 0; i < table_.columns.size(); ++i) {
      const Column& column = table_.columns[i];
      if (LowerCase(column.default_sql).find("on update") == std::string::npos) continue;
      if (!Has(plan_.columns, i)) {
        Warn("HandlerSocket does not run ON UPDATE of column {} of {}", column.name, table_.name);
      }
    }
  }

  void WarnOfBounds() {
    const Column& column = table_.columns[plan_.columns.front()];
    if (plan_.amount >= 0) {
      Warn("a sum beyond the range of {} becomes its bound without an error, where SQL refuses it",
           column.name);
      return;
    }
    Warn("HandlerSocket leaves a row as it is whose {} would fall below zero{}", column.name,
         plan_.returning ? ", but returns it all the same" : ": a miss");
  }

  void WarnOfIn() {
    const ScanPlan& scan = plan_.scan;
    if (scan.in.empty()) return;
    if (scan.comparison != Comparison::kEqual) {
      Warn(
          "in gives one row for each value, the first one {} it, not the rows whose key is in the "
          "list; for those write comparison: eq",
          Where(scan.comparison));
    } else if (!FindsOneRow()) {
      Warn(
          "in gives only the first row for each value: {} is no unique index of which all columns "
          "are compared",
          scan.index);
    }
    if (std::size_t{scan.limit} < scan.in.size()) {
      Warn("limit {} is below the {} values of in: the server stops at the limit", scan.limit,
           scan.in.size());
    }
  }

  // Whether at most one row is equal to the values that the scan compares.
  bool FindsOneRow() const {
    const ScanPlan& scan = plan_.scan;
    if (scan.index.empty()) return scan.columns.size() == table_.key_columns.size();
    const auto found = std::find_if(table_.indexes.begin(), table_.indexes.end(),
                                    [&](const Index& index) { return index.name == scan.index; });
    return found != table_.indexes.end() && found->unique &&
           found->columns.size() == scan.columns.size();
  }

  void WarnOfNullFilters() {
    for (const Filter& filter : plan_.scan.filters) {
      const Column& column = table_.columns[filter.column];
      const bool takes_null = filter.comparison == Comparison::kNotEqual ||
                              filter.comparison == Comparison::kLess ||
                              filter.comparison == Comparison::kLessEqual;
      if (!column.nullable || filter.is_null || !takes_null) continue;
      Warn(
          "filter {}: to HandlerSocket NULL is less than any value, so it keeps rows with NULL, "
          "which "
          "SQL leaves out",
          column.name);
    }
  }

  const OperationPlan& plan_;
  const TableSchema& table_;
  std::vector<std::string>* const warnings_;
};

}  // namespace

void AddWarnings(const OperationPlan& plan, std::vector<std::string>* warnings) {
  PlanWarnings(plan, warnings).Run();
}

}  // namespace cavalry::drivers::handlersocket
