// Assignments changed at random: whatever a message says, the answer is a plan that can be used or
// an error, never a crash.
#include <gtest/gtest.h>

#include "agent/plan.h"
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

}  // namespace
}  // namespace cavalry::agent
