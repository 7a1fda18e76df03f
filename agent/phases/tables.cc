#include "agent/phases/tables.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "agent/phases/preflight_connect.h"
#include "agent/phases/row_probe.h"
#include "agent/phases/targets.h"
#include "agent/plan.h"
#include "core/base/clock.h"
#include "core/base/units.h"

namespace cavalry::agent {
namespace {

struct Table {
  TablePlan plan;
  drivers::TableInfo info;
  bool may_destroy = false;  // cavalry made it, or --allow-destroy names it
};

struct Owner {
  std::unique_ptr<drivers::Admin> admin;
  std::string target;
  std::string database;
  std::vector<Table> tables;

  std::string FullName(const Table& table) const {
    return database.empty() ? table.plan.schema->name : database + "." + table.plan.schema->name;
  }
};

// Looks at every table before anything is changed. `count`: see Admin::Describe.
StatusOr<Owner> LookAtTables(const PhaseContext& context, std::unique_ptr<drivers::Admin> admin,
                             bool count) {
  const v1::RunPhase& order = context.order;
  Owner owner;
  owner.target = order.target();
  CAVALRY_ASSIGN_OR_RETURN(const TargetPlan target,
                           MakeTargetPlan(order.workload(), order.target()));
  owner.database = target.settings.Text("database", "");
  owner.admin = std::move(admin);
  for (const v1::Table& spec : order.workload().tables()) {
    CAVALRY_RETURN_IF_ERROR(context.CheckStop());
    Table table;
    CAVALRY_ASSIGN_OR_RETURN(table.plan, MakeTablePlan(spec, order.workload().seed()));
    auto info = owner.admin->Describe(*table.plan.schema, count);
    if (!info.ok()) return Annotate(info.status(), owner.target);
    table.info = *info;
    table.may_destroy = info->marked;
    for (const std::string& name : order.allow_destroy()) {
      if (name == spec.name() || name == owner.FullName(table)) table.may_destroy = true;
    }
    owner.tables.push_back(std::move(table));
  }
  return owner;
}

StatusOr<Owner> LookAtTables(const PhaseContext& context) {
  CAVALRY_ASSIGN_OR_RETURN(std::unique_ptr<drivers::Admin> admin,
                           ConnectAdmin(context.order.workload(), context.order.target()));
  return LookAtTables(context, std::move(admin), true);
}

// Refuses as a whole when one table is there that cavalry did not create.
Status RefuseForeign(const Owner& owner, std::string_view what) {
  for (const Table& table : owner.tables) {
    if (!table.info.exists || table.may_destroy || table.plan.schema->use_as_is) continue;
    const std::string name = owner.FullName(table);
    return FailedPrecondition(
        "{}: {} would empty {} ({} rows), which cavalry did not create. Nothing was changed. Use "
        "'existing: use', another database, or --allow-destroy {}.",
        owner.target, what, name, FormatCount(table.info.rows), name);
  }
  return absl::OkStatus();
}

Status CheckUsedAsIs(const Owner& owner, const Table& table) {
  if (!table.info.exists) {
    return FailedPrecondition(
        "{}: {} does not exist, but the spec says 'existing: use'. Create it, or leave 'existing' "
        "out and cavalry creates and fills it.",
        owner.target, owner.FullName(table));
  }
  return Annotate(owner.admin->CheckColumns(*table.plan.schema), owner.target);
}

void Report(const Owner& owner, v1::PhaseDone* done) {
  for (const Table& table : owner.tables) {
    v1::TableState* state = done->add_tables();
    state->set_table(table.plan.schema->name);
    state->set_exists(table.info.exists);
    state->set_marked(table.info.marked);
    state->set_filled(table.info.filled);
    state->set_rows(table.info.rows);
    state->set_max_key(table.info.max_key);
    state->set_used_as_is(table.plan.schema->use_as_is);
  }
}

}  // namespace

Status ResetTables(const PhaseContext& context, v1::PhaseDone* done) {
  if (context.order.workload().reset() == v1::RESET_NEVER) {
    return FailedPrecondition("{}: with 'reset: never' no table is reset", context.order.target());
  }
  CAVALRY_ASSIGN_OR_RETURN(Owner owner, LookAtTables(context));
  CAVALRY_RETURN_IF_ERROR(RefuseForeign(owner, "reset"));
  for (Table& table : owner.tables) {
    const drivers::TableSchema& schema = *table.plan.schema;
    if (!table.info.exists || schema.use_as_is || table.info.filled) continue;
    CAVALRY_RETURN_IF_ERROR(context.CheckStop());
    if (table.info.marked && table.info.same_schema) {
      CAVALRY_RETURN_IF_ERROR(Annotate(owner.admin->Truncate(schema), owner.target));
      table.info.rows = table.info.max_key = 0;
    } else {
      const bool allow_unmarked =
          !table.info.marked;  // --allow-destroy named it: see RefuseForeign
      CAVALRY_RETURN_IF_ERROR(Annotate(owner.admin->Drop(schema, allow_unmarked), owner.target));
      table.info = {};
    }
  }
  Report(owner, done);
  return absl::OkStatus();
}

Status PrepareTables(const PhaseContext& context, v1::PhaseDone* done) {
  CAVALRY_ASSIGN_OR_RETURN(Owner owner, LookAtTables(context));
  const bool never_reset = context.order.workload().reset() == v1::RESET_NEVER;
  if (!never_reset) CAVALRY_RETURN_IF_ERROR(RefuseForeign(owner, "prepare"));
  for (Table& table : owner.tables) {
    const drivers::TableSchema& schema = *table.plan.schema;
    CAVALRY_RETURN_IF_ERROR(context.CheckStop());
    if (schema.use_as_is || (never_reset && table.info.exists)) {
      CAVALRY_RETURN_IF_ERROR(CheckUsedAsIs(owner, table));
    } else if (!table.info.exists) {
      if (never_reset) {
        return FailedPrecondition(
            "{}: {} does not exist, and with 'reset: never' it is not created. Use 'reset: run'.",
            owner.target, owner.FullName(table));
      }
      CAVALRY_RETURN_IF_ERROR(Annotate(owner.admin->Create(schema), owner.target));
      table.info.exists = table.info.marked = table.info.same_schema = true;
      table.info.filled = schema.rows == 0;
    } else if (!table.info.same_schema) {
      return FailedPrecondition(
          "{}: {} is there with other columns or rules than the spec says; reset it first.",
          owner.target, owner.FullName(table));
    }
  }
  Report(owner, done);
  return absl::OkStatus();
}

namespace {

// Orders that name tables concern these only.
bool Concerns(const v1::RunPhase& order, std::string_view table) {
  return order.shares().empty() ||
         std::any_of(order.shares().begin(), order.shares().end(),
                     [&](const v1::KeyShare& share) { return share.table() == table; });
}

}  // namespace

Status MarkTables(const PhaseContext& context, drivers::TableMark mark, v1::PhaseDone* done) {
  CAVALRY_ASSIGN_OR_RETURN(Owner owner, LookAtTables(context));
  for (Table& table : owner.tables) {
    drivers::TableSchema& schema = *table.plan.schema;
    if (schema.use_as_is || !table.info.marked || !Concerns(context.order, schema.name)) continue;
    if (!table.info.same_schema) {
      if (mark == drivers::TableMark::kFilled) continue;
      // Made for another spec and used with 'reset: never': from now on it is as no spec says.
      schema.schema_hash = 0;
    }
    CAVALRY_RETURN_IF_ERROR(Annotate(owner.admin->Mark(schema, mark), owner.target));
    table.info.filled = mark == drivers::TableMark::kFilled && table.info.rows == schema.rows;
  }
  Report(owner, done);
  return absl::OkStatus();
}

Status CleanUpTables(const PhaseContext& context, v1::PhaseDone* done) {
  CAVALRY_ASSIGN_OR_RETURN(Owner owner, LookAtTables(context));
  for (Table& table : owner.tables) {
    if (!table.info.exists || !table.info.marked || table.plan.schema->use_as_is) continue;
    CAVALRY_RETURN_IF_ERROR(Annotate(owner.admin->Drop(*table.plan.schema), owner.target));
    table.info = {};
  }
  Report(owner, done);
  return absl::OkStatus();
}

namespace {

Nanos ConnectTimeout(const v1::Load& load) {
  constexpr Nanos kDefault = 5 * kSecond;
  constexpr std::uint64_t kMost = 10 * 60 * kSecond;
  if (load.connect_timeout() == 0) return kDefault;
  return static_cast<Nanos>(std::min(load.connect_timeout(), kMost));
}

// What a target is to be able to do: the spec's operations, or, if it only owns tables, to have
// them.
std::vector<drivers::OperationPlan> OperationsFor(const TargetPlan& target,
                                                  const OperationSet& set) {
  if (target.loaded) return set.operations;
  std::vector<drivers::OperationPlan> reads;
  for (const auto& table : set.tables) {
    drivers::OperationPlan read;
    read.name = table->name;
    read.index = static_cast<std::uint32_t>(reads.size());
    read.table = table.get();
    for (std::uint32_t i = 0; i < table->columns.size(); ++i) read.columns.push_back(i);
    reads.push_back(std::move(read));
  }
  return reads;
}

}  // namespace

Status Preflight(const PhaseContext& context, v1::PhaseDone* done) {
  const v1::RunPhase& order = context.order;
  const v1::Workload& workload = order.workload();
  CAVALRY_ASSIGN_OR_RETURN(TargetPlan target, MakeTargetPlan(workload, order.target()));
  CAVALRY_ASSIGN_OR_RETURN(const OperationSet set,
                           MakeOperationSet(workload, target.driver->replaces_rows()));
  const std::vector<drivers::OperationPlan> operations = OperationsFor(target, set);
  CAVALRY_RETURN_IF_ERROR(CheckOperations(target, operations));
  for (const std::string& warning : target.driver->Warnings(target.settings, operations)) {
    done->add_warnings(fmt::format("{}: {}", target.name, warning));
  }
  if (workload.load().pipeline() > 1 && target.loaded && !target.driver->pipelines()) {
    done->add_warnings(fmt::format(
        "target {}: the {} driver has one operation in flight per session, so load.pipeline {} "
        "does not apply to it",
        target.name, target.driver->kind(), workload.load().pipeline()));
  }
  if (!order.connect()) return absl::OkStatus();
  CAVALRY_RETURN_IF_ERROR(
      Annotate(ResolveSecrets(workload, target.driver->kind(), &target.settings), target.name));
  if (!target.driver->owns_tables()) {
    CAVALRY_RETURN_IF_ERROR(TryEndpoints(target, operations, ConnectTimeout(workload.load())));
  }
  // A target without tables of its own is described by its owner, which is the same server.
  CAVALRY_ASSIGN_OR_RETURN(std::unique_ptr<drivers::Admin> admin,
                           ConnectAdmin(workload, target.owner));
  CAVALRY_ASSIGN_OR_RETURN(const auto variables, admin->ServerVariables());
  for (const auto& [name, value] : variables) {
    v1::NameValue* variable = done->add_server();
    variable->set_name(name);
    variable->set_value(value);
  }
  if (target.loaded) CAVALRY_RETURN_IF_ERROR(ProbeRows(context, target, admin.get(), done));
  if (!target.driver->owns_tables()) return absl::OkStatus();
  if (target.loaded) {
    CAVALRY_ASSIGN_OR_RETURN(const auto limits,
                             admin->Limits(workload.load().sessions(), operations.size()));
    for (const std::string& limit : limits) {
      done->add_warnings(fmt::format("{}: {}", target.name, limit));
    }
  }
  if (target.owner != target.name || workload.reset() == v1::RESET_NEVER) return absl::OkStatus();
  // Said now rather than by the reset, so that a check says it too.
  CAVALRY_ASSIGN_OR_RETURN(const Owner owner, LookAtTables(context, std::move(admin), false));
  return RefuseForeign(owner, "reset");
}

}  // namespace cavalry::agent
