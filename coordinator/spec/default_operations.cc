#include "coordinator/spec/checker.h"
#include "coordinator/spec/default_parts.h"

namespace cavalry::spec {
namespace {

constexpr double kDefaultTheta = 0.99;
constexpr std::uint32_t kDefaultMultiRead = 10;
constexpr std::uint32_t kDefaultLimit = 100;

const v1::Table* FindTable(const v1::Workload& workload, const std::string& name) {
  for (const v1::Table& table : workload.tables()) {
    if (table.name() == name) return &table;
  }
  return nullptr;
}

template <typename Sequence>
void FillRange(const v1::Table& table, Sequence* sequence) {
  if (sequence->has_range()) return;
  sequence->mutable_range()->set_first(1);
  sequence->mutable_range()->set_last(table.rows());
}

template <typename Shares>
void FillShares(const v1::Table& table, double keys_percent, double operations_percent,
                Shares* shares) {
  if (!shares->has_keys_percent()) shares->set_keys_percent(keys_percent);
  if (!shares->has_operations_percent()) shares->set_operations_percent(operations_percent);
  FillRange(table, shares);
}

void FillKeys(const v1::Table& table, bool sequential, v1::Keys* keys) {
  if (keys->sequence_case() == v1::Keys::SEQUENCE_NOT_SET) {
    if (sequential) {
      keys->mutable_sequential();
    } else {
      keys->mutable_uniform();
    }
  }
  switch (keys->sequence_case()) {
    case v1::Keys::kSequential:
      return FillRange(table, keys->mutable_sequential());
    case v1::Keys::kUniform:
      return FillRange(table, keys->mutable_uniform());
    case v1::Keys::kZipf:
      if (!keys->zipf().has_theta()) keys->mutable_zipf()->set_theta(kDefaultTheta);
      return FillRange(table, keys->mutable_zipf());
    case v1::Keys::kLatest:
      if (!keys->latest().has_theta()) keys->mutable_latest()->set_theta(kDefaultTheta);
      return;
    case v1::Keys::kHotspot:
      return FillShares(table, 20, 80, keys->mutable_hotspot());
    case v1::Keys::kExponential:
      return FillShares(table, 10, 95, keys->mutable_exponential());
    default:
      return;
  }
}

void FillSet(const v1::Table& table, v1::SetColumn* set) {
  const v1::ColumnSpec* column = FindColumn(table, set->column());
  if (column == nullptr) return;
  if (set->value().rule_case() == v1::ValueRule::RULE_NOT_SET) {
    set->clear_value();
    if (column->has_value()) *set->mutable_value() = column->value();
    return;
  }
  const StatusOr<ColumnType> type = ParseColumnType(column->type());
  if (type.ok()) FillRule(*type, set->mutable_value());
}

// Gives the operation its table, when the spec has only one. Null if there is none.
const v1::Table* FillTable(const v1::Workload& workload, std::string* name) {
  if (name->empty() && workload.tables_size() == 1) *name = workload.tables(0).name();
  return FindTable(workload, *name);
}

// Columns that are read: all.
template <typename Operation>
void FillColumns(const v1::Table& table, Operation* operation) {
  if (operation->columns_size() > 0) return;
  for (const v1::ColumnSpec& column : table.columns()) operation->add_columns(column.name());
}

// Columns that are given: all but those that the server numbers.
void FillInsert(const v1::Table& table, v1::Insert* insert) {
  if (!insert->has_batch()) insert->set_batch(1);
  if (insert->columns_size() > 0) return;
  for (const v1::ColumnSpec& column : table.columns()) {
    if (!column.auto_increment()) insert->add_columns(column.name());
  }
}

void FillScan(const v1::Table& table, v1::Scan* scan) {
  FillKeys(table, false, scan->mutable_keys());
  FillColumns(table, scan);
  if (scan->comparison() == v1::COMPARISON_UNSPECIFIED) scan->set_comparison(v1::COMPARISON_GE);
  if (!scan->has_limit()) scan->set_limit(kDefaultLimit);
  for (v1::Filter& filter : *scan->mutable_filters()) {
    if (filter.comparison() == v1::COMPARISON_UNSPECIFIED) {
      filter.set_comparison(v1::COMPARISON_EQ);
    }
  }
}

// Parameters without keys are worth their own rule; bounds of numbers are those of no column.
void FillParameter(const v1::Workload& workload, v1::Parameter* parameter) {
  if (!parameter->has_keys()) {
    const StatusOr<ColumnType> type = ParseColumnType("text");
    if (parameter->has_value() && type.ok()) FillRule(*type, parameter->mutable_value());
    return;
  }
  const v1::Table* table = FillTable(workload, parameter->mutable_table());
  if (table != nullptr) FillKeys(*table, false, parameter->mutable_keys());
}

void FillOperation(const v1::Workload& workload, v1::OperationSpec* operation) {
  switch (operation->kind_case()) {
    case v1::OperationSpec::kRead: {
      v1::Read* read = operation->mutable_read();
      if (read->verify() == v1::VERIFY_UNSPECIFIED) read->set_verify(v1::VERIFY_SAMPLED);
      const v1::Table* table = FillTable(workload, read->mutable_table());
      if (table == nullptr) return;
      FillKeys(*table, false, read->mutable_keys());
      return FillColumns(*table, read);
    }
    case v1::OperationSpec::kMultiRead: {
      v1::MultiRead* read = operation->mutable_multi_read();
      if (!read->has_count()) read->set_count(kDefaultMultiRead);
      const v1::Table* table = FillTable(workload, read->mutable_table());
      if (table == nullptr) return;
      FillKeys(*table, false, read->mutable_keys());
      return FillColumns(*table, read);
    }
    case v1::OperationSpec::kScan: {
      const v1::Table* table = FillTable(workload, operation->mutable_scan()->mutable_table());
      if (table != nullptr) FillScan(*table, operation->mutable_scan());
      return;
    }
    case v1::OperationSpec::kInsert: {
      const v1::Table* table = FillTable(workload, operation->mutable_insert()->mutable_table());
      if (table != nullptr) FillInsert(*table, operation->mutable_insert());
      return;
    }
    case v1::OperationSpec::kUpdate: {
      v1::Update* update = operation->mutable_update();
      const v1::Table* table = FillTable(workload, update->mutable_table());
      if (table == nullptr) return;
      FillKeys(*table, false, update->mutable_keys());
      for (v1::SetColumn& set : *update->mutable_set()) FillSet(*table, &set);
      return;
    }
    case v1::OperationSpec::kIncrement: {
      v1::Increment* increment = operation->mutable_increment();
      if (!increment->has_by()) increment->set_by(1);
      const v1::Table* table = FillTable(workload, increment->mutable_table());
      if (table != nullptr) FillKeys(*table, false, increment->mutable_keys());
      return;
    }
    case v1::OperationSpec::kDelete: {
      v1::Delete* remove = operation->mutable_delete_();
      const v1::Table* table = FillTable(workload, remove->mutable_table());
      if (table != nullptr) FillKeys(*table, true, remove->mutable_keys());
      return;
    }
    case v1::OperationSpec::kNative:
      for (v1::Parameter& parameter : *operation->mutable_native()->mutable_parameters()) {
        FillParameter(workload, &parameter);
      }
      return;
    default:
      return;
  }
}

}  // namespace

void FillOperations(v1::Workload* workload) {
  for (v1::OperationSpec& operation : *workload->mutable_operations()) {
    FillOperation(*workload, &operation);
  }
}

}  // namespace cavalry::spec
