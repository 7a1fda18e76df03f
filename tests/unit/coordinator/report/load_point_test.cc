#include "coordinator/report/load_point.h"

#include <gtest/gtest.h>

namespace cavalry::report {
namespace {

v1::Step MakeStep(std::uint32_t sessions, const std::string& target = "sql") {
  v1::Step step;
  step.set_target(target);
  step.set_sessions(sessions);
  step.set_stage("measure");
  v1::NameValue* value = step.add_set();
  value->set_name("load.sessions");
  value->set_value(std::to_string(sessions));
  return step;
}

TEST(LoadPoint, TellsStepsApartButNotTargetsAndRounds) {
  v1::Step step = MakeStep(16);
  v1::Step other = MakeStep(16, "hs");
  other.set_round(2);
  other.set_id(7);
  EXPECT_EQ(LoadPointKey(step), LoadPointKey(other));
  EXPECT_NE(LoadPointKey(step), LoadPointKey(MakeStep(64)));
  other.set_condition("cold");
  EXPECT_NE(LoadPointKey(step), LoadPointKey(other));
  other.set_condition("");
  other.set_stage("select");
  EXPECT_NE(LoadPointKey(step), LoadPointKey(other));
}

TEST(LoadPoint, IsNamedForPeople) {
  EXPECT_EQ(LoadPointLabel(MakeStep(1)), "1 session");
  v1::Step step = MakeStep(16);
  step.set_condition("warm");
  v1::NameValue* value = step.add_set();
  value->set_name("load.pipeline");
  value->set_value("4");
  EXPECT_EQ(LoadPointLabel(step), "warm, 16 sessions, pipeline 4");
  EXPECT_EQ(StepLabel(MakeStep(2, "hs")), "hs, 2 sessions");
}

TEST(LoadPoint, SortsAsTheSpecListsThem) {
  v1::Workload workload;
  workload.add_targets()->set_name("sql");
  workload.add_targets()->set_name("hs");
  v1::SweepAxis* axis = workload.add_sweep();
  axis->set_path("load.sessions");
  for (const char* value : {"64", "1", "16"}) axis->add_values(value);
  EXPECT_LT(SpecOrder(MakeStep(64), workload), SpecOrder(MakeStep(1), workload));
  EXPECT_LT(SpecOrder(MakeStep(1), workload), SpecOrder(MakeStep(16), workload));
  EXPECT_LT(SpecOrder(MakeStep(1), workload), SpecOrder(MakeStep(1, "hs"), workload));
}

TEST(LoadPoint, TheScriptHasAName) {
  v1::Workload workload;
  workload.add_operations()->set_name("find");
  EXPECT_EQ(ScriptName(workload), "find");
  EXPECT_EQ(UnitName(workload), "find");
  workload.add_operations()->set_name("put");
  EXPECT_EQ(ScriptName(workload), "script");
  EXPECT_EQ(UnitName(workload), "ops");
  v1::ScriptStep* step = workload.mutable_script()->add_steps();
  step->set_operation("put");
  EXPECT_EQ(OnlyOperation(workload), "put");
  step->set_repeat(4);
  EXPECT_EQ(ScriptName(workload), "put");
  EXPECT_EQ(OnlyOperation(workload), "");
  workload.mutable_script()->set_name("checkout");
  EXPECT_EQ(ScriptName(workload), "checkout");
}

}  // namespace
}  // namespace cavalry::report
