// The CQL of each kind of operation. See statement.h.
#include "drivers/cassandra/statement.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/cassandra/consistency.h"
#include "drivers/cassandra/cql_literal.h"
#include "drivers/cassandra/cql_text.h"
#include "drivers/cassandra/names.h"

namespace cavalry::drivers::cassandra {
namespace {

std::string_view ComparisonCql(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "=";
    case Comparison::kGreater:
      return ">";
    case Comparison::kGreaterEqual:
      return ">=";
    case Comparison::kLess:
      return "<";
    case Comparison::kLessEqual:
      return "<=";
    case Comparison::kNotEqual:
      return "!=";
  }
  return "=";
}

bool IsFalling(Comparison comparison) {
  return comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
}

Consistency LevelOf(const Settings& settings, std::string_view name, Consistency fallback) {
  const std::string word = settings.Text(name, ConsistencyName(fallback));
  return ParseConsistency(word).value_or(fallback);
}

class Planner {
 public:
  Planner(const StatementOptions& options, const OperationPlan& operation)
      : options_(options), operation_(operation), table_(operation.table) {}

  StatementPlan Plan() {
    plan_.operation = &operation_;
    plan_.serial = options_.serial;
    plan_.consistency = options_.write;
    switch (operation_.kind) {
      case OperationKind::kRead:
        PlanSelect();
        Add(" WHERE ");
        AddKey();
        break;
      case OperationKind::kMultiRead:
        PlanMultiRead();
        break;
      case OperationKind::kScan:
        PlanScan();
        break;
      case OperationKind::kInsert:
        PlanInsert();
        break;
      case OperationKind::kUpdate:
        PlanUpdate();
        break;
      case OperationKind::kDelete:
        Add("DELETE FROM " + Table() + " WHERE ");
        AddKey();
        AddCondition(" IF EXISTS");
        break;
      case OperationKind::kNative:
        PlanNative();
        break;
      default:
        CheckFailed(__FILE__, __LINE__, "CheckOperation passed");
    }
    return std::move(plan_);
  }

 private:
  void Add(std::string_view text) { plan_.cql.append(text); }
  const Column& ColumnAt(std::uint32_t column) const { return table_->columns[column]; }
  std::string Name(std::uint32_t column) const { return QuotedName(ColumnAt(column).name); }
  std::string Table() const {
    return fmt::format("{}.{}", QuotedName(options_.keyspace), QuotedName(table_->name));
  }
  std::uint32_t PartitionColumn() const { return table_->key_columns.front(); }

  void AddParameter(Parameter::Source source, std::uint32_t index, std::uint32_t column) {
    plan_.parameters.push_back({source, index, CqlTypeOf(ColumnAt(column).type), {}});
    Add("?");
  }
  void RouteByLast() { plan_.routing = {static_cast<std::uint32_t>(plan_.parameters.size() - 1)}; }
  void AddCondition(std::string_view condition) {
    if (!options_.conditional) return;
    plan_.conditional = true;
    Add(condition);
  }

  void AddKey() {
    for (std::uint32_t i = 0; i < table_->key_columns.size(); ++i) {
      if (i > 0) Add(" AND ");
      Add(Name(table_->key_columns[i]) + "=");
      AddParameter(Parameter::Source::kKey, i, table_->key_columns[i]);
      if (i == 0) RouteByLast();
    }
  }

  void PlanSelect() {
    plan_.reads = true;
    plan_.consistency = options_.read;
    Add("SELECT ");
    for (std::size_t i = 0; i < operation_.columns.size(); ++i) {
      if (i > 0) Add(",");
      Add(Name(operation_.columns[i]));
      plan_.columns.push_back(ColumnAt(operation_.columns[i]));
    }
    Add(" FROM " + Table());
  }

  void PlanMultiRead() {
    PlanSelect();
    Add(" WHERE ");
    // CheckOperation: a key of several columns has a batch of 1.
    if (table_->key_columns.size() > 1) return AddKey();
    Add(Name(PartitionColumn()) + " IN (");
    for (std::uint32_t i = 0; i < operation_.batch; ++i) {
      if (i > 0) Add(",");
      AddParameter(Parameter::Source::kKey, i, PartitionColumn());
      // At least this one of the partitions is then where the request goes.
      if (i == 0) RouteByLast();
    }
    Add(")");
  }

  void PlanScan() {
    PlanSelect();
    Add(" WHERE ");
    AddScanRange();
    for (const Filter& filter : operation_.scan.filters) {
      Add(fmt::format(" AND {}{}{}", Name(filter.column), ComparisonCql(filter.comparison),
                      FilterLiteral(ColumnAt(filter.column), filter.value).value_or("")));
    }
    const bool in_partition = operation_.scan.columns.size() > 1;
    if (in_partition && IsFalling(operation_.scan.comparison)) {
      Add(fmt::format(" ORDER BY {} DESC", Name(table_->key_columns[1])));
    }
    Add(fmt::format(" LIMIT {}", operation_.scan.limit));
    if (!operation_.scan.filters.empty()) Add(" ALLOW FILTERING");
  }

  void AddScanRange() {
    const ScanPlan& scan = operation_.scan;
    const auto parts = static_cast<std::uint32_t>(scan.columns.size());
    const std::string partition = Name(scan.columns[0]);
    if (!scan.in.empty()) {
      Add(fmt::format("{} IN ({})", partition, fmt::join(scan.in, ",")));
      return AddEqual(1, parts);
    }
    if (parts == 1 && scan.comparison != Comparison::kEqual) {
      // Partitions follow one another by their tokens only.
      Add(fmt::format("token({}){}token(", partition, ComparisonCql(scan.comparison)));
      AddParameter(Parameter::Source::kKey, 0, scan.columns[0]);
      RouteByLast();
      return Add(")");
    }
    Add(partition + "=");
    AddParameter(Parameter::Source::kKey, 0, scan.columns[0]);
    RouteByLast();
    if (scan.comparison == Comparison::kEqual) return AddEqual(1, parts);
    // Rows of a partition are ordered by the clustering columns together.
    Add(parts == 2 ? " AND " : " AND (");
    for (std::uint32_t i = 1; i < parts; ++i) {
      if (i > 1) Add(",");
      Add(Name(scan.columns[i]));
    }
    Add(parts == 2 ? "" : ")");
    Add(ComparisonCql(scan.comparison));
    Add(parts == 2 ? "" : "(");
    for (std::uint32_t i = 1; i < parts; ++i) {
      if (i > 1) Add(",");
      AddParameter(Parameter::Source::kKey, i, scan.columns[i]);
    }
    Add(parts == 2 ? "" : ")");
  }

  void AddEqual(std::uint32_t first, std::uint32_t parts) {
    for (std::uint32_t i = first; i < parts; ++i) {
      Add(" AND " + Name(operation_.scan.columns[i]) + "=");
      AddParameter(Parameter::Source::kKey, i, operation_.scan.columns[i]);
    }
  }

  void PlanInsert() {
    plan_.is_batch = operation_.batch > 1;
    plan_.logged = options_.logged_batches;
    Add("INSERT INTO " + Table() + " (");
    const auto width = static_cast<std::uint32_t>(operation_.columns.size());
    for (std::uint32_t i = 0; i < width; ++i) {
      if (i > 0) Add(",");
      Add(Name(operation_.columns[i]));
    }
    Add(") VALUES (");
    for (std::uint32_t i = 0; i < width; ++i) {
      if (i > 0) Add(",");
      AddParameter(Parameter::Source::kValue, i, operation_.columns[i]);
      if (operation_.columns[i] == PartitionColumn()) RouteByLast();
    }
    Add(")");
    AddCondition(" IF NOT EXISTS");
  }

  void PlanUpdate() {
    Add("UPDATE " + Table() + " SET ");
    for (std::uint32_t i = 0; i < operation_.columns.size(); ++i) {
      if (i > 0) Add(",");
      Add(Name(operation_.columns[i]) + "=");
      AddParameter(Parameter::Source::kValue, i, operation_.columns[i]);
    }
    Add(" WHERE ");
    AddKey();
    AddCondition(" IF EXISTS");
  }

  void PlanNative() {
    plan_.cql = operation_.statement;
    plan_.reads = true;
    if (LookAtCql(operation_.statement).is_select) plan_.consistency = options_.read;
    for (std::uint32_t i = 0; i < operation_.parameters; ++i) {
      plan_.parameters.push_back({Parameter::Source::kValue, i, CqlType::kBigint, {}});
    }
  }

  const StatementOptions& options_;
  const OperationPlan& operation_;
  const TableSchema* const table_;  // null: native
  StatementPlan plan_;
};

}  // namespace

StatementOptions StatementOptions::FromSettings(const Settings& settings) {
  StatementOptions options;
  options.keyspace = settings.Text("keyspace", "");
  options.read = LevelOf(settings, "consistency.read", options.read);
  options.write = LevelOf(settings, "consistency.write", options.write);
  options.serial = LevelOf(settings, "consistency.serial", options.serial);
  options.prepared = settings.Text("statements", "prepared") != "text";
  options.conditional = settings.Text("conditional", "false") == "true";
  options.logged_batches = settings.Text("logged_batches", "false") == "true";
  options.page_size = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(settings.Number("page_size", options.page_size), 1, INT32_MAX));
  return options;
}

StatementPlan PlanStatement(const StatementOptions& options, const OperationPlan& operation) {
  return Planner(options, operation).Plan();
}

}  // namespace cavalry::drivers::cassandra
