#include "agent/recipe_builder.h"

#include <algorithm>
#include <memory>
#include <set>

#include "agent/key_plan.h"
#include "agent/operation_plan.h"
#include "agent/script_plan.h"
#include "agent/table_plan.h"
#include "agent/writers.h"
#include "core/base/mix.h"
#include "core/base/random.h"
#include "core/wire/operation_keys.h"

namespace cavalry::agent {
namespace {

using drivers::OperationKind;

constexpr std::size_t kMaxRequestBytes = std::size_t{64} << 20;

using ColumnSet = std::set<std::pair<const drivers::TableSchema*, std::uint32_t>>;

// Columns whose value a read cannot know: some update of the spec sets them, or nobody knows it.
ColumnSet ChangedColumns(const v1::Workload& workload, const OperationSet& set) {
  ColumnSet changed;
  for (const drivers::OperationPlan& plan : set.operations) {
    if (plan.kind != OperationKind::kUpdate) continue;
    // Others are written as they were filled.
    const int own = workload.operations(static_cast<int>(plan.index)).update().set_size();
    for (int i = 0; i < own; ++i) {
      changed.emplace(plan.table, plan.columns[static_cast<std::size_t>(i)]);
    }
  }
  for (const auto& table : set.tables) {
    const std::vector<bool> unknown = UnknownColumns(*table, set.operations);
    for (std::uint32_t i = 0; i < unknown.size(); ++i) {
      if (unknown[i]) changed.emplace(table.get(), i);
    }
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

// The type that a value has as a parameter, where no column tells.
StatusOr<ColumnType> ParameterType(const v1::ValueRule& rule) {
  switch (rule.rule_case()) {
    case v1::ValueRule::kRandomInt:
      return ParseColumnType("bigint unsigned");
    case v1::ValueRule::kHashed:
      return ParseColumnType("bigint");
    case v1::ValueRule::kServer:
    case v1::ValueRule::kNewVersion:
    case v1::ValueRule::RULE_NOT_SET:
      return InvalidArgument(
          "a parameter needs keys, or a value that is neither server nor "
          "new_version");
    default:
      return ParseColumnType("text");
  }
}

class RecipeBuilder {
 public:
  RecipeBuilder(const v1::Assignment& assignment, OperationSet set, run::LoadPlan* plan)
      : assignment_(assignment),
        workload_(assignment.workload()),
        set_(std::move(set)),
        changed_(ChangedColumns(workload_, set_)),
        plan_(plan) {}

  Status Build() {
    CAVALRY_ASSIGN_OR_RETURN(script_, UnrollScript(workload_, set_));
    plan_->script = std::move(script_.plan);
    plan_->recipes.resize(set_.operations.size());
    for (std::size_t i = 0; i < set_.operations.size(); ++i) {
      CAVALRY_RETURN_IF_ERROR(Annotate(MakeRecipe(i), set_.operations[i].name));
    }
    AssignUpdateSlots();
    CAVALRY_RETURN_IF_ERROR(CheckSources());
    plan_->tables = std::move(set_.tables);
    plan_->operations = std::move(set_.operations);  // keeps the elements where recipes point to
    if (!assignment_.audit()) return absl::OkStatus();
    std::vector<bool> used;
    for (const std::uint32_t times : script_.per_iteration) used.push_back(times > 0);
    for (std::uint32_t table = 0; table < plan_->tables.size(); ++table) {
      SeparateWriters(table, used, plan_);
    }
    return absl::OkStatus();
  }

 private:
  Status MakeRecipe(std::size_t index) {
    const v1::OperationSpec& spec = workload_.operations(static_cast<int>(index));
    load::OperationRecipe& recipe = plan_->recipes[index];
    recipe.plan = &set_.operations[index];
    recipe.per_iteration = std::max<std::uint32_t>(script_.per_iteration[index], 1);
    if (spec.has_native()) return AddParameters(spec.native(), &recipe);
    if (!drivers::HasTable(recipe.plan->kind)) return absl::OkStatus();
    recipe.table = TableIndex(*recipe.plan->table);
    CAVALRY_RETURN_IF_ERROR(SetInsertedKeys(&recipe));
    CAVALRY_RETURN_IF_ERROR(AddKeys(spec, &recipe));
    CAVALRY_RETURN_IF_ERROR(AddKeyValues(&recipe));
    return AddValues(spec, &recipe);
  }

  std::uint32_t TableIndex(const drivers::TableSchema& table) const {
    for (std::uint32_t i = 0; i < set_.tables.size(); ++i) {
      if (set_.tables[i].get() == &table) return i;
    }
    return 0;
  }

  std::uint64_t FirstInsertedKey(const drivers::TableSchema& table) const {
    for (const v1::TableKey& next : assignment_.next_keys()) {
      if (next.table() == table.name) return next.key();
    }
    return table.rows + 1;
  }

  Status SetInsertedKeys(load::OperationRecipe* recipe) const {
    recipe->insert_first = FirstInsertedKey(*recipe->plan->table);
    recipe->insert_slots = std::max<std::uint64_t>(script_.insert_slots[recipe->table], 1);
    if (recipe->insert_first <= load::kMaxKey) return absl::OkStatus();
    return InvalidArgument("keys end at {}, so none can begin at {}", load::kMaxKey,
                           recipe->insert_first);
  }

  // The keys of a table that the script inserts into, for `latest`.
  load::GrowingKeys GrowthOf(std::uint32_t table) const {
    load::GrowingKeys keys;
    keys.rows = set_.tables[table]->rows;
    keys.insert_first = FirstInsertedKey(*set_.tables[table]);
    keys.block_iterations = plan_->script.variants.empty() ? 1 : kMixBlock;
    keys.block_inserts = script_.insert_slots[table];
    const v1::Numbers& numbers = assignment_.numbers();
    // A counted load gives each agent numbers in a row: those before them are other agents', who
    // work on theirs at the same time.
    if (numbers.has_count()) keys.first_number = numbers.first();
    if (numbers.warmup_stride() > 0) keys.warmup_number = numbers.warmup_first();
    return keys;
  }

  StatusOr<load::KeySequence> MakeKeys(const v1::Keys& keys, std::uint32_t table,
                                       load::KeyOrder by_default, std::uint64_t stream,
                                       std::uint32_t draws) const {
    CAVALRY_ASSIGN_OR_RETURN(
        load::KeySequenceOptions options,
        MakeKeyOptions(keys, *set_.tables[table], GrowthOf(table), by_default));
    options.seed = workload_.seed();
    options.stream = stream;
    options.per_iteration = draws;
    return load::KeySequence(options);
  }

  StatusOr<std::uint32_t> SourceIndex(const std::string& name, std::uint32_t self) const {
    for (const drivers::OperationPlan& plan : set_.operations) {
      if (plan.name != name || plan.index == self) continue;
      const bool one_key = plan.kind != OperationKind::kMultiRead &&
                           (drivers::HasTable(plan.kind) || plan.kind == OperationKind::kNative);
      if (one_key) return plan.index;
    }
    return InvalidArgument("same_as names no other operation that works on one key");
  }

  Status AddKeys(const v1::OperationSpec& spec, load::OperationRecipe* recipe) {
    const v1::Keys* keys = wire::KeysOf(spec);
    if (keys == nullptr) return absl::OkStatus();
    const drivers::OperationPlan& plan = *recipe->plan;
    const bool many = plan.kind == OperationKind::kMultiRead;
    if (keys->has_same_as()) {
      if (many) return InvalidArgument("a multi_read draws its own keys");
      CAVALRY_ASSIGN_OR_RETURN(recipe->same_as, SourceIndex(keys->same_as(), plan.index));
      return absl::OkStatus();
    }
    const load::KeyOrder by_default =
        spec.has_delete_() ? load::KeyOrder::kSequential : load::KeyOrder::kUniform;
    CAVALRY_ASSIGN_OR_RETURN(
        load::KeySequence sequence,
        MakeKeys(*keys, recipe->table, by_default, HashText(spec.name()),
                 many ? recipe->per_iteration * plan.batch : recipe->per_iteration));
    if (many && sequence.is_range() && sequence.size() < plan.batch) {
      return InvalidArgument("{} different keys out of {}", plan.batch, sequence.size());
    }
    recipe->keys.emplace(sequence);
    return absl::OkStatus();
  }

  // Generators of the key columns' values, where the row's number alone does not do.
  Status AddKeyValues(load::OperationRecipe* recipe) const {
    const drivers::OperationPlan& plan = *recipe->plan;
    if (plan.kind == OperationKind::kInsert) return absl::OkStatus();
    const drivers::TableSchema& table = *plan.table;
    const bool scans = plan.kind == OperationKind::kScan;
    const std::vector<std::uint32_t>& columns = scans ? plan.scan.columns : table.key_columns;
    if (table.key_is_number && columns == table.key_columns) return absl::OkStatus();
    std::vector<load::ColumnRule> rules;
    for (const std::uint32_t column : columns) {
      rules.push_back(set_.rules[recipe->table][column]);
      if (rules.back().kind == load::RuleKind::kServer) {
        return InvalidArgument("nobody knows the values of '{}'", table.columns[column].name);
      }
    }
    CAVALRY_ASSIGN_OR_RETURN(load::RowGenerator values,
                             MakeGenerator(table, columns, std::move(rules), workload_.seed()));
    recipe->key_values.emplace(std::move(values));
    return absl::OkStatus();
  }

  StatusOr<load::ColumnRule> RuleOf(const v1::OperationSpec& spec,
                                    const load::OperationRecipe& recipe,
                                    std::size_t position) const {
    const std::uint32_t column = recipe.plan->columns[position];
    const std::vector<load::ColumnRule>& rules = set_.rules[recipe.table];
    if (!spec.has_update()) return rules[column];
    if (position >= static_cast<std::size_t>(spec.update().set_size())) {
      load::ColumnRule as_filled = rules[column];
      as_filled.as_filled = true;
      return as_filled;
    }
    const v1::SetColumn& set = spec.update().set(static_cast<int>(position));
    if (set.value().rule_case() == v1::ValueRule::RULE_NOT_SET) return rules[column];
    const drivers::TableSchema& table = *recipe.plan->table;
    auto rule = MakeColumnRule(set.value(), table.columns[column].type, NamesOf(table, rules));
    if (rule.ok()) return rule;
    return Annotate(rule.status(), fmt::format("set.{}", set.column()));
  }

  Status AddValues(const v1::OperationSpec& spec, load::OperationRecipe* recipe) {
    const drivers::OperationPlan& plan = *recipe->plan;
    if (plan.kind != OperationKind::kRead && plan.kind != OperationKind::kInsert &&
        plan.kind != OperationKind::kUpdate) {
      return absl::OkStatus();
    }
    std::vector<load::ColumnRule> rules;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      CAVALRY_ASSIGN_OR_RETURN(load::ColumnRule rule, RuleOf(spec, *recipe, i));
      rules.push_back(std::move(rule));
    }
    CAVALRY_ASSIGN_OR_RETURN(
        load::RowGenerator values,
        MakeGenerator(*plan.table, plan.columns, std::move(rules), workload_.seed()));
    if (values.max_bytes() * plan.batch > kMaxRequestBytes) {
      return InvalidArgument("{} rows of up to {} bytes each are more than {} in one request",
                             plan.batch, values.max_bytes(), kMaxRequestBytes);
    }
    recipe->values.emplace(std::move(values));
    if (plan.kind != OperationKind::kRead) return absl::OkStatus();
    recipe->verification = VerificationOf(workload_, spec.read(), *plan.table);
    for (std::uint32_t i = 0; i < plan.columns.size(); ++i) {
      if (!changed_.contains({plan.table, plan.columns[i]})) recipe->checked.push_back(i);
    }
    if (recipe->checked.empty()) recipe->verification = load::Verification::kNever;
    return absl::OkStatus();
  }

  // The values of parameters are made as if they were columns of a table of their own.
  Status AddParameters(const v1::Native& native, load::OperationRecipe* recipe) {
    auto schema = std::make_shared<drivers::TableSchema>();
    schema->name = recipe->plan->name;
    schema->columns.resize(static_cast<std::size_t>(native.parameters_size()));
    for (int i = 0; i < native.parameters_size(); ++i) {
      const v1::Parameter& spec = native.parameters(i);
      const auto column = static_cast<std::uint32_t>(i);
      const Status status = spec.has_keys() ? AddKeyParameter(spec, column, recipe)
                                            : AddValueParameter(spec, column, schema, recipe);
      CAVALRY_RETURN_IF_ERROR(Annotate(status, fmt::format("parameters[{}]", i)));
    }
    return absl::OkStatus();
  }

  Status AddValueParameter(const v1::Parameter& spec, std::uint32_t column,
                           const std::shared_ptr<drivers::TableSchema>& schema,
                           load::OperationRecipe* recipe) {
    CAVALRY_ASSIGN_OR_RETURN(schema->columns[column].type, ParameterType(spec.value()));
    CAVALRY_ASSIGN_OR_RETURN(
        load::ColumnRule rule,
        MakeColumnRule(spec.value(), schema->columns[column].type, PatternNames{}));
    CAVALRY_ASSIGN_OR_RETURN(load::RowGenerator values,
                             MakeGenerator(*schema, {column}, {std::move(rule)}, workload_.seed()));
    recipe->parameters.push_back({std::nullopt, std::nullopt, schema, std::move(values)});
    return absl::OkStatus();
  }

  Status AddKeyParameter(const v1::Parameter& spec, std::uint32_t position,
                         load::OperationRecipe* recipe) {
    const auto found = std::find_if(set_.tables.begin(), set_.tables.end(),
                                    [&](const auto& one) { return one->name == spec.table(); });
    if (found == set_.tables.end()) return InvalidArgument("no table is named '{}'", spec.table());
    const drivers::TableSchema& table = **found;
    if (table.key_columns.size() != 1) {
      return InvalidArgument("the key of '{}' is more than one value", table.name);
    }
    const auto index = static_cast<std::uint32_t>(found - set_.tables.begin());
    const std::uint32_t column = table.key_columns.front();
    CAVALRY_ASSIGN_OR_RETURN(
        load::RowGenerator values,
        MakeGenerator(table, {column}, {set_.rules[index][column]}, workload_.seed()));
    load::ParameterRecipe parameter{std::nullopt, std::nullopt, nullptr, std::move(values)};
    if (spec.keys().has_same_as()) {
      CAVALRY_ASSIGN_OR_RETURN(parameter.same_as,
                               SourceIndex(spec.keys().same_as(), recipe->plan->index));
    } else {
      const std::string stream = fmt::format("{}[{}]", recipe->plan->name, position);
      CAVALRY_ASSIGN_OR_RETURN(
          parameter.keys, MakeKeys(spec.keys(), index, load::KeyOrder::kUniform, HashText(stream),
                                   recipe->per_iteration));
    }
    recipe->parameters.push_back(std::move(parameter));
    return absl::OkStatus();
  }

  // Gives each update of an iteration a slot of its own, so that each has a version of its own.
  void AssignUpdateSlots() {
    std::uint32_t updates = 0;
    for (load::OperationRecipe& recipe : plan_->recipes) {
      if (recipe.plan->kind != OperationKind::kUpdate) continue;
      recipe.update_slot = updates;
      updates += script_.per_iteration[recipe.plan->index];
    }
    for (load::OperationRecipe& recipe : plan_->recipes) {
      recipe.update_slots = std::max<std::uint32_t>(updates, 1);
    }
  }

  // An operation that takes another's key comes after it in the script; so none waits for itself.
  Status CheckSources() const {
    const load::ScriptPlan& script = plan_->script;
    if (script.variants.empty()) return CheckSources(0, script.steps.size());
    for (const load::ScriptVariant& variant : script.variants) {
      CAVALRY_RETURN_IF_ERROR(CheckSources(variant.first, variant.count));
    }
    return absl::OkStatus();
  }

  Status CheckSources(std::size_t first, std::size_t count) const {
    std::vector<bool> done(plan_->recipes.size(), false);
    for (std::size_t i = first; i < first + count; ++i) {
      const load::ScriptStep& step = plan_->script.steps[i];
      if (step.sleep > 0) continue;
      const load::OperationRecipe& recipe = plan_->recipes[step.operation];
      CAVALRY_RETURN_IF_ERROR(CheckSource(recipe, recipe.same_as, done));
      for (const load::ParameterRecipe& parameter : recipe.parameters) {
        CAVALRY_RETURN_IF_ERROR(CheckSource(recipe, parameter.same_as, done));
      }
      done[step.operation] = true;
    }
    return absl::OkStatus();
  }

  Status CheckSource(const load::OperationRecipe& recipe, std::optional<std::uint32_t> source,
                     const std::vector<bool>& done) const {
    if (!source || done[*source]) return absl::OkStatus();
    const load::OperationRecipe& missing = plan_->recipes[*source];
    return InvalidArgument("the script has no '{}' before '{}', whose key it could take",
                           missing.plan->name, recipe.plan->name);
  }

  const v1::Assignment& assignment_;
  const v1::Workload& workload_;
  OperationSet set_;
  const ColumnSet changed_;
  UnrolledScript script_;
  run::LoadPlan* plan_;
};

}  // namespace

Status BuildRecipes(const v1::Assignment& assignment, bool replaces_rows, run::LoadPlan* plan) {
  CAVALRY_ASSIGN_OR_RETURN(OperationSet set,
                           MakeOperationSet(assignment.workload(), replaces_rows));
  return RecipeBuilder(assignment, std::move(set), plan).Build();
}

}  // namespace cavalry::agent
