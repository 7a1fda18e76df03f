#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/scalar.h"
#include "coordinator/spec/schema.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/clock.h"

namespace cavalry::spec {
namespace {

constexpr std::uint32_t kMaxBatch = 10'000;
constexpr std::uint32_t kMaxScanRows = 1'000'000'000;
constexpr int kMaxInValues = 10'000;
constexpr std::uint64_t kMaxSleep = 366ULL * 24 * 3'600 * kSecond;

class OperationCheck {
 public:
  OperationCheck(const v1::OperationSpec& operation, Checker* checker)
      : operation_(operation),
        path_(fmt::format("operations.{}", operation.name())),
        checker_(checker) {}

  void Run() {
    CheckWord(path_, operation_.name(), checker_);
    const std::string kind = KindName(operation_);
    if (kind.empty()) {
      checker_->Fault(path_, "does nothing; it needs one of: {}",
                      fmt::join(OneofMembers(v1::OperationSpec::descriptor()), ", "));
      return;
    }
    // In a script the name alone means the kind.
    if (IsImplicitOperation(operation_.name()) && kind != operation_.name()) {
      checker_->Fault(path_,
                      "'{0}' means the operation that needs no listing, {0}; give this one "
                      "another name",
                      operation_.name());
    }
    path_ += "." + kind;
    switch (operation_.kind_case()) {
      case v1::OperationSpec::kRead:
        return Read(operation_.read());
      case v1::OperationSpec::kMultiRead:
        return MultiRead(operation_.multi_read());
      case v1::OperationSpec::kScan:
        return Scan(operation_.scan());
      case v1::OperationSpec::kInsert:
        return Insert(operation_.insert());
      case v1::OperationSpec::kUpdate:
        return Update(operation_.update());
      case v1::OperationSpec::kIncrement:
        return Increment(operation_.increment());
      case v1::OperationSpec::kDelete:
        TableWithKeys(operation_.delete_().table(), operation_.delete_().keys());
        return;
      case v1::OperationSpec::kNative:
        return Native(operation_.native());
      case v1::OperationSpec::kSleep:
        return Sleep(operation_.sleep());
      default:
        return;
    }
  }

 private:
  void Read(const v1::Read& read) {
    const v1::Table* table = TableWithKeys(read.table(), read.keys());
    if (table != nullptr) Columns(read.columns(), *table);
  }

  void MultiRead(const v1::MultiRead& read) {
    CheckPositive(path_ + ".count", read.count(), kMaxBatch, checker_);
    const v1::Table* table = TableWithKeys(read.table(), read.keys());
    if (table == nullptr) return;
    Columns(read.columns(), *table);
    if (read.keys().has_same_as()) {
      checker_->Fault(path_ + ".keys.same_as", "several keys cannot all be the same one");
    }
    for (const v1::Range* range :
         {&read.keys().sequential().range(), &read.keys().uniform().range(),
          &read.keys().zipf().range(), &read.keys().hotspot().range(),
          &read.keys().exponential().range()}) {
      if (range->last() < range->first() || range->last() == 0) continue;
      const std::uint64_t size = range->last() - range->first() + 1;
      if (size < read.count()) {
        checker_->Fault(path_ + ".count", "{} different keys cannot be drawn from {}", read.count(),
                        size);
      }
    }
  }

  void Scan(const v1::Scan& scan) {
    const v1::Table* table = TableWithKeys(scan.table(), scan.keys());
    CheckPositive(path_ + ".limit", scan.limit(), kMaxScanRows, checker_);
    if (scan.offset() > kMaxScanRows) {
      checker_->Fault(path_ + ".offset", "{} is too large: at most {}", scan.offset(),
                      kMaxScanRows);
    }
    if (scan.in_size() > kMaxInValues) {
      checker_->Fault(path_ + ".in", "{} values; at most {}", scan.in_size(), kMaxInValues);
    }
    if (scan.comparison() == v1::COMPARISON_NE) {
      checker_->Fault(path_ + ".comparison", "no index is read by ne; use a filter");
    }
    if (table == nullptr) return;
    Columns(scan.columns(), *table);
    ScannedIndex(scan, *table);
    for (const v1::Filter& filter : scan.filters()) RowFilter(filter, *table);
  }

  void ScannedIndex(const v1::Scan& scan, const v1::Table& table) {
    std::vector<std::string> columns(table.primary_key().begin(), table.primary_key().end());
    if (!scan.index().empty()) {
      std::vector<std::string> names;
      const v1::Index* found = nullptr;
      for (const v1::Index& index : table.indexes()) {
        names.push_back(index.name());
        if (index.name() == scan.index()) found = &index;
      }
      if (found == nullptr) {
        checker_->Fault(path_ + ".index", "table '{}' has no index '{}'{}", table.name(),
                        scan.index(), Suggestion(scan.index(), names, "indexes"));
        return;
      }
      columns.assign(found->columns().begin(), found->columns().end());
    }
    if (scan.parts() > columns.size()) {
      checker_->Fault(path_ + ".parts", "the index has {} column{}", columns.size(),
                      columns.size() == 1 ? "" : "s");
    }
    const std::size_t parts = scan.parts() == 0 ? columns.size() : scan.parts();
    for (std::size_t i = 0; i < std::min<std::size_t>(parts, columns.size()); ++i) {
      const v1::ColumnSpec* column = FindColumn(table, columns[i]);
      if (column == nullptr || !column->value().has_server()) continue;
      checker_->Fault(path_, "starts from values of '{}', which only the server knows",
                      column->name());
    }
  }

  void RowFilter(const v1::Filter& filter, const v1::Table& table) {
    const std::string path = fmt::format("{}.filters.{}", path_, filter.column());
    const v1::ColumnSpec* column = ColumnOf(path, filter.column(), table);
    if (column == nullptr || filter.has_value()) return;
    const bool fits =
        filter.comparison() == v1::COMPARISON_EQ || filter.comparison() == v1::COMPARISON_NE;
    if (!fits) {
      checker_->Fault(path, "NULL is compared by eq and ne only; give a value");
    } else if (!column->nullable()) {
      checker_->Fault(path, "'{}' is never NULL; give a value", filter.column());
    }
  }

  void Insert(const v1::Insert& insert) {
    CheckPositive(path_ + ".batch", insert.batch(), kMaxBatch, checker_);
    const v1::Table* table = TableOf(path_, insert.table());
    if (table == nullptr) return;
    Columns(insert.columns(), *table);
    std::set<std::string> given(insert.columns().begin(), insert.columns().end());
    for (const v1::ColumnSpec& column : table->columns()) {
      if (given.contains(column.name())) {
        if (!column.auto_increment()) continue;
        checker_->Fault(path_ + ".columns", "the server numbers '{}'; leave it out", column.name());
      } else if (IsKeyColumn(*table, column.name()) && !column.auto_increment()) {
        checker_->Fault(path_ + ".columns", "the key column '{}' is needed", column.name());
      }
    }
  }

  void Update(const v1::Update& update) {
    const v1::Table* table = TableWithKeys(update.table(), update.keys());
    if (table == nullptr) return;
    if (update.set_size() == 0) {
      checker_->Fault(path_,
                      "set is needed: the columns to change, as in 'set: { qty: new_version }'");
    }
    for (const v1::SetColumn& set : update.set()) {
      const std::string set_path = fmt::format("{}.set.{}", path_, set.column());
      const v1::ColumnSpec* column = ColumnOf(set_path, set.column(), *table);
      if (column == nullptr) continue;
      if (IsKeyColumn(*table, column->name())) {
        checker_->Fault(set_path, "the key cannot be changed");
        continue;
      }
      const StatusOr<ColumnType> type = ParseColumnType(column->type());
      if (type.ok()) CheckRule(set_path, set.value(), *table, *column, *type, checker_);
    }
  }

  void Increment(const v1::Increment& increment) {
    const v1::Table* table = TableWithKeys(increment.table(), increment.keys());
    if (increment.by() == 0) checker_->Fault(path_ + ".by", "adding 0 changes nothing");
    if (table == nullptr) return;
    if (increment.column().empty()) {
      checker_->Fault(path_, "column is needed: the one to add to");
      return;
    }
    const v1::ColumnSpec* column = ColumnOf(path_ + ".column", increment.column(), *table);
    if (column == nullptr) return;
    const StatusOr<ColumnType> type = ParseColumnType(column->type());
    if (IsKeyColumn(*table, column->name())) {
      checker_->Fault(path_ + ".column", "the key cannot be changed");
    } else if (type.ok() && !type->is_number()) {
      checker_->Fault(path_ + ".column", "'{}' is {}, no number", column->name(), type->sql);
    }
  }

  void Native(const v1::Native& native) {
    if (native.statement().empty()) checker_->Fault(path_, "statement is needed");
    for (int i = 0; i < native.parameters_size(); ++i) {
      const v1::Parameter& parameter = native.parameters(i);
      const std::string path = fmt::format("{}.parameters[{}]", path_, i);
      if (parameter.has_keys() == parameter.has_value()) {
        checker_->Fault(path, "needs either keys or a value");
      } else if (parameter.has_value()) {
        CheckParameterRule(path + ".value", parameter.value(), checker_);
      } else if (const v1::Table* table = TableOf(path, parameter.table())) {
        CheckKeys(path + ".keys", parameter.keys(), *table, checker_);
        if (table->primary_key_size() == 1) continue;
        checker_->Fault(path + ".keys", "the key of '{}' is {} values; give each as a value",
                        table->name(), table->primary_key_size());
      }
    }
  }

  void Sleep(const v1::Sleep& sleep) {
    if (sleep.duration() == 0) {
      checker_->Fault(path_, "duration must be above 0, as in 'sleep: 500ms'");
    } else if (sleep.duration() > kMaxSleep) {
      checker_->Fault(path_, "is longer than a year");
    }
  }

  template <typename Names>
  void Columns(const Names& names, const v1::Table& table) {
    std::set<std::string> seen;
    for (int i = 0; i < names.size(); ++i) {
      const std::string column_path = fmt::format("{}.columns[{}]", path_, i);
      if (ColumnOf(column_path, names.Get(i), table) == nullptr) continue;
      if (!seen.insert(names.Get(i)).second) {
        checker_->Fault(column_path, "column '{}' is listed twice", names.Get(i));
      }
    }
  }

  const v1::Table* TableWithKeys(const std::string& name, const v1::Keys& keys) {
    const v1::Table* table = TableOf(path_, name);
    if (table != nullptr) CheckKeys(path_ + ".keys", keys, *table, checker_);
    return table;
  }

  // Null after a fault, or if a check of references finds the fault.
  const v1::Table* TableOf(const std::string& path, const std::string& name) {
    if (name.empty() && checker_->filled().tables_size() > 1) {
      std::vector<std::string> names;
      for (const v1::Table& table : checker_->filled().tables()) names.push_back(table.name());
      checker_->Fault(path, "table is needed, since there are several: {}", fmt::join(names, ", "));
    }
    return checker_->FindTable(name);
  }

  const v1::ColumnSpec* ColumnOf(const std::string& path, const std::string& name,
                                 const v1::Table& table) {
    const v1::ColumnSpec* column = FindColumn(table, name);
    if (column == nullptr) {
      checker_->Fault(path, "table '{}' has no column '{}'{}", table.name(), name,
                      Suggestion(name, ColumnNames(table), "columns"));
    }
    return column;
  }

  const v1::OperationSpec& operation_;
  std::string path_;
  Checker* checker_;
};

}  // namespace

void CheckOperations(Checker* checker) {
  if (checker->written().operations_size() == 0) {
    checker->Fault("operations", "a spec needs at least one operation, such as 'find: read'");
  }
  for (const v1::OperationSpec& operation : checker->filled().operations()) {
    OperationCheck(operation, checker).Run();
  }
}

}  // namespace cavalry::spec
