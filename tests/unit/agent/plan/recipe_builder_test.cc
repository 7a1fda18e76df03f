#include "agent/recipe_builder.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

StatusOr<std::unique_ptr<run::LoadPlan>> Plan(const v1::Assignment& assignment) {
  return MakeLoadPlan(assignment, 1, run::LoopKind::kAuto);
}

StatusOr<std::unique_ptr<run::LoadPlan>> Plan(const std::string& workload) {
  return Plan(With(BaseAssignment(), workload));
}

std::string ErrorOf(const std::string& workload) {
  const auto plan = Plan(workload);
  return plan.ok() ? "ok" : StatusText(plan.status());
}

TEST(Recipes, GiveEachInsertAndUpdateASlotOfItsOwn) {
  const auto plan = Plan(R"pb(
    operations {
      name: "a"
      insert { table: "orders" }
    }
    operations {
      name: "b"
      insert { table: "orders" }
    }
    operations {
      name: "c"
      insert { table: "stock" }
    }
    operations {
      name: "u"
      update {
        table: "stock"
        set {
          column: "qty"
          value { new_version {} }
        }
      }
    }
    operations {
      name: "v"
      update {
        table: "stock"
        set { column: "note" }
      }
    }
    script {
      steps { operation: "a" repeat: 2 }
      steps { operation: "u" }
      steps { operation: "b" }
      steps { operation: "a" }
      steps { operation: "c" }
      steps { operation: "v" repeat: 3 }
    }
  )pb");
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  load::IterationState state((*plan)->recipes.size());
  std::map<std::string, std::set<std::uint64_t>> keys;
  std::set<std::uint64_t> versions;
  for (std::uint64_t number = 0; number < 10; ++number) {
    for (std::size_t step = 0; step < (*plan)->script.steps.size(); ++step) {
      const auto prepared = state.Prepare((*plan)->recipes, (*plan)->script, step, number, 0, 4, 1);
      if (prepared.operation.plan->kind == drivers::OperationKind::kInsert) {
        EXPECT_TRUE(keys[prepared.operation.plan->table->name].insert(prepared.key).second);
      } else {
        EXPECT_TRUE(versions.insert(prepared.version).second);
      }
    }
  }
  EXPECT_EQ(keys["orders"].size(), 40U);
  EXPECT_EQ(*keys["orders"].rbegin(), 40U);
  EXPECT_EQ(keys["stock"].size(), 10U);
  EXPECT_EQ(*keys["stock"].begin(), 101U);
  EXPECT_EQ(versions.size(), 40U);
  EXPECT_EQ(*versions.rbegin(), 40U);
}

TEST(Recipes, RefuseBadReferences) {
  EXPECT_EQ(ErrorOf(R"pb(operations {
                           name: "a"
                           read { table: "stock" }
                         }
                         script { steps { operation: "a" } })pb"),
            "ok");
  EXPECT_NE(ErrorOf(R"pb(operations {
                           name: "a"
                           read { table: "stock" }
                         }
                         script { steps { operation: "b" } })pb"),
            "ok");
  EXPECT_NE(ErrorOf(R"pb(operations {
                           name: "a"
                           read { table: "stock" }
                         })pb"),
            "ok");
  EXPECT_NE(ErrorOf(R"pb(operations {
                           name: "a"
                           read { table: "stock" }
                         }
                         script { steps { operation: "a" repeat: 0 } })pb"),
            "ok");
  EXPECT_NE(ErrorOf(R"pb(operations {
                           name: "a"
                           read { table: "stock" }
                         }
                         script { steps { operation: "a" repeat: 4294967295 } })pb"),
            "ok");
  EXPECT_NE(ErrorOf(R"pb(operations {
                           name: "a"
                           read { table: "orders" }
                         }
                         script { steps { operation: "a" } })pb"),
            "ok");  // has no rows, so no keys
  EXPECT_NE(ErrorOf(R"pb(operations {
                           name: "a"
                           read {
                             table: "stock"
                             keys { same_as: "b" }
                           }
                         }
                         script { steps { operation: "a" } })pb"),
            "ok");
}

TEST(Recipes, RefuseKeysWithoutASourceBeforeThem) {
  const std::string operations = R"pb(
    operations {
      name: "a"
      read {
        table: "stock"
        keys { same_as: "b" }
      }
    }
    operations {
      name: "b"
      update {
        table: "stock"
        keys { same_as: "a" }
        set { column: "qty" }
      }
    }
    operations {
      name: "c"
      read { table: "stock" }
    }
    operations {
      name: "d"
      delete {
        table: "stock"
        keys { same_as: "d" }
      }
    }
  )pb";
  // A circle, with and without audit; a source that comes later, or only in the next iteration.
  EXPECT_NE(ErrorOf(operations + R"pb(script {
                                        steps { operation: "a" }
                                        steps { operation: "b" }
                                      })pb"),
            "ok");
  EXPECT_NE(ErrorOf(operations + R"pb(script { steps { operation: "d" } })pb"), "ok");
  const std::string chain = R"pb(
    operations {
      name: "a"
      read {
        table: "stock"
        keys { same_as: "b" }
      }
    }
    operations {
      name: "b"
      read { table: "stock" }
    }
  )pb";
  EXPECT_NE(ErrorOf(chain + R"pb(script {
                                   steps { operation: "a" }
                                   steps { operation: "b" }
                                 })pb"),
            "ok");
  EXPECT_NE(ErrorOf(chain + R"pb(script { steps { operation: "a" } })pb"), "ok");
  EXPECT_EQ(ErrorOf(chain + R"pb(script {
                                   steps { operation: "b" }
                                   steps { operation: "a" }
                                 })pb"),
            "ok");
}

TEST(Recipes, RefuseKeyRangesThatWrap) {
  const auto range = [](const std::string& first, const std::string& last) {
    return ErrorOf(
        "operations { name: 'a' read { table: 'stock' keys { sequential { range { first: " + first +
        " last: " + last + " } } } } } script { steps { operation: 'a' } }");
  };
  EXPECT_EQ(range("0", "9223372036854775807"), "ok");
  EXPECT_NE(range("0", "18446744073709551615"), "ok");
  EXPECT_NE(range("1", "9223372036854775808"), "ok");
  EXPECT_NE(range("5", "4"), "ok");
}

TEST(Recipes, RefuseExponentsThatAreNone) {
  for (const char* theta : {"0", "-1", "5.1", "nan", "inf"}) {
    EXPECT_NE(ErrorOf("operations { name: 'a' read { table: 'stock' keys { zipf { theta: " +
                      std::string(theta) + " } } } } script { steps { operation: 'a' } }"),
              "ok")
        << theta;
  }
}

TEST(Recipes, VerifyOnlyRowsThatFollowTheRules) {
  const std::string read_and_change = R"pb(
    operations {
      name: "find"
      read { table: "stock" columns: "id" columns: "qty" columns: "name" }
    }
    operations {
      name: "qty"
      read { table: "stock" columns: "qty" }
    }
    operations {
      name: "add"
      update {
        table: "stock"
        set { column: "qty" }
      }
    }
    script {
      steps { operation: "find" }
      steps { operation: "qty" }
    }
  )pb";
  auto plan = Plan(read_and_change);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->recipes[0].verification, load::Verification::kSampled);
  EXPECT_EQ((*plan)->recipes[0].checked, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ((*plan)->recipes[1].verification, load::Verification::kNever);
  plan = Plan(read_and_change + "reset: RESET_NEVER");
  EXPECT_EQ((*plan)->recipes[0].verification, load::Verification::kNever);
  v1::Assignment assignment = With(BaseAssignment(), read_and_change);
  assignment.mutable_workload()->mutable_tables(0)->set_existing(v1::EXISTING_USE);
  EXPECT_EQ((*Plan(assignment))->recipes[0].verification, load::Verification::kNever);
}

// Runs the script for all sessions over many iterations and finds keys that the audit counts on and
// that several sessions wrote.
void ExpectOneWriterPerKey(const run::LoadPlan& plan) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::set<std::uint64_t>> writers;
  for (std::uint64_t number = 0; number < 400; ++number) {
    const std::uint64_t session = number * 7 % plan.total_sessions;
    load::IterationState state(plan.recipes.size());
    for (std::size_t step = 0; step < plan.script.steps.size(); ++step) {
      const auto prepared =
          state.Prepare(plan.recipes, plan.script, step, number, session, plan.total_sessions, 1);
      const load::OperationRecipe& recipe = plan.recipes[plan.script.steps[step].operation];
      if (recipe.plan->kind == drivers::OperationKind::kRead || !recipe.auditable) continue;
      writers[{recipe.table, prepared.key}].insert(session);
    }
  }
  for (const auto& [key, sessions] : writers) {
    EXPECT_EQ(sessions.size(), 1U) << "table " << key.first << " key " << key.second;
  }
}

TEST(Audit, MakesSequencesExclusiveIncludingSources) {
  const auto plan = Plan(R"pb(
    operations {
      name: "find"
      read {
        table: "stock"
        keys { zipf {} }
      }
    }
    operations {
      name: "pay"
      update {
        table: "stock"
        keys { same_as: "find" }
        set { column: "qty" }
      }
    }
    operations {
      name: "del"
      delete {
        table: "stock"
        keys { sequential { range { first: 5 last: 60 } } }
      }
    }
    operations {
      name: "look"
      read { table: "stock" }
    }
    script {
      steps { operation: "find" repeat: 2 }
      steps { operation: "pay" }
      steps { operation: "del" }
      steps { operation: "look" }
    }
  )pb");
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_TRUE((*plan)->recipes[0].exclusive);
  EXPECT_FALSE((*plan)->recipes[1].exclusive);
  EXPECT_TRUE((*plan)->recipes[2].exclusive);
  EXPECT_FALSE((*plan)->recipes[3].exclusive);  // only read
  for (const load::OperationRecipe& recipe : (*plan)->recipes) EXPECT_TRUE(recipe.auditable);
  ExpectOneWriterPerKey(**plan);
}

constexpr char kPayOverThreeKeys[] = R"pb(
  operations {
    name: "pay"
    update {
      table: "stock"
      keys { uniform { range { first: 1 last: 3 } } }
      set { column: "qty" }
    }
  }
  operations {
    name: "del"
    delete { table: "stock" }
  }
)pb";

TEST(Audit, LeavesKeysAloneWhenThereAreFewerThanSessions) {
  const auto plan = Plan(kPayOverThreeKeys + std::string(R"pb(
                           script {
                             steps { operation: "pay" }
                             steps { operation: "del" }
                           }
                         )pb"));
  ASSERT_TRUE(plan.ok());
  for (const load::OperationRecipe& recipe : (*plan)->recipes) {
    EXPECT_FALSE(recipe.exclusive);
    EXPECT_FALSE(recipe.auditable);
  }
}

TEST(Audit, IsNotHinderedByOperationsThatTheScriptLeavesOut) {
  const auto plan =
      Plan(kPayOverThreeKeys + std::string(R"pb(script { steps { operation: "del" } })pb"));
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE((*plan)->recipes[1].exclusive);
  EXPECT_TRUE((*plan)->recipes[1].auditable);
}

TEST(Audit, WithoutItKeysStayWhereTheyFall) {
  v1::Assignment assignment = With(BaseAssignment(), kPayOverThreeKeys);
  assignment.set_audit(false);
  assignment.mutable_workload()->mutable_script()->add_steps()->set_operation("del");
  const auto plan = Plan(assignment);
  EXPECT_FALSE((*plan)->recipes[1].exclusive);
  EXPECT_FALSE((*plan)->keep_ledger);
}

TEST(Audit, InsertedKeysHaveOneWriterUnlessOthersReachThem) {
  const std::string insert_and_change = R"pb(
    operations {
      name: "add"
      insert { table: "stock" }
    }
    operations {
      name: "set"
      update {
        table: "stock"
        keys { same_as: "add" }
        set { column: "qty" }
      }
    }
    script {
      steps { operation: "add" }
      steps { operation: "set" }
    }
  )pb";
  auto plan = Plan(insert_and_change);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_TRUE((*plan)->recipes[0].auditable);
  EXPECT_TRUE((*plan)->recipes[1].auditable);
  EXPECT_FALSE((*plan)->recipes[0].exclusive);
  ExpectOneWriterPerKey(**plan);

  // A sequence of its own over the filled rows leaves the inserted ones alone.
  const auto with_pay = [&](const std::string& last) {
    return With(With(BaseAssignment(), insert_and_change),
                "operations { name: 'pay' update { table: 'stock' keys { uniform { range { first: "
                "1 last: " +
                    last +
                    " } } } set { column: 'note' } } } script { steps { operation: 'pay' } }");
  };
  plan = Plan(with_pay("100"));
  ASSERT_TRUE(plan.ok());
  for (const load::OperationRecipe& recipe : (*plan)->recipes) EXPECT_TRUE(recipe.auditable);
  ExpectOneWriterPerKey(**plan);
  // One that reaches them does not.
  plan = Plan(with_pay("101"));
  ASSERT_TRUE(plan.ok());
  for (const load::OperationRecipe& recipe : (*plan)->recipes) EXPECT_FALSE(recipe.auditable);
}

TEST(Audit, InsertsThatOthersChangeAreNotAudited) {
  const auto plan = Plan(R"pb(
    operations {
      name: "add"
      insert { table: "orders" }
    }
    operations {
      name: "pay"
      update {
        table: "orders"
        keys { uniform { range { first: 1 last: 50 } } }
        set { column: "text" }
      }
    }
    script {
      steps { operation: "add" }
      steps { operation: "pay" }
    }
  )pb");
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_FALSE((*plan)->recipes[0].auditable);  // an update of another agent may follow
  EXPECT_TRUE((*plan)->recipes[1].auditable);
  ExpectOneWriterPerKey(**plan);
}

TEST(Audit, KeysFromInsertsIntoTwoTablesMayMeet) {
  const auto plan = Plan(R"pb(
    operations {
      name: "s"
      insert { table: "stock" }
    }
    operations {
      name: "o"
      insert { table: "orders" }
    }
    operations {
      name: "u"
      update {
        table: "orders"
        keys { same_as: "s" }
        set { column: "text" }
      }
    }
    operations {
      name: "v"
      update {
        table: "orders"
        keys { same_as: "o" }
        set { column: "state" }
      }
    }
    script {
      steps { operation: "s" }
      steps { operation: "o" }
      steps { operation: "u" }
      steps { operation: "v" }
    }
  )pb");
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_TRUE((*plan)->recipes[0].auditable);
  EXPECT_FALSE((*plan)->recipes[1].auditable);
  EXPECT_FALSE((*plan)->recipes[2].auditable);
  EXPECT_FALSE((*plan)->recipes[3].auditable);
  ExpectOneWriterPerKey(**plan);
}

}  // namespace
}  // namespace cavalry::agent
