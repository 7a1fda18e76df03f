#include "coordinator/requirements.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/run_engine/plan_builder.h"

namespace cavalry::coordinator {
namespace {

v1::Hello MakeHello() {
  v1::Hello hello;
  hello.set_version("1.0");
  hello.set_max_open_files(1024);
  for (const char* kind : {"mysql", "handlersocket"}) {
    v1::DriverInfo* driver = hello.add_drivers();
    driver->set_kind(kind);
    driver->add_operations("read");
    driver->set_files_per_session(kind == std::string("mysql") ? 1 : 2);
    driver->set_pipelines(kind != std::string("mysql"));
  }
  return hello;
}

Status Check(const v1::Hello& hello, const run::RunPlan& plan, std::size_t agents = 1) {
  return CheckHello(hello, "1.0", RequirementsOf(plan), agents);
}

TEST(RequirementsTest, AnAgentThatFitsIsTaken) {
  EXPECT_TRUE(
      Check(MakeHello(), testing::MakePlan(testing::MakeWorkload(), {"sql", "hs"}, 1)).ok());
}

TEST(RequirementsTest, AMissingDriverIsNamed) {
  v1::Hello hello = MakeHello();
  hello.mutable_drivers()->RemoveLast();
  const Status status = Check(hello, testing::MakePlan(testing::MakeWorkload(), {"sql", "hs"}, 1));
  EXPECT_NE(StatusText(status).find("target hs needs the driver handlersocket"), std::string::npos)
      << status;
}

TEST(RequirementsTest, AnOperationTheDriverCannotDoIsAFaultOfTheSpec) {
  const Status status =
      Check(MakeHello(), testing::MakePlan(testing::MakeWritingWorkload(), {"sql"}, 1));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(StatusText(status).find("cannot do the operation 'insert'"), std::string::npos);
}

TEST(RequirementsTest, SessionsMustFitTheOpenFiles) {
  // 480 sessions with two files each and 64 more are exactly 1,024.
  EXPECT_TRUE(Check(MakeHello(), testing::MakePlan(testing::MakeWorkload(480), {"hs"}, 1)).ok());
  const run::RunPlan plan = testing::MakePlan(testing::MakeWorkload(481), {"hs"}, 1);
  const Status status = Check(MakeHello(), plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(StatusText(status).find("need 1,026 open files, but the agent may open 1,024"),
            std::string::npos)
      << status;
  EXPECT_TRUE(Check(MakeHello(), plan, 2).ok()) << "two agents share them";
}

TEST(RequirementsTest, ADriverThatDoesNotPipelineTakesPartAllTheSame) {
  v1::Workload workload = testing::MakeWorkload();
  workload.mutable_load()->set_pipeline(8);
  EXPECT_TRUE(Check(MakeHello(), testing::MakePlan(workload, {"hs", "sql"}, 1)).ok());
}

TEST(RequirementsTest, ATargetThatIsNotLoadedNeedsItsDriverOnly) {
  const run::RunPlan plan = testing::MakePlan(testing::MakeWritingWorkload(), {}, 1);
  EXPECT_TRUE(Check(MakeHello(), plan).ok()) << "nobody inserts";
  v1::Hello hello = MakeHello();
  hello.mutable_drivers()->RemoveLast();
  EXPECT_FALSE(Check(hello, plan).ok());
}

}  // namespace
}  // namespace cavalry::coordinator
