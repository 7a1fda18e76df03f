#include "agent/load/iteration.h"

#include <algorithm>

#include "core/base/mix.h"
#include "core/base/random.h"

namespace cavalry::load {

const ScriptVariant* ScriptPlan::VariantFor(std::uint64_t number) const {
  return variants.empty() ? nullptr : TurnOf(number).variant;
}

ScriptPlan::Turn ScriptPlan::TurnOf(std::uint64_t number) const {
  if (variants.empty()) return {nullptr, number, 0};
  const std::uint64_t block = number / kMixBlock;
  const std::uint64_t place = Permute(number % kMixBlock, kMixBlock, seed ^ Mix64(block + 1));
  // Few: searched one by one. The last one ends at kMixBlock.
  const ScriptVariant* variant = variants.data();
  while (place >= variant->end) ++variant;
  return {variant, block, place - variant->begin};
}

PreparedOperation IterationState::Prepare(const std::vector<OperationRecipe>& recipes,
                                          const ScriptPlan& script, std::size_t index,
                                          std::uint64_t number, std::uint64_t session,
                                          std::uint64_t sessions, std::uint64_t next_version) {
  const std::uint32_t which = script.steps[index].operation;
  const std::uint32_t slot = script.steps[index].slot;
  const OperationRecipe& recipe = recipes[which];
  PreparedOperation prepared;
  if (recipe.plan->kind == drivers::OperationKind::kInsert) {
    prepared.key = recipe.insert_first + number * recipe.insert_slots + recipe.insert_slot + slot;
  } else if (recipe.same_as) {
    prepared.key = last_keys_[*recipe.same_as];
  } else {
    prepared.key = recipe.keys->KeyFor(number, slot);
    if (recipe.exclusive) {
      prepared.key = MoveToClass(prepared.key, recipe.exclusive_first, recipe.exclusive_last,
                                 session, sessions);
    }
  }
  last_keys_[which] = prepared.key;

  prepared.operation.plan = recipe.plan;
  prepared.operation.key = drivers::Value::Unsigned(prepared.key);
  switch (recipe.plan->kind) {
    case drivers::OperationKind::kInsert:
      recipe.values->Generate(prepared.key, 0, &row_);
      prepared.operation.values = row_.values();
      break;
    case drivers::OperationKind::kUpdate:
      // Each write of a step has a version of its own, and all of a step are above all before.
      prepared.version = next_version + number * recipe.update_slots + recipe.update_slot + slot;
      recipe.values->Generate(prepared.key, prepared.version, &row_);
      prepared.operation.values = row_.values();
      break;
    case drivers::OperationKind::kRead:
      prepared.verify =
          recipe.verification == Verification::kAlways ||
          (recipe.verification == Verification::kSampled && number % kVerifyOneIn == 0);
      break;
    default:
      break;
  }
  return prepared;
}

void RowChecker::Expect(const OperationRecipe& recipe, std::uint64_t key) {
  recipe_ = &recipe;
  right_ = true;
  recipe.values->Generate(key, 0, &expected_);
}

void RowChecker::OnRow(std::span<const drivers::Field> fields) {
  const drivers::OperationPlan& plan = *recipe_->plan;
  if (fields.size() != plan.columns.size()) {
    right_ = false;
    return;
  }
  for (const std::uint32_t position : recipe_->checked) {
    const ColumnType& type = plan.table->columns[plan.columns[position]].type;
    if (!Matches(expected_.values()[position], type, fields[position])) right_ = false;
  }
}

namespace {

// Whether the server numbers the rows that the operation inserts.
bool ServerGivesKeys(const drivers::OperationPlan& plan) {
  if (plan.kind != drivers::OperationKind::kInsert || !plan.table->key_column().auto_increment) {
    return false;
  }
  return std::find(plan.columns.begin(), plan.columns.end(), plan.table->key_columns.front()) ==
         plan.columns.end();
}

}  // namespace

void RecordInLedger(const OperationRecipe& recipe, const PreparedOperation& prepared,
                    const drivers::OpResult& result, Ledger* ledger) {
  const drivers::OperationPlan& plan = *recipe.plan;
  if (!drivers::IsWrite(plan.kind)) return;
  const Outcome outcome = result.outcome;
  const std::uint32_t rows = plan.kind == drivers::OperationKind::kInsert ? plan.batch : 1;
  // Written without an answer, or given up in flight: the row may be there.
  const bool open = outcome != Outcome::kOk &&
                    (result.outcome_unknown || outcome == Outcome::kTimeout ||
                     outcome == Outcome::kBroken || outcome == Outcome::kAbandoned ||
                     outcome == Outcome::kSent);
  // What an increment leaves depends on all that came before it.
  if (!recipe.auditable || plan.kind == drivers::OperationKind::kIncrement) {
    if (outcome == Outcome::kOk) ledger->CountUnaudited(rows);
  } else if (ServerGivesKeys(plan)) {
    ledger->RecordGivenInserts(recipe.table, result.insert_id, rows, outcome, open);
  } else if (plan.kind == drivers::OperationKind::kInsert) {
    for (std::uint32_t i = 0; i < rows; ++i) {
      ledger->RecordInsert(recipe.table, prepared.key + i, outcome, open);
    }
  } else if (plan.kind == drivers::OperationKind::kUpdate) {
    ledger->RecordUpdate(recipe.table, prepared.key, static_cast<std::uint16_t>(plan.index),
                         prepared.version, outcome, open);
  } else {
    ledger->RecordDelete(recipe.table, prepared.key, outcome, open);
  }
}

}  // namespace cavalry::load
