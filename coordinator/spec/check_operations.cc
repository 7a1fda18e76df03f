#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/scalar.h"
#include "coordinator/spec/schema.h"

namespace cavalry::spec {
namespace {

constexpr double kMaxTheta = 5;

const v1::Range* RangeOf(const v1::Keys& keys) {
  if (keys.has_sequential()) return &keys.sequential().range();
  if (keys.has_uniform()) return &keys.uniform().range();
  if (keys.has_zipf()) return &keys.zipf().range();
  return nullptr;  // same_as
}

class OperationCheck {
 public:
  OperationCheck(const v1::OperationSpec& operation, Checker* checker)
      : operation_(operation),
        path_(fmt::format("operations.{}", operation.name())),
        checker_(checker) {}

  void Run() {
    CheckWord(path_, operation_.name(), checker_);
    switch (operation_.kind_case()) {
      case v1::OperationSpec::kRead:
        return Read(operation_.read());
      case v1::OperationSpec::kInsert:
        TableOf(path_ + ".insert", operation_.insert().table());
        return;
      case v1::OperationSpec::kUpdate:
        return Update(operation_.update());
      case v1::OperationSpec::kDelete:
        return Delete(operation_.delete_());
      default:
        checker_->Fault(path_, "does nothing; it needs one of: {}",
                        fmt::join(OneofMembers(v1::OperationSpec::descriptor()), ", "));
    }
  }

 private:
  void Read(const v1::Read& read) {
    const std::string path = path_ + ".read";
    const v1::Table* table = TableOf(path, read.table());
    if (table == nullptr) return;
    Keys(path + ".keys", read.keys(), *table);
    std::set<std::string> seen;
    for (int i = 0; i < read.columns_size(); ++i) {
      const std::string column_path = fmt::format("{}.columns[{}]", path, i);
      if (ColumnOf(column_path, read.columns(i), *table) == nullptr) continue;
      if (!seen.insert(read.columns(i)).second) {
        checker_->Fault(column_path, "column '{}' is listed twice", read.columns(i));
      }
    }
  }

  void Update(const v1::Update& update) {
    const std::string path = path_ + ".update";
    const v1::Table* table = TableOf(path, update.table());
    if (table == nullptr) return;
    Keys(path + ".keys", update.keys(), *table);
    if (update.set_size() == 0) {
      checker_->Fault(path,
                      "set is needed: the columns to change, as in 'set: { qty: new_version }'");
    }
    for (const v1::SetColumn& set : update.set()) {
      const std::string set_path = fmt::format("{}.set.{}", path, set.column());
      const v1::ColumnSpec* column = ColumnOf(set_path, set.column(), *table);
      if (column == nullptr) continue;
      if (column->name() == table->primary_key()) {
        checker_->Fault(set_path, "the key cannot be changed");
        continue;
      }
      const StatusOr<ColumnType> type = ParseColumnType(column->type());
      if (type.ok()) CheckRule(set_path, set.value(), *table, *column, *type, checker_);
    }
  }

  void Delete(const v1::Delete& remove) {
    const std::string path = path_ + ".delete";
    const v1::Table* table = TableOf(path, remove.table());
    if (table != nullptr) Keys(path + ".keys", remove.keys(), *table);
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

  void Keys(const std::string& path, const v1::Keys& keys, const v1::Table& table) {
    if (keys.has_zipf() && !(keys.zipf().theta() > 0 && keys.zipf().theta() <= kMaxTheta)) {
      checker_->Fault(path + ".zipf", "the exponent must be above 0 and at most {}", kMaxTheta);
    }
    const v1::Range* range = RangeOf(keys);
    if (range == nullptr) return;
    const bool default_range = range->first() == 1 && range->last() == table.rows();
    if (table.rows() == 0 && default_range) {
      checker_->Fault(path,
                      table.existing() == v1::EXISTING_USE
                          ? "give the range of keys, as in 'uniform: 1..1000': the rows of an "
                            "existing table are not counted"
                          : "the table has no rows to work on; give it 'rows'");
      return;
    }
    // Of a table that is used as it is, nobody here knows the rows unless the spec says them.
    const bool unknown_rows = table.existing() == v1::EXISTING_USE && table.rows() == 0;
    if (range->first() > range->last()) return;  // a fault of every range, found elsewhere
    if (range->first() < 1 || (range->last() > table.rows() && !unknown_rows)) {
      checker_->Fault(path, "keys {}..{} are not all in 1..{}, the rows of table '{}'",
                      range->first(), range->last(), table.rows(), table.name());
    }
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
