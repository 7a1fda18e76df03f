#include "agent/recipe_builder.h"

#include <algorithm>
#include <set>
#include <unordered_map>

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
  if (options.last > load::kMaxKey) {
    return InvalidArgument("{}: keys end at {}, not at {}", spec.name(), load::kMaxKey,
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
      script->steps.push_back({found->index, (*per_iteration)[found->index]++});
    }
  }
  if (script->steps.empty()) return InvalidArgument("script: no operations");
  return absl::OkStatus();
}

using ColumnSet = std::set<std::pair<const drivers::TableSchema*, std::uint32_t>>;

// Columns that some update of the spec sets, by table: reads cannot know their value.
ColumnSet ChangedColumns(const std::vector<drivers::OperationPlan>& plans) {
  ColumnSet changed;
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

class RecipeBuilder {
 public:
  RecipeBuilder(const v1::Assignment& assignment, OperationSet set, run::LoadPlan* plan)
      : assignment_(assignment),
        set_(std::move(set)),
        changed_(ChangedColumns(set_.operations)),
        plan_(plan) {}

  Status Build() {
    const v1::Workload& workload = assignment_.workload();
    CAVALRY_RETURN_IF_ERROR(
        UnrollScript(workload, set_.operations, &plan_->script, &per_iteration_));
    plan_->recipes.resize(set_.operations.size());
    for (std::size_t i = 0; i < set_.operations.size(); ++i) {
      const v1::OperationSpec& spec = workload.operations(static_cast<int>(i));
      load::OperationRecipe& recipe = plan_->recipes[i];
      recipe.plan = &set_.operations[i];
      recipe.per_iteration = std::max<std::uint32_t>(per_iteration_[i], 1);
      recipe.table = TableIndex(*recipe.plan->table);
      CAVALRY_RETURN_IF_ERROR(AddKeys(spec, &recipe));
      CAVALRY_RETURN_IF_ERROR(AddValues(spec, &recipe));
    }
    CAVALRY_RETURN_IF_ERROR(AssignSlots());
    CAVALRY_RETURN_IF_ERROR(LinkSameAs());
    CAVALRY_RETURN_IF_ERROR(CheckSources());
    if (assignment_.audit()) {
      for (std::uint32_t table = 0; table < set_.tables.size(); ++table) SeparateWriters(table);
    }
    plan_->tables = std::move(set_.tables);
    plan_->operations = std::move(set_.operations);  // keeps the elements where recipes point to
    return absl::OkStatus();
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

  StatusOr<load::ColumnRule> RuleOf(const v1::OperationSpec& spec,
                                    const load::OperationRecipe& recipe, std::size_t position) {
    const std::uint32_t column = recipe.plan->columns[position];
    const load::ColumnRule& own = set_.rules[recipe.table][column];
    if (!spec.has_update()) return own;
    const v1::SetColumn& set = spec.update().set(static_cast<int>(position));
    if (!set.has_value() || set.value().rule_case() == v1::ValueRule::RULE_NOT_SET) return own;
    const drivers::TableSchema& table = *recipe.plan->table;
    auto rule = MakeColumnRule(set.value(), table.columns[column].type,
                               table.key_column().name);
    if (rule.ok()) return rule;
    return Annotate(rule.status(), fmt::format("{}.set.{}", spec.name(), set.column()));
  }

  Status AddValues(const v1::OperationSpec& spec, load::OperationRecipe* recipe) {
    const drivers::OperationPlan& plan = *recipe->plan;
    if (plan.kind == OperationKind::kDelete) return absl::OkStatus();
    std::vector<load::ColumnRule> rules;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      CAVALRY_ASSIGN_OR_RETURN(load::ColumnRule rule, RuleOf(spec, *recipe, i));
      rules.push_back(std::move(rule));
    }
    CAVALRY_ASSIGN_OR_RETURN(
        load::RowGenerator values,
        MakeGenerator(*plan.table, plan.columns, std::move(rules), assignment_.workload().seed()));
    recipe->values.emplace(std::move(values));
    if (plan.kind != OperationKind::kRead) return absl::OkStatus();
    recipe->verification = VerificationOf(assignment_.workload(), spec.read(), *plan.table);
    for (std::uint32_t i = 0; i < plan.columns.size(); ++i) {
      if (!changed_.contains({plan.table, plan.columns[i]})) recipe->checked.push_back(i);
    }
    if (recipe->checked.empty()) recipe->verification = load::Verification::kNever;
    return absl::OkStatus();
  }

  // Gives each insert and update of an iteration a slot of its own, so that keys and versions are
  // dense.
  Status AssignSlots() {
    std::vector<std::uint32_t> inserts(set_.tables.size(), 0);
    std::uint32_t updates = 0;
    for (load::OperationRecipe& recipe : plan_->recipes) {
      const std::uint32_t occurrences = per_iteration_[recipe.plan->index];
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
      if (recipe.insert_first > load::kMaxKey) {
        return InvalidArgument("{}: keys end at {}, so none can begin at {}", recipe.plan->name,
                               load::kMaxKey, recipe.insert_first);
      }
    }
    return absl::OkStatus();
  }

  Status LinkSameAs() {
    std::unordered_map<std::string_view, std::uint32_t> by_name;
    for (const drivers::OperationPlan& plan : set_.operations) by_name[plan.name] = plan.index;
    for (int i = 0; i < assignment_.workload().operations_size(); ++i) {
      const v1::Keys* keys = KeysOf(assignment_.workload().operations(i));
      if (keys == nullptr || keys->sequence_case() != v1::Keys::kSameAs) continue;
      load::OperationRecipe& recipe = plan_->recipes[static_cast<std::size_t>(i)];
      const auto found = by_name.find(keys->same_as());
      if (found == by_name.end() || found->second == recipe.plan->index) {
        return InvalidArgument("{}: same_as names no other operation", recipe.plan->name);
      }
      recipe.same_as = found->second;
    }
    return absl::OkStatus();
  }

  // An operation that takes another's key comes after it in the script; so none waits for itself.
  Status CheckSources() const {
    std::vector<bool> done(plan_->recipes.size(), false);
    for (const load::ScriptStep& step : plan_->script.steps) {
      const load::OperationRecipe& recipe = plan_->recipes[step.operation];
      if (recipe.same_as && !done[*recipe.same_as]) {
        return InvalidArgument("the script has no '{}' before '{}', whose key it could take",
                               plan_->recipes[*recipe.same_as].plan->name, recipe.plan->name);
      }
      done[step.operation] = true;
    }
    return absl::OkStatus();
  }

  // The recipe that draws the key of `recipe`, or inserts it. REQUIRES: CheckSources passed, and
  // the script has `recipe`.
  load::OperationRecipe* SourceOf(load::OperationRecipe* recipe) {
    while (recipe->same_as) recipe = &plan_->recipes[*recipe->same_as];
    return recipe;
  }

  // One writer per key: every sequence that an update or delete of the table takes keys from is
  // moved to the sessions' classes. An inserted key has one writer anyway, its own session, unless
  // other keys reach into the inserted ones. Where there are several writers, nobody knows which
  // write is the last, and the writes are not audited.
  void SeparateWriters(std::uint32_t table) {
    std::vector<load::OperationRecipe*> inserts, writers, drawn, inserted;
    for (load::OperationRecipe& recipe : plan_->recipes) {
      if (recipe.table != table || per_iteration_[recipe.plan->index] == 0) continue;
      if (recipe.plan->kind == OperationKind::kInsert) inserts.push_back(&recipe);
      if (recipe.plan->kind != OperationKind::kUpdate &&
          recipe.plan->kind != OperationKind::kDelete) {
        continue;
      }
      writers.push_back(&recipe);
      load::OperationRecipe* const source = SourceOf(&recipe);
      (source->keys ? drawn : inserted).push_back(source);
    }
    bool one_writer = true;
    for (const auto* source : inserted) {
      if (source->table != inserted.front()->table) one_writer = false;
    }
    for (const auto* source : drawn) {
      if (source->keys->size() < plan_->total_sessions) one_writer = false;
      if (!inserted.empty() && source->keys->last() >= inserted.front()->insert_first) {
        one_writer = false;
      }
    }
    for (load::OperationRecipe* writer : writers) writer->auditable = one_writer;
    for (load::OperationRecipe* insert : inserts) {
      const bool reached =
          std::any_of(
              drawn.begin(), drawn.end(),
              [&](const auto* from) { return from->keys->last() >= insert->insert_first; }) ||
          std::any_of(inserted.begin(), inserted.end(),
                      [&](const auto* from) { return from->table != table || !one_writer; });
      insert->auditable = !reached;
    }
    if (!one_writer) return;
    for (load::OperationRecipe* source : drawn) {
      source->exclusive = true;
      source->exclusive_first = source->keys->first();
      source->exclusive_last = source->keys->last();
    }
  }

  const v1::Assignment& assignment_;
  OperationSet set_;
  const ColumnSet changed_;
  std::vector<std::uint32_t> per_iteration_;  // times each operation occurs in the script
  run::LoadPlan* plan_;
};

}  // namespace

Status BuildRecipes(const v1::Assignment& assignment, run::LoadPlan* plan) {
  CAVALRY_ASSIGN_OR_RETURN(OperationSet set, MakeOperationSet(assignment.workload()));
  return RecipeBuilder(assignment, std::move(set), plan).Build();
}

}  // namespace cavalry::agent
