// Assignments changed at random: whatever a message says, the answer is a plan that can be used or
// an error, never a crash.
#include <gtest/gtest.h>

#include "agent/plan.h"
#include "agent/recipe_builder.h"
#include "agent/target_plan.h"
#include "tests/unit/agent/message_mutator.h"
#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

v1::Assignment WholeAssignment() {
  return With(BaseAssignment(), R"pb(
    operations {
      name: "find"
      read {
        table: "stock"
        keys { zipf { theta: 0.99 } }
      }
    }
    operations {
      name: "pay"
      update {
        table: "stock"
        keys { same_as: "find" }
        set {
          column: "qty"
          value { new_version {} }
        }
        set { column: "note" }
      }
    }
    operations {
      name: "log"
      insert { table: "orders" }
    }
    operations {
      name: "fix"
      update {
        table: "orders"
        keys { same_as: "log" }
        set {
          column: "state"
          value { constant: "1" }
        }
      }
    }
    operations {
      name: "drop"
      delete {
        table: "stock"
        keys { sequential { range { first: 1 last: 100 } } }
      }
    }
    operations {
      name: "see"
      read {
        table: "stock"
        columns: "note"
        keys { uniform {} }
        verify: VERIFY_ALWAYS
      }
    }
    script {
      steps { operation: "find" repeat: 4 }
      steps { operation: "pay" }
      steps { operation: "log" repeat: 2 }
      steps { operation: "fix" }
      steps { operation: "drop" }
      steps { operation: "see" }
    }
  )pb");
}

// Runs some iterations as a session would, and the ledger with them.
void Use(const run::LoadPlan& plan) {
  ASSERT_EQ(plan.recipes.size(), plan.operations.size());
  ASSERT_FALSE(plan.script.steps.empty());
  load::IterationState state(plan.recipes.size());
  load::Ledger ledger(plan.tables.size());
  load::RowChecker checker;
  load::NumberSource numbers(plan.numbers, plan.workers);
  const load::NumberSource::Block block = numbers.TakeMeasure();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(block.count, 2); ++i) {
    const std::uint64_t number = block.first + i * block.stride;
    for (std::size_t step = 0; step < std::min<std::size_t>(plan.script.steps.size(), 20); ++step) {
      const auto prepared =
          state.Prepare(plan.recipes, plan.script, step, number, plan.first_session,
                        plan.total_sessions, plan.next_version);
      const load::OperationRecipe& recipe = plan.recipes[plan.script.steps[step].operation];
      if (recipe.exclusive) {
        ASSERT_EQ(prepared.key % plan.total_sessions, plan.first_session);
      }
      if (prepared.verify) checker.Expect(recipe, prepared.key);
      drivers::OpResult result;
      result.outcome = i == 0 ? Outcome::kOk : Outcome::kTimeout;
      load::RecordInLedger(recipe, prepared, result, &ledger);
    }
  }
}

TEST(Assignments, OfAnyContentGiveAPlanOrAnError) {
  const v1::Assignment whole = WholeAssignment();
  {
    const auto plan = MakeLoadPlan(whole, 2, run::LoopKind::kAuto);
    ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
    Use(**plan);
  }
  MessageMutator mutator(20'261'130);
  int usable = 0;
  int refused = 0;
  for (int i = 0; i < 10'000; ++i) {
    v1::Assignment assignment = whole;
    for (std::uint64_t changes = 1 + mutator.Below(4); changes > 0; --changes) {
      mutator.Mutate(&assignment);
    }
    const auto plan = MakeLoadPlan(assignment, 2, run::LoopKind::kAuto);
    if (plan.ok()) {
      ++usable;
      Use(**plan);
    } else {
      ++refused;
      EXPECT_FALSE(StatusText(plan.status()).empty());
    }
    if (testing::Test::HasFailure()) FAIL() << assignment.ShortDebugString();
  }
  // Both happen often, else the changes are too tame or too wild.
  EXPECT_GT(usable, 500);
  EXPECT_GT(refused, 500);
}

// With an operation of every other kind, a key of two columns and a mix.
v1::Assignment MixedAssignment() {
  v1::Assignment assignment = With(BaseAssignment(), R"pb(
    operations {
      name: "some"
      multi_read {
        table: "stock"
        count: 5
        keys { hotspot {} }
      }
    }
    operations {
      name: "list"
      scan { table: "stock" index: "by" parts: 1 limit: 3 in: 4 }
    }
    operations {
      name: "inc"
      increment {
        table: "stock"
        column: "qty"
        keys { exponential {} }
      }
    }
    operations {
      name: "log"
      insert { table: "orders" batch: 3 columns: "id" columns: "text" }
    }
    operations {
      name: "new"
      read {
        table: "orders"
        keys { latest {} }
      }
    }
    operations {
      name: "sql"
      native {
        statement: "SELECT ?, ?"
        parameters { value { one_of { values: "a" values: "b" } } }
        parameters {
          table: "orders"
          keys { same_as: "log" }
        }
      }
    }
    operations {
      name: "set"
      update {
        table: "stock"
        set {
          column: "note"
          value { hashed {} }
        }
      }
    }
    operations {
      name: "begin"
      begin {}
    }
    operations {
      name: "commit"
      commit {}
    }
    operations {
      name: "rollback"
      rollback {}
    }
    operations {
      name: "nap"
      sleep { duration: 7 }
    }
    script {
      mix {
        name: "reads"
        weight: 9
        steps { operation: "some" repeat: 2 }
        steps { operation: "list" }
      }
      mix {
        name: "writes"
        steps { operation: "begin" }
        steps { operation: "log" repeat: 2 }
        steps { operation: "nap" }
        steps { operation: "sql" }
        steps { operation: "set" }
        steps { operation: "inc" }
        steps { operation: "commit" }
        steps { operation: "new" }
      }
    }
  )pb");
  v1::Table* table = assignment.mutable_workload()->mutable_tables(0);
  table->add_primary_key("name");
  table->mutable_columns(3)->mutable_value()->set_pattern("I{key}-{qty+1}-{digits:3}");
  v1::Index* index = table->add_indexes();
  index->set_name("by");
  index->add_columns("name");
  index->add_columns("qty");
  return assignment;
}

void UseVariants(const run::LoadPlan& plan) {
  load::IterationState state(plan.recipes.size());
  for (std::uint64_t number = 0; number < 30; ++number) {
    const load::ScriptVariant* const variant = plan.script.VariantFor(number);
    const std::size_t first = variant == nullptr ? 0 : variant->first;
    const std::size_t count = variant == nullptr ? plan.script.steps.size() : variant->count;
    for (std::size_t i = first; i < first + std::min<std::size_t>(count, 20); ++i) {
      if (plan.script.steps[i].sleep > 0) continue;
      const auto prepared = state.Prepare(plan.recipes, plan.script, i, number, 1,
                                          plan.total_sessions, plan.next_version);
      const drivers::OperationPlan& operation = *prepared.operation.plan;
      if (operation.kind == drivers::OperationKind::kInsert) {
        ASSERT_EQ(prepared.operation.values.size(), operation.columns.size() * operation.batch);
      }
      if (operation.kind == drivers::OperationKind::kNative) {
        ASSERT_EQ(prepared.operation.values.size(), operation.parameters);
      }
      if (operation.kind == drivers::OperationKind::kMultiRead) {
        ASSERT_EQ(prepared.operation.key.values().size(),
                  operation.batch * operation.table->key_columns.size());
      }
    }
  }
}

// Whatever a driver makes of the operations.
TEST(Assignments, OfAnyContentGiveRecipesOrAnError) {
  const v1::Assignment whole = MixedAssignment();
  MessageMutator mutator(20'261'201);
  int usable = 0;
  int refused = 0;
  for (int i = 0; i < 5'000; ++i) {
    v1::Assignment assignment = whole;
    for (std::uint64_t changes = i == 0 ? 0 : 1 + mutator.Below(4); changes > 0; --changes) {
      mutator.Mutate(&assignment);
    }
    run::LoadPlan plan;
    plan.total_sessions = 4;
    const Status status = BuildRecipes(assignment, i % 2 == 1, &plan);
    ASSERT_TRUE(status.ok() || i > 0) << StatusText(status);
    ++(status.ok() ? usable : refused);
    if (status.ok()) UseVariants(plan);
    if (testing::Test::HasFailure()) FAIL() << assignment.ShortDebugString();
  }
  EXPECT_GT(usable, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace cavalry::agent
