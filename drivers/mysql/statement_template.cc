// The SQL of each kind of operation. See statement.h.
#include <algorithm>

#include "core/base/check.h"
#include "drivers/mysql/native_statement.h"
#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {
namespace {

std::string_view ComparisonSql(Comparison comparison) {
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
      return "<>";
  }
  return "=";
}

bool IsFalling(Comparison comparison) {
  return comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
}

// The columns of the scan's index; those that are compared when it is not among the table's.
const std::vector<std::uint32_t>& IndexColumns(const OperationPlan& plan) {
  if (plan.scan.index.empty()) return plan.table->key_columns;
  for (const Index& index : plan.table->indexes) {
    if (index.name == plan.scan.index) return index.columns;
  }
  return plan.scan.columns;
}

std::string FilterSql(const TableSchema& table, const Filter& filter) {
  const Column& column = table.columns[filter.column];
  const std::string name = QuotedName(column.name);
  if (filter.is_null) {
    return fmt::format("{} IS {}NULL", name,
                       filter.comparison == Comparison::kNotEqual ? "NOT " : "");
  }
  std::string sql = fmt::format("{}{}", name, ComparisonSql(filter.comparison));
  if (column.type.is_binary()) {
    AppendValue(Value::Binary(filter.value), Escaping::kQuotesOnly, &sql);
  } else {
    AppendPortableText(filter.value, &sql);
  }
  return sql;
}

}  // namespace

StatementTemplate::StatementTemplate(const OperationPlan& plan) : plan_(&plan) {
  Build();
  prepared_ = pieces_[0];
  for (std::size_t i = 1; i < pieces_.size(); ++i) prepared_.append("?").append(pieces_[i]);
}

void StatementTemplate::Write(const Operation& operation, Escaping escaping,
                              std::string* sql) const {
  sql->assign(pieces_[0]);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    AppendValue(parameter(operation, i), escaping, sql);
    sql->append(pieces_[i + 1]);
  }
}

void StatementTemplate::AddName(std::uint32_t column) {
  AppendName(plan_->table->columns[column].name, &pieces_.back());
}

void StatementTemplate::AddKeyValue(std::uint32_t index, const Column& column) {
  sources_.push_back({true, index, &column});
  pieces_.emplace_back();
}

void StatementTemplate::AddValue(std::uint32_t index, const Column* column) {
  sources_.push_back({false, index, column});
  pieces_.emplace_back();
}

void StatementTemplate::AddRowValue(std::uint32_t column, std::uint32_t index) {
  if (!plan_->server_values.empty() && !plan_->server_values[column].empty()) {
    Add(plan_->server_values[column]);
  } else {
    AddValue(index, &plan_->table->columns[plan_->columns[column]]);
  }
}

void StatementTemplate::AddSelect() {
  Add("SELECT ");
  for (std::size_t i = 0; i < plan_->columns.size(); ++i) {
    if (i > 0) Add(",");
    AddName(plan_->columns[i]);
  }
  Add(" FROM ");
  AppendName(plan_->table->name, &pieces_.back());
}

void StatementTemplate::AddWhereKey() {
  const std::vector<std::uint32_t>& key = plan_->table->key_columns;
  for (std::uint32_t i = 0; i < key.size(); ++i) {
    Add(i == 0 ? " WHERE " : " AND ");
    AddName(key[i]);
    Add("=");
    AddKeyValue(i, plan_->table->columns[key[i]]);
  }
}

void StatementTemplate::Build() {
  switch (plan_->kind) {
    case OperationKind::kRead:
      AddSelect();
      AddWhereKey();
      return;
    case OperationKind::kMultiRead:
      BuildMultiRead();
      return;
    case OperationKind::kScan:
      BuildScan();
      return;
    case OperationKind::kInsert:
      BuildInsert();
      return;
    case OperationKind::kUpdate:
      BuildUpdate();
      return;
    case OperationKind::kDelete:
      Add("DELETE FROM ");
      AppendName(plan_->table->name, &pieces_.back());
      AddWhereKey();
      return;
    case OperationKind::kIncrement: {
      const std::string column = QuotedName(plan_->table->columns[plan_->columns.front()].name);
      Add(fmt::format("UPDATE {0} SET {1}={1}{2:+}", QuotedName(plan_->table->name), column,
                      plan_->amount));
      AddWhereKey();
      return;
    }
    case OperationKind::kNative:
      BuildNative();
      return;
    case OperationKind::kBegin:
      Add("BEGIN");
      is_text_only_ = true;
      return;
    case OperationKind::kCommit:
      Add("COMMIT");
      is_text_only_ = true;
      return;
    case OperationKind::kRollback:
      Add("ROLLBACK");
      is_text_only_ = true;
      return;
    case OperationKind::kResetConnection:
    case OperationKind::kChangeUser:
      CAVALRY_CHECK(false);
  }
}

void StatementTemplate::BuildInsert() {
  Add("INSERT INTO ");
  AppendName(plan_->table->name, &pieces_.back());
  Add(" (");
  const auto width = static_cast<std::uint32_t>(plan_->columns.size());
  for (std::uint32_t i = 0; i < width; ++i) {
    if (i > 0) Add(",");
    AddName(plan_->columns[i]);
  }
  Add(") VALUES ");
  for (std::uint32_t row = 0; row < plan_->batch; ++row) {
    Add(row == 0 ? "(" : ",(");
    for (std::uint32_t i = 0; i < width; ++i) {
      if (i > 0) Add(",");
      AddRowValue(i, row * width + i);
    }
    Add(")");
  }
}

void StatementTemplate::BuildUpdate() {
  Add("UPDATE ");
  AppendName(plan_->table->name, &pieces_.back());
  for (std::uint32_t i = 0; i < plan_->columns.size(); ++i) {
    Add(i == 0 ? " SET " : ",");
    AddName(plan_->columns[i]);
    Add("=");
    AddRowValue(i, i);
  }
  AddWhereKey();
}

void StatementTemplate::BuildMultiRead() {
  const std::vector<std::uint32_t>& key = plan_->table->key_columns;
  const auto parts = static_cast<std::uint32_t>(key.size());
  AddSelect();
  Add(parts == 1 ? " WHERE " : " WHERE (");
  for (std::uint32_t i = 0; i < parts; ++i) {
    if (i > 0) Add(",");
    AddName(key[i]);
  }
  Add(parts == 1 ? " IN (" : ") IN (");
  for (std::uint32_t row = 0; row < plan_->batch; ++row) {
    if (row > 0) Add(",");
    if (parts > 1) Add("(");
    for (std::uint32_t i = 0; i < parts; ++i) {
      if (i > 0) Add(",");
      AddKeyValue(row * parts + i, plan_->table->columns[key[i]]);
    }
    if (parts > 1) Add(")");
  }
  Add(")");
}

void StatementTemplate::BuildScan() {
  const ScanPlan& scan = plan_->scan;
  AddSelect();
  Add(fmt::format(" FORCE INDEX ({}) WHERE ",
                  QuotedName(scan.index.empty() ? "PRIMARY" : scan.index)));
  BuildScanRange();
  for (const Filter& filter : scan.filters) {
    Add(" AND ");
    Add(FilterSql(*plan_->table, filter));
  }
  Add(" ORDER BY ");
  bool first = true;
  for (const std::uint32_t column : IndexColumns(*plan_)) {
    if (!first) Add(",");
    first = false;
    AddName(column);
    if (IsFalling(scan.comparison)) Add(" DESC");
  }
  Add(fmt::format(" LIMIT {}", scan.limit));
  if (scan.offset != 0) Add(fmt::format(" OFFSET {}", scan.offset));
}

// MariaDB does not use an index for (a,b)>(?,?); it does for the same written out:
// a>? OR a=? AND b>?.
void StatementTemplate::BuildScanRange() {
  const ScanPlan& scan = plan_->scan;
  const auto column = [&](std::uint32_t part) -> const Column& {
    return plan_->table->columns[scan.columns[part]];
  };
  const auto compare = [&](std::uint32_t part, std::string_view comparison) {
    AddName(scan.columns[part]);
    Add(comparison);
    AddKeyValue(part, column(part));
  };
  const auto parts = static_cast<std::uint32_t>(scan.columns.size());
  if (!scan.in.empty()) {
    AddName(scan.columns[0]);
    Add(fmt::format(" IN ({})", fmt::join(scan.in, ",")));
    for (std::uint32_t i = 1; i < parts; ++i) {
      Add(" AND ");
      compare(i, "=");
    }
    return;
  }
  if (scan.comparison == Comparison::kEqual) {
    for (std::uint32_t i = 0; i < parts; ++i) {
      if (i > 0) Add(" AND ");
      compare(i, "=");
    }
    return;
  }
  const std::string_view strict = IsFalling(scan.comparison) ? "<" : ">";
  if (parts > 1) Add("(");
  for (std::uint32_t last = 0; last < parts; ++last) {
    if (last > 0) Add(" OR ");
    for (std::uint32_t i = 0; i < last; ++i) {
      compare(i, "=");
      Add(" AND ");
    }
    compare(last, last + 1 == parts ? ComparisonSql(scan.comparison) : strict);
  }
  if (parts > 1) Add(")");
}

void StatementTemplate::BuildNative() {
  const NativeStatement native = ParseNative(plan_->statement);
  is_several_ = native.several;
  is_text_only_ = native.several;
  Add(native.pieces[0]);
  for (std::uint32_t i = 1; i < native.pieces.size(); ++i) {
    AddValue(i - 1, nullptr);
    Add(native.pieces[i]);
  }
}

}  // namespace cavalry::drivers::mysql
