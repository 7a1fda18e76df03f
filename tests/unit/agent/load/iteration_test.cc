#include "agent/load/iteration.h"

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cavalry::load {
namespace {

using drivers::OperationKind;

// A table of two columns and recipes over it, built by hand.
class IterationTest : public testing::Test {
 protected:
  IterationTest() {
    table_.name = "t";
    table_.rows = 1'000;
    table_.columns = {{"id", *ParseColumnType("bigint"), false},
                      {"v", *ParseColumnType("bigint"), false}};
    plans_.reserve(8);
  }

  OperationRecipe& Add(OperationKind kind) {
    plans_.push_back({});
    drivers::OperationPlan& plan = plans_.back();
    plan.index = static_cast<std::uint32_t>(plans_.size() - 1);
    plan.kind = kind;
    plan.table = &table_;
    OperationRecipe recipe;
    recipe.plan = &plan;
    ColumnRule key, version;
    key.kind = RuleKind::kKey;
    version.kind = RuleKind::kNewVersion;
    if (kind == OperationKind::kUpdate) {
      plan.columns = {1};
      recipe.values.emplace(table_, plan.columns, std::vector<ColumnRule>{version}, 42);
    } else if (kind != OperationKind::kDelete) {
      plan.columns = {0, 1};
      recipe.values.emplace(table_, plan.columns, std::vector<ColumnRule>{key, version}, 42);
    }
    if (kind != OperationKind::kInsert) {
      KeySequenceOptions options;
      options.last = 1'000;
      options.seed = 42;
      options.stream = plan.index;
      recipe.keys.emplace(options);
    }
    recipe.insert_first = 1'001;
    recipes_.push_back(std::move(recipe));
    return recipes_.back();
  }

  PreparedOperation Prepare(IterationState* state, std::size_t step, std::uint64_t number,
                            std::uint64_t session = 0, std::uint64_t sessions = 1) {
    return state->Prepare(recipes_, script_, step, number, session, sessions, next_version_);
  }

  drivers::TableSchema table_;
  std::vector<drivers::OperationPlan> plans_;
  std::vector<OperationRecipe> recipes_;
  ScriptPlan script_;
  std::uint64_t next_version_ = 100;
};

TEST_F(IterationTest, InsertedKeysAreDenseOverNumbersAndSlots) {
  Add(OperationKind::kInsert);
  Add(OperationKind::kInsert);
  // a twice and b once, into one table.
  for (OperationRecipe& recipe : recipes_) recipe.insert_slots = 3;
  script_.steps = {{0, 0, 0, 0, 3}, {1, 0, 0, 1, 3}, {0, 1, 0, 2, 3}};
  std::set<std::uint64_t> keys;
  // Two agents of a timed run: numbers 0, 2, 4, … and 1, 3, 5, ….
  for (std::uint64_t agent = 0; agent < 2; ++agent) {
    IterationState state(recipes_.size());
    for (std::uint64_t number = agent; number < 100; number += 2) {
      for (std::size_t step = 0; step < 3; ++step) {
        const PreparedOperation prepared = Prepare(&state, step, number);
        EXPECT_TRUE(keys.insert(prepared.key).second);
        // The row is the one that belongs to the key.
        EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.values[0].integer), prepared.key);
      }
    }
  }
  EXPECT_EQ(keys.size(), 300U);
  EXPECT_EQ(*keys.begin(), 1'001U);
  EXPECT_EQ(*keys.rbegin(), 1'300U);
}

TEST_F(IterationTest, VersionsAreUniqueAndRiseOverSteps) {
  Add(OperationKind::kUpdate);
  Add(OperationKind::kUpdate);
  for (OperationRecipe& recipe : recipes_) recipe.update_slots = 3;
  recipes_[1].update_slot = 2;
  script_.steps = {{0, 0}, {0, 1}, {1, 0}};
  std::uint64_t highest_before = 0;
  for (int step = 0; step < 3; ++step) {
    std::set<std::uint64_t> versions;
    IterationState state(recipes_.size());
    for (std::uint64_t number = 0; number < 50; ++number) {
      for (std::size_t i = 0; i < 3; ++i) {
        const PreparedOperation prepared = Prepare(&state, i, number);
        EXPECT_TRUE(versions.insert(prepared.version).second);
        EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.values[0].integer),
                  prepared.version);
      }
    }
    EXPECT_GT(*versions.begin(), highest_before);
    highest_before = *versions.rbegin();
    next_version_ += 50 * 3;  // as the step report says
  }
}

TEST_F(IterationTest, SameAsTakesTheLastKeyOfItsSource) {
  Add(OperationKind::kRead).per_iteration = 4;
  KeySequenceOptions options;
  options.last = 1'000;
  options.per_iteration = 4;
  recipes_[0].keys.emplace(options);
  OperationRecipe& update = Add(OperationKind::kUpdate);
  update.keys.reset();
  update.same_as = 0;
  OperationRecipe& remove = Add(OperationKind::kDelete);
  remove.keys.reset();
  remove.same_as = 1;
  script_.steps = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {2, 0}};
  IterationState state(recipes_.size());
  for (std::uint64_t number = 0; number < 20; ++number) {
    std::uint64_t last_read = 0;
    for (std::size_t step = 0; step < 4; ++step) last_read = Prepare(&state, step, number).key;
    EXPECT_EQ(last_read, recipes_[0].keys->KeyFor(number, 3));
    EXPECT_EQ(Prepare(&state, 4, number).key, last_read);
    EXPECT_EQ(Prepare(&state, 5, number).key, last_read);
  }
}

TEST_F(IterationTest, ExclusiveKeysBelongToTheSession) {
  OperationRecipe& read = Add(OperationKind::kRead);
  read.exclusive = true;
  read.exclusive_last = 1'000;
  script_.steps = {{0, 0}};
  IterationState state(recipes_.size());
  for (std::uint64_t number = 0; number < 100; ++number) {
    for (std::uint64_t session = 0; session < 7; ++session) {
      const PreparedOperation prepared = Prepare(&state, 0, number, session, 7);
      EXPECT_EQ(prepared.key % 7, session);
      EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.key.first().integer), prepared.key);
    }
  }
}

TEST_F(IterationTest, VerifiesSampledAlwaysOrNever) {
  Add(OperationKind::kRead);
  script_.steps = {{0, 0}};
  const auto count = [&](Verification verification) {
    recipes_[0].verification = verification;
    IterationState state(recipes_.size());
    int verified = 0;
    for (std::uint64_t number = 0; number < 10 * kVerifyOneIn; ++number) {
      verified += Prepare(&state, 0, number).verify ? 1 : 0;
    }
    return verified;
  };
  EXPECT_EQ(count(Verification::kNever), 0);
  EXPECT_EQ(count(Verification::kSampled), 10);
  EXPECT_EQ(count(Verification::kAlways), 10 * static_cast<int>(kVerifyOneIn));
}

TEST_F(IterationTest, RowCheckerComparesTheColumnsThatCanBeChecked) {
  OperationRecipe& read = Add(OperationKind::kRead);
  read.checked = {0};
  RowChecker checker;
  checker.Expect(read, 7);
  EXPECT_TRUE(checker.right());  // a miss has no row
  const std::vector<drivers::Field> right = {{false, "7"}, {false, "99"}};
  checker.OnRow(right);
  EXPECT_TRUE(checker.right());  // the second column may have been changed
  const std::vector<drivers::Field> wrong = {{false, "8"}, {false, "0"}};
  checker.OnRow(wrong);
  EXPECT_FALSE(checker.right());
  checker.OnRow(right);
  EXPECT_FALSE(checker.right());  // one wrong row is enough
  checker.Expect(read, 7);
  checker.OnRow(std::vector<drivers::Field>{{false, "7"}});
  EXPECT_FALSE(checker.right());  // a column is missing
}

// 3 rows a request in one variant of a tenth, 1 in another of a fifth.
TEST_F(IterationTest, KeysOfAMixAreDenseInEachBlock) {
  Add(OperationKind::kInsert);
  Add(OperationKind::kInsert);
  Add(OperationKind::kRead);
  plans_[0].batch = 3;
  script_.variants = {
      {"many", 0, 1, 0, 1'000}, {"one", 1, 1, 1'000, 3'000}, {"none", 2, 1, 3'000, 10'000}};
  script_.seed = 42;
  script_.steps = {{0, 0, 0, 0, 3}, {1, 0, 0, 3'000, 1}, {2, 0}};
  for (OperationRecipe& recipe : recipes_) recipe.insert_slots = 5'000;
  IterationState state(recipes_.size());
  std::set<std::uint64_t> keys;
  std::size_t last = 0;
  int turns = 0;
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    const ScriptVariant* const variant = script_.VariantFor(number);
    ASSERT_NE(variant, nullptr);
    if (variant->first != last) ++turns;
    last = variant->first;
    if (variant->first == 2) continue;
    const PreparedOperation prepared = Prepare(&state, variant->first, number);
    const std::uint64_t rows = variant->first == 0 ? 3 : 1;
    ASSERT_EQ(prepared.operation.values.size(), 2 * rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
      EXPECT_TRUE(keys.insert(prepared.key + i).second);
      EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.values[2 * i].integer),
                prepared.key + i);
    }
    if (number == 9'999) {
      EXPECT_EQ(*keys.rbegin(), 6'000U);
    }
  }
  EXPECT_EQ(keys.size(), 10'000U);
  EXPECT_EQ(*keys.begin(), 1'001U);
  EXPECT_EQ(*keys.rbegin(), 11'000U);
  // Shuffled, not one variant after the other.
  EXPECT_GT(turns, 5'000);
  EXPECT_EQ(script_.BlocksOf(10'000), 1U);
  EXPECT_EQ(script_.BlocksOf(10'001), 2U);
}

TEST_F(IterationTest, VariantsFollowFromSeedAndNumber) {
  script_.variants = {{"a", 0, 1, 0, 9'000}, {"b", 1, 1, 9'000, 10'000}};
  script_.seed = 1;
  ScriptPlan other = script_;
  other.seed = 2;
  int same = 0;
  int of_b = 0;
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    EXPECT_EQ(script_.VariantFor(number), script_.VariantFor(number));
    const bool b = script_.VariantFor(number)->name == "b";
    of_b += b ? 1 : 0;
    same += b && other.VariantFor(number)->name == "b" ? 1 : 0;
  }
  EXPECT_EQ(of_b, 1'000);
  EXPECT_LT(same, 200);  // 100 by chance
  EXPECT_EQ(ScriptPlan().VariantFor(5), nullptr);
}

TEST_F(IterationTest, AMultiReadsKeysAreDifferent) {
  OperationRecipe& read = Add(OperationKind::kMultiRead);
  plans_[0].batch = 8;
  KeySequenceOptions options;
  options.order = KeyOrder::kZipf;
  options.clustered = true;
  options.last = 10;
  options.per_iteration = 16;
  read.keys.emplace(options);
  script_.steps = {{0, 0}, {0, 1}};
  IterationState state(1);
  for (std::uint64_t number = 0; number < 200; ++number) {
    for (std::size_t step = 0; step < 2; ++step) {
      const PreparedOperation prepared = Prepare(&state, step, number);
      const auto keys = prepared.operation.key.values();
      ASSERT_EQ(keys.size(), 8U);
      std::set<std::int64_t> seen;
      for (const drivers::Value& key : keys) {
        EXPECT_TRUE(seen.insert(key.integer).second);
        EXPECT_GE(key.integer, 1);
        EXPECT_LE(key.integer, 10);
      }
    }
  }
}

TEST_F(IterationTest, KeysOfSeveralColumnsFollowFromTheRow) {
  OperationRecipe& read = Add(OperationKind::kRead);
  ColumnRule text;
  text.kind = RuleKind::kPattern;
  text.pattern = {{"k", PatternPiece::Insert::kKey, 4}, {}};
  table_.columns[1].type = *ParseColumnType("varchar(20)");
  ColumnRule key;
  key.kind = RuleKind::kKey;
  read.key_values.emplace(table_, std::vector<std::uint32_t>{1, 0},
                          std::vector<ColumnRule>{text, key}, 42);
  script_.steps = {{0, 0}};
  IterationState state(1);
  const PreparedOperation prepared = Prepare(&state, 0, 3);
  const auto values = prepared.operation.key.values();
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].text, fmt::format("k{:04}", prepared.key));
  EXPECT_EQ(static_cast<std::uint64_t>(values[1].integer), prepared.key);
}

TEST_F(IterationTest, ParametersGoByTheFirstKey) {
  OperationRecipe& native = Add(OperationKind::kNative);
  native.keys.reset();
  Add(OperationKind::kRead);
  ColumnRule key;
  key.kind = RuleKind::kKey;
  KeySequenceOptions options;
  options.last = 1'000;
  const RowGenerator number(table_, {0}, {key}, 42);
  recipes_[0].parameters.push_back({std::nullopt, std::nullopt, nullptr, number});
  recipes_[0].parameters.push_back({KeySequence(options), std::nullopt, nullptr, number});
  recipes_[0].parameters.push_back({std::nullopt, 1, nullptr, number});
  script_.steps = {{1, 0}, {0, 0}};
  IterationState state(2);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t read = Prepare(&state, 0, i).key;
    const PreparedOperation prepared = Prepare(&state, 1, i);
    ASSERT_EQ(prepared.operation.values.size(), 3U);
    EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.values[0].integer), prepared.key);
    EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.values[1].integer), prepared.key);
    EXPECT_EQ(static_cast<std::uint64_t>(prepared.operation.values[2].integer), read);
  }
  // Without keys: by the iteration's number.
  recipes_[0].parameters.pop_back();
  recipes_[0].parameters.pop_back();
  EXPECT_EQ(Prepare(&state, 1, 17).operation.values[0].integer, 17);
}

TEST_F(IterationTest, BeginNeedsNothing) {
  OperationRecipe& begin = Add(OperationKind::kBegin);
  begin.keys.reset();
  begin.values.reset();
  script_.steps = {{0, 0}};
  IterationState state(1);
  const PreparedOperation prepared = Prepare(&state, 0, 3);
  EXPECT_EQ(prepared.operation.plan, &plans_[0]);
  EXPECT_TRUE(prepared.operation.values.empty());
}

}  // namespace
}  // namespace cavalry::load
