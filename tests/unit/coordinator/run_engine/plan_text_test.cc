#include "coordinator/cli/plan_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/coordinator/run_engine/plan_builder.h"

namespace cavalry::cli {
namespace {

PreparedRun Prepare(const v1::Workload& workload) {
  PreparedRun prepared;
  prepared.workload = workload;
  prepared.steps = testing::MakePlan(workload, {"sql", "hs"}, 1).steps;
  prepared.expected = ExpectedRunTime(prepared.workload, prepared.steps);
  return prepared;
}

std::string Plan(const v1::Workload& workload, const std::vector<std::string>& destroy = {}) {
  return RenderPlan(Prepare(workload), {"2 on this machine", destroy});
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanTextTest, SaysHowManyStepsAndHowLong) {
  const std::string text = Plan(testing::MakeWorkload());
  // Two steps of 1 s + 5 s and what is around them.
  EXPECT_TRUE(Contains(text, "PLAN 1 round x 2 targets = 2 steps, about 13 s")) << text;
  EXPECT_TRUE(Contains(text, "sql hs (same), seed 42")) << text;
  EXPECT_TRUE(Contains(text, "4 sessions; warm-up 1s, measure 5s")) << text;
  EXPECT_TRUE(Contains(text, "agents   2 on this machine")) << text;
}

TEST(PlanTextTest, SaysWhatIsCreatedAndWhatMayBeEmptied) {
  v1::Workload workload = testing::MakeWorkload();
  EXPECT_TRUE(Contains(Plan(workload), "customer on sql (also hs): created and filled with 1,000"));
  EXPECT_TRUE(Contains(Plan(workload), "emptied only if cavalry created it"));
  EXPECT_TRUE(Contains(Plan(workload, {"shop.customer"}), "EMPTIED even if cavalry did not"));
  EXPECT_FALSE(Contains(Plan(workload, {"shop.other"}), "EMPTIED"));
  workload.set_cleanup(v1::CLEANUP_DROP);
  EXPECT_TRUE(Contains(Plan(workload), "dropped at the end"));
  workload.set_reset(v1::RESET_NEVER);
  EXPECT_TRUE(Contains(Plan(workload), "used as it is (reset: never)"));
  workload.mutable_tables(0)->set_existing(v1::EXISTING_USE);
  EXPECT_TRUE(Contains(Plan(workload), "never filled, emptied or"));
}

TEST(PlanTextTest, CountedRunsPromiseNoTime) {
  v1::Workload workload = testing::MakeWorkload();
  workload.mutable_load()->mutable_stop_after()->clear_duration();
  workload.mutable_load()->mutable_stop_after()->set_passes(3);
  const std::string text = Plan(workload);
  EXPECT_TRUE(Contains(text, "for as long as their counts take")) << text;
  EXPECT_TRUE(Contains(text, "measure 3,000 iterations in all")) << text;
}

TEST(PlanTextTest, LinesFitTheScreen) {
  std::istringstream lines(Plan(testing::MakeWritingWorkload()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(PlanTextTest, ExpectsTheTimeOfFilling) {
  v1::Workload workload = testing::MakeWorkload();
  const Nanos small = Prepare(workload).expected;
  workload.mutable_tables(0)->set_rows(10'000'000);
  EXPECT_GT(Prepare(workload).expected, small + 60 * kSecond);
  workload.set_reset(v1::RESET_NEVER);
  EXPECT_EQ(Prepare(workload).expected, small);
}

}  // namespace
}  // namespace cavalry::cli
