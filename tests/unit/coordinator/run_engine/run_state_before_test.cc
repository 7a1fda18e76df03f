// What comes before and after a step's load: statements and programs of its condition, counters.
#include <gtest/gtest.h>

#include "coordinator/run/run_state.h"
#include "tests/unit/coordinator/run_engine/plan_builder.h"
#include "tests/unit/coordinator/run_engine/state_driver.h"

namespace cavalry::run {
namespace {

using ::cavalry::testing::MakePlan;
using ::cavalry::testing::MakeWorkload;
using ::cavalry::testing::StateDriver;

// One step on hs, whose tables sql owns, with a command and then a statement before it.
RunPlan PlanWithPreparations() {
  v1::Workload workload = MakeWorkload();
  v1::Command* command = workload.add_commands();
  command->set_name("restart");
  for (const char* word : {"systemctl", "restart", "mariadb"}) command->add_run(word);
  command->set_ready_within(std::uint64_t{10 * kSecond});
  RunPlan plan = MakePlan(workload, {"hs"}, 1);
  v1::Preparation restart;
  restart.set_command("restart");
  v1::Preparation read;
  v1::NativeOn* native = read.add_native();
  native->set_target("sql");
  native->set_statement("SELECT * FROM customer");
  plan.steps[0].before = {restart, read};
  return plan;
}

void GoToProgram(StateDriver* driver) {
  driver->tables_filled = true;
  driver->Join("a");
  driver->AnswerPhases();
  driver->phases.clear();
}

TEST(RunStateBefore, RunsWhatTheConditionAsksForInOrder) {
  StateDriver driver(PlanWithPreparations());
  GoToProgram(&driver);
  ASSERT_EQ(driver.programs.size(), 1U);
  EXPECT_EQ(driver.programs[0].arguments,
            (std::vector<std::string>{"systemctl", "restart", "mariadb"}));
  EXPECT_FALSE(driver.TakeAssignment("a")) << "the step waits for the program";
  driver.ProgramEnded();
  driver.AnswerPhases();
  // The step's target and the owner of its tables answer again, then comes the statement.
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight statement");
  EXPECT_EQ(driver.phases[0].target(), "hs");
  EXPECT_EQ(driver.phases[1].target(), "sql");
  EXPECT_TRUE(driver.phases[0].connect());
  EXPECT_EQ(driver.phases[2].target(), "sql");
  EXPECT_EQ(driver.phases[2].statement(), "SELECT * FROM customer");
  EXPECT_TRUE(driver.TakeAssignment("a"));
}

TEST(RunStateBefore, AsksAgainUntilTheTargetsAnswer) {
  StateDriver driver(PlanWithPreparations());
  GoToProgram(&driver);
  driver.ProgramEnded();
  const auto refuse = [&driver] {
    for (int i = 0; i < 2; ++i) {
      const auto order =
          driver.TakeSent("a", [](const v1::ToAgent& m) { return m.has_run_phase(); });
      if (!order) return;
      driver.PhaseDone("a", 1, v1::PHASE_PREFLIGHT, [](v1::PhaseDone* done) {
        done->mutable_status()->set_code(14);
        done->mutable_status()->set_text("connection refused");
      });
    }
  };
  refuse();
  EXPECT_FALSE(driver.end) << "a server that is not yet there is no failure";
  EXPECT_EQ(driver.state.stage(), RunState::Stage::kProgram);
  driver.Pass(kSecond);
  driver.AnswerPhases();
  EXPECT_TRUE(driver.TakeAssignment("a"));
}

TEST(RunStateBefore, GivesUpAfterReadyWithin) {
  StateDriver driver(PlanWithPreparations());
  GoToProgram(&driver);
  driver.ProgramEnded();
  for (int i = 0; i < 100 && !driver.end; ++i) {
    while (driver.TakeSent("a", [](const v1::ToAgent& m) { return m.has_run_phase(); })) {
      driver.PhaseDone("a", 1, v1::PHASE_PREFLIGHT, [](v1::PhaseDone* done) {
        done->mutable_status()->set_code(14);
        done->mutable_status()->set_text("connection refused");
      });
    }
    driver.Pass(kSecond);
  }
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_FAILED);
  EXPECT_NE(StatusText(driver.end->status).find("ready_within"), std::string::npos);
  EXPECT_NE(StatusText(driver.end->status).find("connection refused"), std::string::npos);
}

TEST(RunStateBefore, AProgramThatFailsEndsTheRunWithWhatItSaid) {
  StateDriver driver(PlanWithPreparations());
  GoToProgram(&driver);
  driver.ProgramEnded(Unavailable("systemctl exited with 5; it said: no such unit"));
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_FAILED);
  EXPECT_EQ(StatusText(driver.end->status),
            "command restart: systemctl exited with 5; it said: no such unit");
}

TEST(RunStateBefore, CountersBecomeDifferencesOfTheStep) {
  RunPlan plan = MakePlan(MakeWorkload(), {"hs"}, 1);
  plan.read_counters = true;
  StateDriver driver(std::move(plan));
  driver.tables_filled = true;
  driver.Join("a");
  const auto answer = [&driver](const std::string& value) {
    const auto order = driver.TakeSent("a", [](const v1::ToAgent& m) { return m.has_run_phase(); });
    ASSERT_TRUE(order);
    ASSERT_EQ(order->run_phase().phase(), v1::PHASE_COUNTERS);
    EXPECT_EQ(order->run_phase().target(), "sql") << "the server of the tables";
    driver.PhaseDone("a", 1, v1::PHASE_COUNTERS, [&](v1::PhaseDone* done) {
      v1::NameValue* counter = done->add_server();
      counter->set_name("reads");
      counter->set_value(value);
    });
  };
  // AnswerPhases would answer counters as well, with none: what comes before is answered here.
  while (driver.state.activity().text.find("counters") == std::string::npos) {
    const auto order = driver.TakeSent("a", [](const v1::ToAgent& m) { return m.has_run_phase(); });
    ASSERT_TRUE(order);
    driver.PhaseDone("a", order->step_id(), order->run_phase().phase(), [&](v1::PhaseDone* done) {
      for (const v1::Table& table : order->run_phase().workload().tables()) {
        v1::TableState* state = done->add_tables();
        state->set_table(table.name());
        state->set_filled(true);
        state->set_rows(table.rows());
      }
    });
  }
  answer("100");
  EXPECT_TRUE(driver.TakeAssignment("a"));
  driver.Armed("a", 1);
  driver.Report("a", 1, 1);
  answer("130");
  std::string rose;
  for (const v1::JournalEntry& entry : driver.records) {
    if (!entry.has_server_counters()) continue;
    for (const auto& counter : entry.server_counters().differences()) {
      rose += counter.name() + " " + counter.value();
    }
  }
  EXPECT_EQ(rose, "reads 30");
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_COMPLETE);
}

}  // namespace
}  // namespace cavalry::run
