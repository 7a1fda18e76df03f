#include "coordinator/run/key_book.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/run_engine/plan_builder.h"

namespace cavalry::run {
namespace {

v1::TableState State(const std::string& table, std::uint64_t max_key) {
  v1::TableState state;
  state.set_table(table);
  state.set_max_key(max_key);
  return state;
}

TEST(KeyBookTest, BeginsWithKeyAndVersionOne) {
  const KeyBook keys;
  EXPECT_EQ(keys.NextKey("sql", "customer"), 1U);
  EXPECT_EQ(keys.NextVersion("sql"), 1U);
}

TEST(KeyBookTest, GoesOnBehindWhatIsThereAndForgetsItAtAReset) {
  KeyBook keys;
  keys.Learn("sql", State("customer", 500), /*forget=*/true);
  EXPECT_EQ(keys.NextKey("sql", "customer"), 501U);
  keys.Filled("sql", "customer", 1000);
  EXPECT_EQ(keys.NextKey("sql", "customer"), 1001U);
  keys.Learn("sql", State("customer", 0), /*forget=*/true);
  EXPECT_EQ(keys.NextKey("sql", "customer"), 1U);
  EXPECT_EQ(keys.NextKey("other", "customer"), 1U);
}

TEST(KeyBookTest, AdvancesToTheLargestOfAllReports) {
  KeyBook keys;
  for (const std::uint64_t next : {1500U, 1700U, 1600U}) {
    v1::StepReport report;
    v1::TableKey* key = report.add_next_keys();
    key->set_table("customer");
    key->set_key(next);
    report.set_next_version(next / 100);
    keys.Advance("sql", report);
  }
  EXPECT_EQ(keys.NextKey("sql", "customer"), 1700U);
  EXPECT_EQ(keys.NextVersion("sql"), 17U);
}

TEST(KeyBookTest, ALostAgentMovesKeysBehindAllItCanHaveWritten) {
  v1::Workload workload = testing::MakeWritingWorkload();
  workload.mutable_script()->mutable_steps(0)->set_repeat(3);
  KeyBook keys;
  keys.Filled("sql", "customer", 1000);
  v1::Assignment before;
  keys.FillAssignment("sql", workload, &before);
  ASSERT_EQ(before.next_keys_size(), 1);
  EXPECT_EQ(before.next_keys(0).key(), 1001U);
  const std::string text = keys.AdvanceLost("sql", workload, before, /*largest_number=*/99);
  // Numbers 0..99, three inserts each.
  EXPECT_EQ(keys.NextKey("sql", "customer"), 1301U);
  EXPECT_EQ(keys.NextVersion("sql"), 301U);
  EXPECT_NE(text.find("1,301"), std::string::npos) << text;
}

TEST(KeyBookTest, AReadingStepUsesNoKeys) {
  KeyBook keys;
  v1::Assignment before;
  keys.FillAssignment("sql", testing::MakeWorkload(), &before);
  EXPECT_EQ(keys.AdvanceLost("sql", testing::MakeWorkload(), before, 1'000'000), "");
  EXPECT_EQ(keys.NextKey("sql", "customer"), 1U);
}

TEST(KeyBookTest, LostAgentsOfAMixUseKeysOfWholeBlocks) {
  v1::Workload workload = testing::MakeWritingWorkload();
  workload.mutable_operations(1)->mutable_insert()->set_batch(3);
  v1::Script mix;
  for (const char* name : {"find", "add"}) {
    v1::MixEntry* entry = mix.add_mix();
    entry->set_name(name);
    entry->add_steps()->set_operation(name);
  }
  v1::Assignment before;
  v1::TableKey* key = before.add_next_keys();
  key->set_table("customer");
  key->set_key(1001);
  KeyBook batches;
  batches.AdvanceLost("sql", workload, before, 9);
  EXPECT_EQ(batches.NextKey("sql", "customer"), 1001U + 10 * 3);
  *workload.mutable_script() = mix;
  KeyBook blocks;
  blocks.AdvanceLost("sql", workload, before, 9);
  EXPECT_EQ(blocks.NextKey("sql", "customer"), 1001U + 10'000 * 3);
}

}  // namespace
}  // namespace cavalry::run
