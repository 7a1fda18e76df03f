#include "agent/recipe_builder.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
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

// The recipes alone, whether or not a driver can do the operations.
StatusOr<std::unique_ptr<run::LoadPlan>> Build(const v1::Assignment& assignment,
                                               bool replaces_rows = false) {
  auto plan = std::make_unique<run::LoadPlan>();
  plan->total_sessions = assignment.workload().load().sessions();
  CAVALRY_RETURN_IF_ERROR(BuildRecipes(assignment, replaces_rows, plan.get()));
  return plan;
}

StatusOr<std::unique_ptr<run::LoadPlan>> Build(const std::string& workload) {
  return Build(With(BaseAssignment(), workload));
}

std::string BuildError(const std::string& workload) {
  const auto plan = Build(workload);
  return plan.ok() ? "ok" : StatusText(plan.status());
}

const char* const kMix = R"pb(
  operations {
    name: "add"
    insert { table: "orders" batch: 2 }
  }
  operations {
    name: "get"
    read { table: "stock" }
  }
  operations {
    name: "new"
    read {
      table: "orders"
      keys { latest {} }
    }
  }
  operations {
    name: "pay"
    update {
      table: "stock"
      keys { same_as: "get" }
      set { column: "qty" }
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
    name: "pause"
    sleep { duration: 1000 }
  }
  script {
    mix {
      name: "add"
      weight: 1
      steps { operation: "add" }
    }
    mix {
      name: "new"
      weight: 5
      steps { operation: "new" }
    }
    mix {
      name: "buy"
      weight: 4
      steps { operation: "begin" }
      steps { operation: "get" repeat: 2 }
      steps { operation: "pause" }
      steps { operation: "pay" }
      steps { operation: "add" repeat: 3 }
      steps { operation: "commit" }
    }
  }
)pb";

TEST(Scripts, UnrollTheVariantsOfAMix) {
  const auto made = Build(kMix);
  ASSERT_TRUE(made.ok()) << StatusText(made.status());
  const load::ScriptPlan& script = (*made)->script;
  ASSERT_EQ(script.variants.size(), 3U);
  EXPECT_EQ(script.variants[2].name, "buy");
  EXPECT_EQ(script.variants[2].first, 2U);
  EXPECT_EQ(script.variants[2].count, 9U);
  EXPECT_EQ(script.variants[2].begin, 6'000U);
  EXPECT_EQ(script.variants[2].end, 10'000U);
  EXPECT_EQ(script.steps[4].slot, 1U);
  EXPECT_EQ(script.steps[5].sleep, 1'000);
  EXPECT_EQ((*made)->operations.size(), 7U);
  ASSERT_TRUE(script.rollback);
  EXPECT_EQ((*made)->operations[*script.rollback].kind, drivers::OperationKind::kRollback);
  EXPECT_EQ((*made)->recipes[0].per_iteration, 3U);
  // 1,000 x 2 rows, 4,000 x 6 rows a block.
  EXPECT_EQ((*made)->recipes[0].insert_slots, 26'000U);
  EXPECT_TRUE((*made)->recipes[0].auditable);
  EXPECT_TRUE((*made)->recipes[1].exclusive);
  EXPECT_TRUE((*made)->recipes[3].auditable);
}

TEST(Scripts, InsertDenseKeysInAMix) {
  const auto made = Build(kMix);
  ASSERT_TRUE(made.ok());
  const run::LoadPlan& plan = **made;
  load::IterationState state(plan.recipes.size());
  std::set<std::uint64_t> keys;
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    const load::ScriptVariant* variant = plan.script.VariantFor(number);
    for (std::size_t i = variant->first; i < variant->first + variant->count; ++i) {
      if (plan.script.steps[i].sleep > 0) continue;
      const auto prepared = state.Prepare(plan.recipes, plan.script, i, number, 0, 4, 1);
      if (prepared.operation.plan->kind != drivers::OperationKind::kInsert) continue;
      EXPECT_TRUE(keys.insert(prepared.key).second);
      EXPECT_TRUE(keys.insert(prepared.key + 1).second);
    }
  }
  EXPECT_EQ(keys.size(), 26'000U);
  EXPECT_EQ(*keys.rbegin(), 26'000U);
}

TEST(Scripts, EachVariantNeedsItsOwnSources) {
  const auto plan = Build(With(With(BaseAssignment(), kMix), R"pb(
    script {
      mix {
        name: "late"
        steps { operation: "pay" }
      }
    }
  )pb"));
  EXPECT_NE(StatusText(plan.status()).find("no 'get' before 'pay'"), std::string::npos);
}

TEST(Scripts, RefuseWeightsThatAreNone) {
  v1::Assignment assignment = With(BaseAssignment(), kMix);
  v1::MixEntry* entry = assignment.mutable_workload()->mutable_script()->mutable_mix(0);
  for (const double weight : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    entry->set_weight(weight);
    EXPECT_FALSE(Build(assignment).ok()) << weight;
  }
  entry->set_weight(1e-300);
  EXPECT_TRUE(Build(assignment).ok());
}

TEST(Scripts, RefusePipelinesThatWait) {
  v1::Assignment assignment = With(BaseAssignment(), kMix);
  assignment.set_target("hs");
  assignment.mutable_workload()->mutable_load()->set_pipeline(2);
  EXPECT_NE(StatusText(Plan(assignment).status()).find("load.pipeline 2: only for scripts of"),
            std::string::npos);
}

TEST(Recipes, KeysOfLatestBeginWithTheAgentsNumbers) {
  v1::Assignment assignment = With(BaseAssignment(), R"pb(
    operations {
      name: "add"
      insert { table: "stock" }
    }
    operations {
      name: "new"
      read {
        table: "stock"
        keys { latest {} }
      }
    }
    script {
      steps { operation: "add" }
      steps { operation: "new" }
    }
  )pb");
  assignment.mutable_numbers()->set_first(1'000);
  assignment.mutable_numbers()->set_count(100);
  const auto plan = Build(assignment);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  const load::KeySequence& keys = *(*plan)->recipes[1].keys;
  for (std::uint64_t number = 1'000; number < 1'100; ++number) {
    const std::uint64_t key = keys.KeyFor(number, 0);
    EXPECT_TRUE(key <= 100 || (key >= 1'101 && key < 101 + number)) << key << " of " << number;
  }
}

TEST(Recipes, ScanFromTheIndexValuesOfARow) {
  v1::Assignment assignment = With(BaseAssignment(), R"pb(
    operations {
      name: "list"
      scan { table: "stock" index: "by" }
    }
    script { steps { operation: "list" } }
  )pb");
  v1::Table* table = assignment.mutable_workload()->mutable_tables(0);
  v1::Index* index = table->add_indexes();
  index->set_name("by");
  index->add_columns("name");
  index->add_columns("qty");
  auto plan = Build(assignment);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  load::IterationState state(1);
  const auto prepared = state.Prepare((*plan)->recipes, (*plan)->script, 0, 5, 0, 4, 1);
  ASSERT_EQ(prepared.operation.key.values().size(), 2U);
  EXPECT_EQ(prepared.operation.key.values()[0].text, fmt::format("Item#{:09}", prepared.key));
  table->mutable_columns(1)->mutable_value()->set_server("1 + 1");
  EXPECT_FALSE(Build(assignment).ok());  // nobody knows where to start
}

TEST(Recipes, ParametersOfNativeStatements) {
  const std::string operations = R"pb(
    operations {
      name: "get"
      read { table: "stock" }
    }
    operations {
      name: "sql"
      native {
        statement: "SELECT ?, ?, ?"
        parameters { value { pattern: "row {key}" } }
        parameters {
          table: "stock"
          keys { same_as: "get" }
        }
        parameters { value { random_int { range { first: 5 last: 5 } } } }
      }
    }
  )pb";
  const auto plan =
      Build(operations + "script { steps { operation: 'get' } steps { operation: 'sql' } }");
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  load::IterationState state(2);
  const auto read = state.Prepare((*plan)->recipes, (*plan)->script, 0, 5, 0, 4, 1);
  const auto sql = state.Prepare((*plan)->recipes, (*plan)->script, 1, 5, 0, 4, 1);
  ASSERT_EQ(sql.operation.values.size(), 3U);
  EXPECT_EQ(sql.operation.values[0].text, fmt::format("row {}", read.key));
  EXPECT_EQ(static_cast<std::uint64_t>(sql.operation.values[1].integer), read.key);
  EXPECT_EQ(sql.operation.values[2].integer, 5);
  EXPECT_NE(BuildError(operations + "script { steps { operation: 'sql' } }"), "ok");
  for (const char* bad :
       {"value { server: 'now()' }", "value { new_version {} }", "",
        "keys { uniform {} } table: 'none'", "table: 'stock' keys { same_as: 'sql' }"}) {
    EXPECT_NE(
        BuildError(std::string("operations { name: 'sql' native { statement: '?' parameters { ") +
                   bad + " } } } script { steps { operation: 'sql' } }"),
        "ok")
        << bad;
  }
}

TEST(Recipes, ManyKeysNeedARangeOfAsMany) {
  EXPECT_EQ(BuildError(R"pb(operations {
                              name: "a"
                              multi_read { table: "stock" count: 100 }
                            }
                            script { steps { operation: "a" } })pb"),
            "ok");
  EXPECT_NE(BuildError(R"pb(operations {
                              name: "a"
                              multi_read { table: "stock" count: 101 }
                            }
                            script { steps { operation: "a" } })pb"),
            "ok");
}

TEST(Recipes, UpdatesThatReplaceRowsWriteTheRestAsFilled) {
  const auto plan = Build(With(BaseAssignment(), R"pb(
                            operations {
                              name: "pay"
                              update {
                                table: "stock"
                                set { column: "qty" }
                              }
                            }
                            operations {
                              name: "get"
                              read { table: "stock" }
                            }
                            script {
                              steps { operation: "pay" }
                              steps { operation: "get" }
                            }
                          )pb"),
                          true);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  const load::OperationRecipe& pay = (*plan)->recipes[0];
  EXPECT_EQ(pay.plan->columns, (std::vector<std::uint32_t>{1, 2, 3}));
  ASSERT_EQ(pay.values->rules().size(), 3U);
  EXPECT_FALSE(pay.values->rules()[0].as_filled);
  EXPECT_TRUE(pay.values->rules()[1].as_filled);
  // What is written as it was filled can be checked all the same.
  EXPECT_EQ((*plan)->recipes[1].checked, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST(Recipes, ReadsDoNotCheckWhatNobodyKnows) {
  const auto plan = Build(R"pb(
    operations {
      name: "get"
      read { table: "stock" }
    }
    operations {
      name: "add"
      increment { table: "stock" column: "qty" }
    }
    operations {
      name: "put"
      insert {
        table: "stock"
        columns: [ "id", "qty", "name" ]
      }
    }
    script { steps { operation: "get" } }
  )pb");
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_EQ((*plan)->recipes[0].checked, (std::vector<std::uint32_t>{0, 3}));
}

TEST(Audit, LeavesOutWhatTheServerNumbersAndWhatOthersAddTo) {
  v1::Assignment assignment = With(BaseAssignment(), R"pb(
    operations {
      name: "add"
      insert { table: "orders" }
    }
    operations {
      name: "inc"
      increment { table: "stock" column: "qty" }
    }
    operations {
      name: "set"
      update {
        table: "stock"
        set { column: "qty" }
      }
    }
    operations {
      name: "both"
      update {
        table: "stock"
        set { column: "qty" }
        set { column: "note" }
      }
    }
    script {
      steps { operation: "add" }
      steps { operation: "inc" }
      steps { operation: "set" }
      steps { operation: "both" }
    }
  )pb");
  assignment.mutable_workload()->mutable_tables(1)->mutable_columns(0)->set_auto_increment(true);
  const auto plan = Build(assignment);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_FALSE((*plan)->recipes[0].auditable);
  EXPECT_FALSE((*plan)->recipes[2].auditable);
  EXPECT_TRUE((*plan)->recipes[3].auditable);
  EXPECT_EQ((*plan)->operations[0].columns, (std::vector<std::uint32_t>{1, 2}));
}

TEST(Audit, KeysOfAListHaveOneWriterWithOneSessionOnly) {
  v1::Assignment assignment = With(BaseAssignment(), R"pb(
    operations {
      name: "add"
      insert { table: "stock" }
    }
    operations {
      name: "set"
      update {
        table: "stock"
        keys { latest {} }
        set { column: "note" }
      }
    }
    script {
      steps { operation: "add" }
      steps { operation: "set" }
    }
  )pb");
  auto plan = Build(assignment);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_FALSE((*plan)->recipes[0].auditable);
  EXPECT_FALSE((*plan)->recipes[1].auditable);
  EXPECT_FALSE((*plan)->recipes[1].exclusive);
  assignment.set_sessions(1);
  assignment.mutable_workload()->mutable_load()->set_sessions(1);
  plan = Build(assignment);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE((*plan)->recipes[1].auditable);
  EXPECT_FALSE((*plan)->recipes[1].exclusive);
}

}  // namespace
}  // namespace cavalry::agent
