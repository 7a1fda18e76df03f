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

std::uint64_t ScriptPlan::BlocksOf(std::uint64_t numbers) const {
  if (variants.empty()) return numbers;
  return numbers / kMixBlock + (numbers % kMixBlock != 0 ? 1 : 0);
}

PreparedOperation IterationState::Prepare(const std::vector<OperationRecipe>& recipes,
                                          const ScriptPlan& script, std::size_t index,
                                          std::uint64_t number, std::uint64_t session,
                                          std::uint64_t sessions, std::uint64_t next_version) {
  const ScriptStep& step = script.steps[index];
  const OperationRecipe& recipe = recipes[step.operation];
  const Request request{recipe, number, step.slot, session, sessions};
  PreparedOperation prepared;
  prepared.operation.plan = recipe.plan;
  switch (recipe.plan->kind) {
    case drivers::OperationKind::kInsert:
      PrepareInsert(script, step, request, &prepared);
      break;
    case drivers::OperationKind::kMultiRead:
      PrepareMultiRead(request, &prepared);
      break;
    case drivers::OperationKind::kNative:
      PrepareNative(request, &prepared);
      break;
    case drivers::OperationKind::kUpdate:
      prepared.key = DrawKey(request);
      SetKey(recipe, &prepared);
      // Each write of a step has a version of its own, and all of a step are above all before.
      prepared.version =
          next_version + number * recipe.update_slots + recipe.update_slot + step.slot;
      recipe.values->Generate(prepared.key, prepared.version, &row_);
      prepared.operation.values = row_.values();
      break;
    case drivers::OperationKind::kRead:
      prepared.verify =
          recipe.verification == Verification::kAlways ||
          (recipe.verification == Verification::kSampled && number % kVerifyOneIn == 0);
      [[fallthrough]];
    case drivers::OperationKind::kScan:
    case drivers::OperationKind::kDelete:
    case drivers::OperationKind::kIncrement:
      prepared.key = DrawKey(request);
      SetKey(recipe, &prepared);
      break;
    case drivers::OperationKind::kBegin:
    case drivers::OperationKind::kCommit:
    case drivers::OperationKind::kRollback:
    case drivers::OperationKind::kResetConnection:
    case drivers::OperationKind::kChangeUser:
      return prepared;
  }
  last_keys_[step.operation] = prepared.key;
  if (recipe.plan->kind == drivers::OperationKind::kInsert) {
    last_keys_[step.operation] += recipe.plan->batch - 1;
  }
  return prepared;
}

std::uint64_t IterationState::DrawKey(const Request& request) const {
  const OperationRecipe& recipe = request.recipe;
  if (recipe.same_as) return last_keys_[*recipe.same_as];
  const std::uint64_t key = recipe.keys->KeyFor(request.number, request.slot);
  if (!recipe.exclusive) return key;
  return MoveToClass(key, recipe.exclusive_first, recipe.exclusive_last, request.session,
                     request.sessions);
}

void IterationState::SetKey(const OperationRecipe& recipe, PreparedOperation* prepared) {
  if (!recipe.key_values) {
    prepared->operation.key = drivers::Value::Unsigned(prepared->key);
    return;
  }
  recipe.key_values->Generate(prepared->key, 0, &key_row_);
  prepared->operation.key = drivers::Key(key_row_.values());
}

void IterationState::PrepareInsert(const ScriptPlan& script, const ScriptStep& step,
                                   const Request& request, PreparedOperation* prepared) {
  const OperationRecipe& recipe = request.recipe;
  const ScriptPlan::Turn turn = script.TurnOf(request.number);
  prepared->key = recipe.insert_first + turn.block * recipe.insert_slots +
                  turn.ordinal * step.insert_stride + step.insert_slot;
  const std::uint32_t rows = recipe.plan->batch;
  for (std::uint32_t i = 0; i < rows; ++i) {
    recipe.values->Generate(prepared->key + i, 0, i, rows, &row_);
  }
  prepared->operation.values = row_.values();
}

// The keys of one request are all different: one drawn again is replaced by the next in the range
// that is not there yet, so that a row that is found is found once.
void IterationState::PrepareMultiRead(const Request& request, PreparedOperation* prepared) {
  const OperationRecipe& recipe = request.recipe;
  const KeySequence& keys = *recipe.keys;
  const std::uint32_t count = recipe.plan->batch;
  drawn_.clear();
  values_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t key = keys.KeyFor(request.number, request.slot * count + i);
    auto place = std::lower_bound(drawn_.begin(), drawn_.end(), key);
    // A list or a young key space may have fewer keys than are asked for: those come up again.
    while (keys.is_range() && place != drawn_.end() && *place == key) {
      key = key == keys.last() ? keys.first() : key + 1;
      place = key == keys.first() ? std::lower_bound(drawn_.begin(), drawn_.end(), key) : place + 1;
    }
    drawn_.insert(place, key);
    if (recipe.key_values) {
      recipe.key_values->Generate(key, 0, i, count, &key_row_);
    } else {
      values_.push_back(drivers::Value::Unsigned(key));
    }
    prepared->key = key;
  }
  prepared->operation.key = drivers::Key(recipe.key_values ? key_row_.values() : values_);
}

void IterationState::PrepareNative(const Request& request, PreparedOperation* prepared) {
  const OperationRecipe& recipe = request.recipe;
  const auto key_of = [&](const ParameterRecipe& parameter) {
    return parameter.same_as ? last_keys_[*parameter.same_as]
                             : parameter.keys->KeyFor(request.number, request.slot);
  };
  const auto is_key = [](const ParameterRecipe& parameter) {
    return parameter.keys || parameter.same_as;
  };
  const auto first = std::find_if(recipe.parameters.begin(), recipe.parameters.end(), is_key);
  prepared->key = first != recipe.parameters.end()
                      ? key_of(*first)
                      : request.number * recipe.per_iteration + request.slot;
  if (parameter_rows_.size() < recipe.parameters.size()) {
    parameter_rows_.resize(recipe.parameters.size());
  }
  values_.clear();
  for (std::size_t i = 0; i < recipe.parameters.size(); ++i) {
    const ParameterRecipe& parameter = recipe.parameters[i];
    const std::uint64_t row = is_key(parameter) ? key_of(parameter) : prepared->key;
    parameter.values.Generate(row, 0, &parameter_rows_[i]);
    values_.push_back(parameter_rows_[i].values().front());
  }
  prepared->operation.values = values_;
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

bool LeavesOpen(const drivers::OpResult& result) {
  return result.outcome != Outcome::kOk &&
         (result.outcome_unknown || result.outcome == Outcome::kTimeout ||
          result.outcome == Outcome::kBroken || result.outcome == Outcome::kAbandoned ||
          result.outcome == Outcome::kSent);
}

void RecordInLedger(const OperationRecipe& recipe, const PreparedOperation& prepared,
                    const drivers::OpResult& result, Ledger* ledger) {
  const drivers::OperationPlan& plan = *recipe.plan;
  // What an increment leaves depends on all that came before it: no audited write.
  if (!drivers::IsWrite(plan.kind) || plan.kind == drivers::OperationKind::kIncrement) return;
  const Outcome outcome = result.outcome;
  const std::uint32_t rows = plan.kind == drivers::OperationKind::kInsert ? plan.batch : 1;
  const bool open = LeavesOpen(result);
  if (ServerGivesKeys(plan)) {
    ledger->RecordGivenInserts(recipe.table, result.insert_id, rows, outcome, open);
  } else if (!recipe.auditable) {
    if (outcome == Outcome::kOk) ledger->CountUnaudited(rows);
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
