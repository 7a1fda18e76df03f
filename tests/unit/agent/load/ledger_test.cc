#include "agent/load/ledger.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "agent/load/iteration.h"

namespace cavalry::load {
namespace {

std::vector<std::pair<std::uint64_t, InsertState>> InsertsOf(const Ledger& ledger) {
  std::vector<std::pair<std::uint64_t, InsertState>> inserts;
  ledger.ForEachInsert(0, [&](std::uint64_t key, InsertState state) {
    inserts.emplace_back(key, state);
    EXPECT_EQ(ledger.InsertOf(0, key), state);
  });
  return inserts;
}

std::optional<KeyWrites> WritesOf(const Ledger& ledger, std::uint64_t wanted) {
  std::optional<KeyWrites> result;
  ledger.ForEachWrite(0, [&](std::uint64_t key, const KeyWrites& writes) {
    EXPECT_TRUE(ledger.Written(0, key));
    if (key == wanted) result = writes;
  });
  return result;
}

TEST(Ledger, KeepsInsertsOverPagesInKeyOrder) {
  Ledger ledger(1);
  ledger.RecordInsert(0, 1'000'000, Outcome::kOk, false);
  ledger.RecordInsert(0, 4'095, Outcome::kTimeout, true);
  ledger.RecordInsert(0, 4'096, Outcome::kRejected, false);
  ledger.RecordInsert(0, 0, Outcome::kOk, false);
  ledger.RecordInsert(0, (std::uint64_t{1} << 63) - 1, Outcome::kOk, false);
  using enum InsertState;
  EXPECT_EQ(InsertsOf(ledger), (std::vector<std::pair<std::uint64_t, InsertState>>{
                                   {0, kAcknowledged},
                                   {4'095, kUnknown},
                                   {4'096, kRefused},
                                   {1'000'000, kAcknowledged},
                                   {(std::uint64_t{1} << 63) - 1, kAcknowledged}}));
  EXPECT_EQ(ledger.InsertOf(0, 1), kNone);
  EXPECT_EQ(ledger.InsertOf(0, 77'777'777), kNone);
}

TEST(Ledger, BoundsInsertsByPagesAndCountsTheRest) {
  Ledger ledger(2);
  for (std::uint64_t page = 0; page < kMaxLedgerPages; ++page) {
    ledger.RecordInsert(0, page * 4'096, Outcome::kOk, false);
  }
  EXPECT_EQ(ledger.unaudited(), 0U);
  ledger.RecordInsert(1, 5, Outcome::kOk, false);
  ledger.RecordInsert(1, 6, Outcome::kTimeout, true);
  EXPECT_EQ(ledger.unaudited(), 1U);                   // an open answer was not acknowledged
  ledger.RecordInsert(0, 4'097, Outcome::kOk, false);  // a page that is there
  EXPECT_EQ(ledger.unaudited(), 1U);
  EXPECT_EQ(ledger.InsertOf(0, 4'097), InsertState::kAcknowledged);
}

TEST(Ledger, KeepsTheLastVersionsOfAnUpdatedKey) {
  Ledger ledger(1);
  for (const std::uint64_t version : {3U, 5U, 9U, 12U}) {
    ledger.RecordUpdate(0, 7, 1, version, Outcome::kOk, false);
  }
  const auto writes = WritesOf(ledger, 7);
  ASSERT_TRUE(writes);
  ASSERT_EQ(writes->updates.size(), 1U);
  EXPECT_EQ(writes->updates[0].first, 1);
  EXPECT_EQ(writes->updates[0].second.acknowledged, 12U);
  EXPECT_EQ(writes->updates[0].second.older, (std::array<std::uint64_t, 2>{9, 5}));
  EXPECT_EQ(ledger.keys(), 1U);
}

TEST(Ledger, AnOpenAnswerStaysUnknownForGood) {
  Ledger ledger(1);
  ledger.RecordUpdate(0, 7, 0, 3, Outcome::kTimeout, true);
  ledger.RecordUpdate(0, 7, 0, 5, Outcome::kOk, false);
  auto writes = WritesOf(ledger, 7);
  EXPECT_EQ(writes->updates[0].second.unknown, 3U);
  EXPECT_EQ(writes->updates[0].second.acknowledged, 5U);
  EXPECT_FALSE(writes->updates[0].second.several_unknown);
  ledger.RecordUpdate(0, 7, 0, 8, Outcome::kBroken, true);
  writes = WritesOf(ledger, 7);
  EXPECT_EQ(writes->updates[0].second.unknown, 8U);
  EXPECT_TRUE(writes->updates[0].second.several_unknown);
}

TEST(Ledger, KeepsOperationsApartInOrderOfTheirLastUpdate) {
  Ledger ledger(1);
  ledger.RecordUpdate(0, 7, 4, 10, Outcome::kOk, false);
  ledger.RecordUpdate(0, 7, 2, 11, Outcome::kOk, false);
  EXPECT_EQ(WritesOf(ledger, 7)->updates[1].first, 2);
  // Not the version but the time of the answer tells the order.
  ledger.RecordUpdate(0, 7, 4, 1, Outcome::kOk, false);
  const auto writes = WritesOf(ledger, 7);
  ASSERT_EQ(writes->updates.size(), 2U);
  EXPECT_EQ(writes->updates[0].first, 2);
  EXPECT_EQ(writes->updates[1].first, 4);
  EXPECT_EQ(writes->updates[1].second.older[0], 10U);
}

TEST(Ledger, IgnoresWritesThatWereNotDone) {
  Ledger ledger(1);
  for (const Outcome outcome : {Outcome::kMiss, Outcome::kRejected, Outcome::kNotSent}) {
    ledger.RecordUpdate(0, 7, 0, 3, outcome, false);
    ledger.RecordDelete(0, 8, outcome, false);
  }
  EXPECT_FALSE(WritesOf(ledger, 7));
  EXPECT_FALSE(WritesOf(ledger, 8));
  EXPECT_FALSE(ledger.Written(0, 7));
  EXPECT_EQ(ledger.keys(), 0U);
}

TEST(Ledger, KeepsDeletesBesideUpdates) {
  Ledger ledger(1);
  ledger.RecordUpdate(0, 7, 0, 3, Outcome::kOk, false);
  ledger.RecordDelete(0, 7, Outcome::kTimeout, true);
  auto writes = WritesOf(ledger, 7);
  EXPECT_TRUE(writes->delete_unknown);
  EXPECT_FALSE(writes->deleted);
  ledger.RecordDelete(0, 7, Outcome::kOk, false);
  ledger.RecordDelete(0, 9, Outcome::kOk, false);
  writes = WritesOf(ledger, 7);
  EXPECT_TRUE(writes->delete_unknown);
  EXPECT_TRUE(writes->deleted);
  EXPECT_TRUE(writes->acknowledged());
  EXPECT_TRUE(WritesOf(ledger, 9)->updates.empty());
}

class RecordByOutcome : public testing::Test {
 protected:
  OperationRecipe Recipe(drivers::OperationKind kind) {
    plan_.kind = kind;
    plan_.table = &table_;
    OperationRecipe recipe;
    recipe.plan = &plan_;
    return recipe;
  }
  void Record(const OperationRecipe& recipe, Outcome outcome, bool unknown, Ledger* ledger) {
    drivers::OpResult result;
    result.outcome = outcome;
    result.outcome_unknown = unknown;
    result.insert_id = insert_id_;
    RecordInLedger(recipe, prepared_, result, ledger);
  }

  drivers::TableSchema table_{
      .name = "t",
      .columns = {{"id", *ParseColumnType("bigint"), false}, {"n", *ParseColumnType("int"), true}}};
  std::uint64_t insert_id_ = 0;
  PreparedOperation prepared_{{}, /*key=*/7, /*version=*/3, false};
  drivers::OperationPlan plan_;
};

TEST_F(RecordByOutcome, InsertsAreAcknowledgedUnknownOrRefused) {
  const OperationRecipe recipe = Recipe(drivers::OperationKind::kInsert);
  const std::vector<std::tuple<Outcome, bool, InsertState>> cases = {
      {Outcome::kOk, false, InsertState::kAcknowledged},
      {Outcome::kMiss, false, InsertState::kRefused},
      {Outcome::kRejected, false, InsertState::kRefused},
      {Outcome::kRejected, true, InsertState::kUnknown},
      {Outcome::kTimeout, false, InsertState::kUnknown},
      {Outcome::kBroken, false, InsertState::kUnknown},
      {Outcome::kNotSent, false, InsertState::kRefused},
      {Outcome::kAbandoned, false, InsertState::kUnknown},
      {Outcome::kSent, false, InsertState::kUnknown},
  };
  for (const auto& [outcome, unknown, state] : cases) {
    Ledger ledger(1);
    Record(recipe, outcome, unknown, &ledger);
    EXPECT_EQ(ledger.InsertOf(0, 7), state) << OutcomeName(outcome);
  }
}

TEST_F(RecordByOutcome, UpdatesAndDeletesAreAcknowledgedUnknownOrNothing) {
  for (const bool is_update : {true, false}) {
    const OperationRecipe recipe =
        Recipe(is_update ? drivers::OperationKind::kUpdate : drivers::OperationKind::kDelete);
    const std::vector<std::tuple<Outcome, bool, char>> cases = {
        {Outcome::kOk, false, 'a'},       {Outcome::kMiss, false, '-'},
        {Outcome::kRejected, false, '-'}, {Outcome::kRejected, true, 'u'},
        {Outcome::kTimeout, false, 'u'},  {Outcome::kBroken, false, 'u'},
        {Outcome::kNotSent, false, '-'},  {Outcome::kAbandoned, false, 'u'},
        {Outcome::kSent, false, 'u'},
    };
    for (const auto& [outcome, unknown, wanted] : cases) {
      Ledger ledger(1);
      Record(recipe, outcome, unknown, &ledger);
      const auto writes = WritesOf(ledger, 7);
      ASSERT_EQ(writes.has_value(), wanted != '-') << OutcomeName(outcome);
      if (!writes) continue;
      EXPECT_EQ(writes->acknowledged(), wanted == 'a');
      if (is_update) {
        EXPECT_EQ(writes->updates[0].second.unknown, wanted == 'u' ? 3U : 0U);
      } else {
        EXPECT_EQ(writes->delete_unknown, wanted == 'u');
      }
    }
  }
}

TEST_F(RecordByOutcome, ReadsAreNotKept) {
  Ledger ledger(1);
  Record(Recipe(drivers::OperationKind::kRead), Outcome::kOk, false, &ledger);
  EXPECT_EQ(ledger.keys(), 0U);
  EXPECT_EQ(ledger.unaudited(), 0U);
}

TEST_F(RecordByOutcome, KeysOfSeveralWritersAreCountedWhenAcknowledged) {
  for (const auto kind : {drivers::OperationKind::kInsert, drivers::OperationKind::kUpdate,
                          drivers::OperationKind::kDelete}) {
    OperationRecipe recipe = Recipe(kind);
    recipe.auditable = false;
    Ledger ledger(1);
    Record(recipe, Outcome::kOk, false, &ledger);
    Record(recipe, Outcome::kTimeout, false, &ledger);
    Record(recipe, Outcome::kMiss, false, &ledger);
    EXPECT_EQ(ledger.unaudited(), 1U);
    EXPECT_FALSE(WritesOf(ledger, 7));
    EXPECT_EQ(ledger.InsertOf(0, 7), InsertState::kNone);
  }
}

TEST_F(RecordByOutcome, ABatchIsAllItsRows) {
  const OperationRecipe recipe = Recipe(drivers::OperationKind::kInsert);
  plan_.batch = 3;
  Ledger ledger(1);
  Record(recipe, Outcome::kOk, false, &ledger);
  EXPECT_EQ(ledger.InsertOf(0, 6), InsertState::kNone);
  for (const std::uint64_t key : {7, 8, 9}) {
    EXPECT_EQ(ledger.InsertOf(0, key), InsertState::kAcknowledged);
  }
  EXPECT_EQ(ledger.InsertOf(0, 10), InsertState::kNone);
}

TEST_F(RecordByOutcome, KeysThatTheServerGaveAreThoseThatItTold) {
  const OperationRecipe recipe = Recipe(drivers::OperationKind::kInsert);
  plan_.columns = {1};
  plan_.batch = 2;
  table_.columns[0].auto_increment = true;
  Ledger ledger(1);
  EXPECT_FALSE(ledger.keys_given(0));
  insert_id_ = 500;
  Record(recipe, Outcome::kOk, false, &ledger);
  EXPECT_TRUE(ledger.keys_given(0));
  EXPECT_EQ(ledger.InsertOf(0, 500), InsertState::kAcknowledged);
  EXPECT_EQ(ledger.InsertOf(0, 501), InsertState::kAcknowledged);
  EXPECT_EQ(ledger.InsertOf(0, 7), InsertState::kNone);
  // Without an answer there is no key to look for.
  insert_id_ = 0;
  Record(recipe, Outcome::kTimeout, false, &ledger);
  EXPECT_EQ(ledger.unknown_without_key(), 2U);
  EXPECT_EQ(ledger.unaudited(), 0U);
  // An answer that does not tell it.
  Record(recipe, Outcome::kOk, false, &ledger);
  EXPECT_EQ(ledger.unaudited(), 2U);
  Record(recipe, Outcome::kRejected, false, &ledger);
  EXPECT_EQ(ledger.unaudited(), 2U);
}

TEST_F(RecordByOutcome, AnInsertThatGivesTheKeyItselfIsFoundByIt) {
  const OperationRecipe recipe = Recipe(drivers::OperationKind::kInsert);
  plan_.columns = {0, 1};
  table_.columns[0].auto_increment = true;
  insert_id_ = 500;
  Ledger ledger(1);
  Record(recipe, Outcome::kOk, false, &ledger);
  EXPECT_EQ(ledger.InsertOf(0, 7), InsertState::kAcknowledged);
  EXPECT_FALSE(ledger.keys_given(0));
}

TEST_F(RecordByOutcome, IncrementsAreNoAuditedWrites) {
  Ledger ledger(1);
  Record(Recipe(drivers::OperationKind::kIncrement), Outcome::kOk, false, &ledger);
  Record(Recipe(drivers::OperationKind::kIncrement), Outcome::kTimeout, false, &ledger);
  EXPECT_EQ(ledger.unaudited(), 0U);
  EXPECT_FALSE(WritesOf(ledger, 7));
}

}  // namespace
}  // namespace cavalry::load
