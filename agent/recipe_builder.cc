#include "agent/recipe_builder.h"

#include <algorithm>
#include <set>

#include "core/base/random.h"

namespace cavalry::agent {
namespace {

using drivers::OperationKind;

constexpr std::uint64_t kMaxScriptSteps = 10'000;

const v1::Keys* KeysOf(const v1::OperationSpec& spec) {
  if (spec.has_read()) return &spec.read().keys();
  if (spec.has_update()) return &spec.update().keys();
  if (spec.has_delete_()) return &spec.delete_().keys();
  return nullptr;
}

StatusOr<load::KeySequenceOptions> MakeKeyOptions(const v1::OperationSpec& spec,
                                                  const v1::Keys& keys,
                                                  const drivers::TableSchema& table) {
  load::KeySequenceOptions options;
  const v1::Range* range = nullptr;
  switch (keys.sequence_case()) {
    case v1::Keys::kSequential:
      options.order = load::KeyOrder::kSequential;
      if (keys.sequential().has_range()) range = &keys.sequential().range();
      break;
    case v1::Keys::kZipf:
      options.order = load::KeyOrder::kZipf;
      if (keys.zipf().has_range()) range = &keys.zipf().range();
      options.theta = keys.zipf().has_theta() ? keys.zipf().theta() : options.theta;
      options.clustered = keys.zipf().clustered();
      if (!(options.theta > 0 && options.theta <= 5)) {
        return InvalidArgument("{}: zipf's exponent must be above 0 and at most 5", spec.name());
      }
      break;
    case v1::Keys::kUniform:
      if (keys.uniform().has_range()) range = &keys.uniform().range();
      break;
    default:
      if (spec.has_delete_()) options.order = load::KeyOrder::kSequential;
      break;
  }
  options.first = range != nullptr ? range->first() : 1;
  options.last = range != nullptr ? range->last() : table.rows;
  if (options.first > options.last) {
    return InvalidArgument("{}: no keys to work on ({}..{})", spec.name(), options.first,
                           options.last);
  }
  return options;
}

Status UnrollScript(const v1::Workload& workload, const std::vector<drivers::OperationPlan>& plans,
                    load::ScriptPlan* script, std::vector<std::uint32_t>* per_iteration) {
  per_iteration->assign(plans.size(), 0);
  for (const v1::ScriptStep& step : workload.script().steps()) {
    const auto found = std::find_if(plans.begin(), plans.end(), [&](const auto& plan) {
      return plan.name == step.operation();
    });
    if (found == plans.end()) {
      return InvalidArgument("script: no operation is named '{}'", step.operation());
    }
    const std::uint32_t repeat = step.has_repeat() ? step.repeat() : 1;
    if (script->steps.size() + repeat > kMaxScriptSteps) {
      return InvalidArgument("script: more than {} operations", kMaxScriptSteps);
    }
    for (std::uint32_t i = 0; i < repeat; ++i) {
      script->steps.push_back(found->index);
      script->slots.push_back((*per_iteration)[found->index]++);
    }
  }
  if (script->steps.empty()) return InvalidArgument("script: no operations");
  return absl::OkStatus();
}

// Columns that some update of the spec sets, by table: reads cannot know their value.
std::set<std::pair<const drivers::TableSchema*, std::uint32_t>> ChangedColumns(
    const std::vector<drivers::OperationPlan>& plans) {
  std::set<std::pair<const drivers::TableSchema*, std::uint32_t>> changed;
  for (const drivers::OperationPlan& plan : plans) {
    if (plan.kind != OperationKind::kUpdate) continue;
    for (const std::uint32_t column : plan.columns) changed.emplace(plan.table, column);
  }
  return changed;
}

load::Verification VerificationOf(const v1::Workload& workload, const v1::Read& read,
                                  const drivers::TableSchema& table) {
  // Rows that cavalry did not write follow no rule of ours.
  if (table.use_as_is || workload.reset() == v1::RESET_NEVER) return load::Verification::kNever;
  switch (read.verify()) {
    case v1::VERIFY_ALWAYS:
      return load::Verification::kAlways;
    case v1::VERIFY_NEVER:
      return load::Verification::kNever;
    default:
      return load::Verification::kSampled;
  }
}

}  // namespace

namespace {

class RecipeBuilder {
 public:
  RecipeBuilder(const v1::Assignment& assignment, OperationSet set, run::LoadPlan* plan)
      : assignment_(assignment), set_(std::move(set)), plan_(plan) {}

  Status Build() {
    const v1::Workload& workload = assignment_.workload();
    std::vector<std::uint32_t> per_iteration;
    CAVALRY_RETURN_IF_ERROR(
        UnrollScript(workload, set_.operations, &plan_->script, &per_iteration));
    plan_->recipes.resize(set_.operations.size());
    for (std::size_t i = 0; i < set_.operations.size(); ++i) {
      load::OperationRecipe& recipe = plan_->recipes[i];
      recipe.plan = &set_.operations[i];
      recipe.per_iteration = std::max<std::uint32_t>(per_iteration[i], 1);
      recipe.table = TableIndex(*recipe.plan->table);
      CAVALRY_RETURN_IF_ERROR(AddKeys(workload.operations(static_cast<int>(i)), &recipe));
      AddValues(workload.operations(static_cast<int>(i)), &recipe);
    }
    AssignSlots(per_iteration);
    CAVALRY_RETURN_IF_ERROR(LinkSameAs());
    if (assignment_.audit()) MakeExclusive();
    plan_->tables = std::move(set_.tables);
    plan_->operations = std::move(set_.operations);  // keeps the elements where recipes point to
    return status_;
  }

 private:
  std::uint32_t TableIndex(const drivers::TableSchema& table) const {
    for (std::uint32_t i = 0; i < set_.tables.size(); ++i) {
      if (set_.tables[i].get() == &table) return i;
    }
    return 0;
  }

  Status AddKeys(const v1::OperationSpec& spec, load::OperationRecipe* recipe) {
    const v1::Keys* keys = KeysOf(spec);
    if (keys == nullptr || keys->sequence_case() == v1::Keys::kSameAs) return absl::OkStatus();
    CAVALRY_ASSIGN_OR_RETURN(load::KeySequenceOptions options,
                             MakeKeyOptions(spec, *keys, *recipe->plan->table));
    options.seed = assignment_.workload().seed();
    options.stream = HashText(spec.name());
    options.per_iteration = recipe->per_iteration;
    recipe->keys.emplace(options);
    return absl::OkStatus();
  }

  load::ColumnRule RuleOf(const v1::OperationSpec& spec, const load::OperationRecipe& recipe,
                          std::size_t position) {
    const std::uint32_t column = recipe.plan->columns[position];
    const load::ColumnRule& own = set_.rules[recipe.table][column];
    if (!spec.has_update()) return own;
    const v1::SetColumn& set = spec.update().set(static_cast<int>(position));
    if (!set.has_value() || set.value().rule_case() == v1::ValueRule::RULE_NOT_SET) return own;
    const drivers::TableSchema& table = *recipe.plan->table;
    auto rule = MakeColumnRule(set.value(), table.columns[column].type,
                               table.columns[table.key_column].name);
    if (!rule.ok()) {
      status_ = Annotate(rule.status(), fmt::format("{}.set.{}", spec.name(), set.column()));
      return own;
    }
    return *std::move(rule);
  }

  void AddValues(const v1::OperationSpec& spec, load::OperationRecipe* recipe) {
    const drivers::OperationPlan& plan = *recipe->plan;
    if (plan.kind == OperationKind::kDelete) return;
    std::vector<load::ColumnRule> rules;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) rules.push_back(RuleOf(spec, *recipe, i));
    recipe->values.emplace(*plan.table, plan.columns, std::move(rules),
                           assignment_.workload().seed());
    if (plan.kind != OperationKind::kRead) return;
    recipe->verification = VerificationOf(assignment_.workload(), spec.read(), *plan.table);
    const auto changed = ChangedColumns(set_.operations);
    for (std::uint32_t i = 0; i < plan.columns.size(); ++i) {
      if (!changed.contains({plan.table, plan.columns[i]})) recipe->checked.push_back(i);
    }
    if (recipe->checked.empty()) recipe->verification = load::Verification::kNever;
  }

  // Gives each insert and update of an iteration a slot of its own, so that keys and versions are
  // dense.
  void AssignSlots(const std::vector<std::uint32_t>& per_iteration) {
    std::vector<std::uint32_t> inserts(set_.tables.size(), 0);
    std::uint32_t updates = 0;
    for (load::OperationRecipe& recipe : plan_->recipes) {
      const std::uint32_t occurrences = per_iteration[recipe.plan->index];
      if (recipe.plan->kind == OperationKind::kInsert) {
        recipe.insert_slot = inserts[recipe.table];
        inserts[recipe.table] += occurrences;
      } else if (recipe.plan->kind == OperationKind::kUpdate) {
        recipe.update_slot = updates;
        updates += occurrences;
      }
    }
    for (load::OperationRecipe& recipe : plan_->recipes) {
      recipe.insert_slots = std::max<std::uint32_t>(inserts[recipe.table], 1);
      recipe.update_slots = std::max<std::uint32_t>(updates, 1);
      recipe.insert_first = recipe.plan->table->rows + 1;
      for (const v1::TableKey& next : assignment_.next_keys()) {
        if (next.table() == recipe.plan->table->name) recipe.insert_first = next.key();
      }
    }
  }

  Status LinkSameAs() {
    for (int i = 0; i < assignment_.workload().operations_size(); ++i) {
      const v1::Keys* keys = KeysOf(assignment_.workload().operations(i));
      if (keys == nullptr || keys->sequence_case() != v1::Keys::kSameAs) continue;
      load::OperationRecipe& recipe = plan_->recipes[static_cast<std::size_t>(i)];
      for (const load::OperationRecipe& source : plan_->recipes) {
        if (source.plan->name == keys->same_as()) recipe.same_as = source.plan->index;
      }
      if (!recipe.same_as || *recipe.same_as == recipe.plan->index) {
        return InvalidArgument("{}: same_as names no other operation", recipe.plan->name);
      }
    }
    return absl::OkStatus();
  }

  // The recipe that draws the key of `recipe`; null on a cycle.
  load::OperationRecipe* SourceOf(load::OperationRecipe* recipe) {
    for (std::size_t hops = 0; recipe->same_as; ++hops) {
      if (hops > plan_->recipes.size()) return nullptr;
      recipe = &plan_->recipes[*recipe->same_as];
    }
    return recipe;
  }

  // One writer per key: every sequence that an update or delete takes keys from is moved to
  // classes. All of a table's classes are over one range, so that two sequences agree on who owns a
  // key.
  void MakeExclusive() {
    for (std::size_t table = 0; table < set_.tables.size(); ++table) {
      std::vector<load::OperationRecipe*> writers, sources;
      for (load::OperationRecipe& recipe : plan_->recipes) {
        const OperationKind kind = recipe.plan->kind;
        if (recipe.table != table) continue;
        if (kind != OperationKind::kUpdate && kind != OperationKind::kDelete) continue;
        writers.push_back(&recipe);
        load::OperationRecipe* const source = SourceOf(&recipe);
        if (source == nullptr) {
          status_ = InvalidArgument("{}: same_as leads back to itself", recipe.plan->name);
          return;
        }
        if (source->keys) sources.push_back(source);  // an insert's key has one writer anyway
      }
      const bool fits = std::all_of(sources.begin(), sources.end(), [&](const auto* source) {
        return source->keys->size() >= plan_->total_sessions;
      });
      for (load::OperationRecipe* writer : writers) writer->auditable = fits;
      if (!fits) continue;
      for (load::OperationRecipe* source : sources) {
        source->exclusive = true;
        source->exclusive_first = source->keys->first();
        source->exclusive_last = source->keys->last();
      }
    }
  }

  const v1::Assignment& assignment_;
  OperationSet set_;
  run::LoadPlan* plan_;
  Status status_;
};

}  // namespace

Status BuildRecipes(const v1::Assignment& assignment, run::LoadPlan* plan) {
  CAVALRY_ASSIGN_OR_RETURN(OperationSet set, MakeOperationSet(assignment.workload()));
  return RecipeBuilder(assignment, std::move(set), plan).Build();
}

}  // namespace cavalry::agent
