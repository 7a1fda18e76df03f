#include "agent/writers.h"

#include <algorithm>

namespace cavalry::agent {
namespace {

using drivers::OperationKind;
using load::OperationRecipe;

bool IsAutoIncrement(const drivers::TableSchema& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const drivers::Column& column) { return column.auto_increment; });
}

class WriterSeparation {
 public:
  WriterSeparation(std::uint32_t table, const std::vector<bool>& used, run::LoadPlan* plan)
      : table_(table), plan_(plan) {
    for (OperationRecipe& recipe : plan->recipes) {
      const OperationKind kind = recipe.plan->kind;
      if (!drivers::HasTable(kind) || recipe.table != table || !used[recipe.plan->index]) continue;
      if (kind == OperationKind::kInsert) inserts_.push_back(&recipe);
      if (kind != OperationKind::kUpdate && kind != OperationKind::kDelete) continue;
      writers_.push_back(&recipe);
      OperationRecipe* const source = SourceOf(&recipe);
      (source->plan->kind == OperationKind::kInsert ? inserted_ : drawn_).push_back(source);
    }
  }

  void Run() {
    const bool one_writer = HasOneWriter();
    for (OperationRecipe* writer : writers_) writer->auditable = one_writer && IsKnown(*writer);
    for (OperationRecipe* insert : inserts_) {
      insert->auditable = !IsReached(*insert, one_writer) && !IsAutoIncrement(*insert->plan->table);
    }
    if (!one_writer) return;
    for (OperationRecipe* source : drawn_) {
      if (!source->keys->is_range()) continue;
      source->exclusive = true;
      source->exclusive_first = source->keys->first();
      source->exclusive_last = source->keys->last();
    }
  }

 private:
  // The recipe that draws the key of `recipe`, or inserts it.
  OperationRecipe* SourceOf(OperationRecipe* recipe) {
    while (recipe->same_as) recipe = &plan_->recipes[*recipe->same_as];
    return recipe;
  }

  bool HasOneWriter() const {
    for (const OperationRecipe* source : inserted_) {
      if (source->table != inserted_.front()->table) return false;
    }
    for (const OperationRecipe* source : drawn_) {
      if (!source->keys) return false;  // of a native statement: there they are parameters
      const bool movable =
          source->keys->is_range() && source->keys->size() >= plan_->total_sessions;
      if (!movable && plan_->total_sessions > 1) return false;
      if (!inserted_.empty() && source->keys->last() >= inserted_.front()->insert_first) {
        return false;
      }
    }
    return true;
  }

  // Whether another operation than its own session's may write to its rows.
  bool IsReached(const OperationRecipe& insert, bool one_writer) const {
    return std::any_of(drawn_.begin(), drawn_.end(),
                       [&](const OperationRecipe* from) {
                         return !from->keys || from->keys->last() >= insert.insert_first;
                       }) ||
           std::any_of(inserted_.begin(), inserted_.end(), [&](const OperationRecipe* from) {
             return from->table != table_ || !one_writer;
           });
  }

  // Whether an audit can tell that the write was done.
  bool IsKnown(const OperationRecipe& writer) const {
    if (writer.plan->kind != OperationKind::kUpdate) return true;
    const std::vector<bool> unknown = UnknownColumns(*writer.plan->table, plan_->operations);
    return std::any_of(writer.plan->columns.begin(), writer.plan->columns.end(),
                       [&](std::uint32_t column) { return !unknown[column]; });
  }

  const std::uint32_t table_;
  run::LoadPlan* plan_;
  std::vector<OperationRecipe*> inserts_, writers_, drawn_, inserted_;
};

}  // namespace

void SeparateWriters(std::uint32_t table, const std::vector<bool>& used, run::LoadPlan* plan) {
  WriterSeparation(table, used, plan).Run();
}

std::vector<bool> UnknownColumns(const drivers::TableSchema& table,
                                 const std::vector<drivers::OperationPlan>& operations) {
  std::vector<bool> unknown(table.columns.size(), false);
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    unknown[i] = !table.columns[i].server_sql.empty();
  }
  for (const drivers::OperationPlan& operation : operations) {
    if (operation.table != &table) continue;
    if (operation.kind == OperationKind::kIncrement) unknown[operation.columns.front()] = true;
    if (operation.kind == OperationKind::kInsert) {
      std::vector<bool> given(table.columns.size(), false);
      for (const std::uint32_t column : operation.columns) given[column] = true;
      for (std::uint32_t i = 0; i < given.size(); ++i) unknown[i] = unknown[i] || !given[i];
    }
    for (std::size_t i = 0; i < operation.server_values.size(); ++i) {
      if (!operation.server_values[i].empty()) unknown[operation.columns[i]] = true;
    }
  }
  return unknown;
}

}  // namespace cavalry::agent
