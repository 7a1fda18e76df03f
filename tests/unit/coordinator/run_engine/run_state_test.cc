// The usual course of a run: phases in order, one start instant, acknowledgements, exact shares.
#include "coordinator/run/run_state.h"

#include <gtest/gtest.h>

#include "tests/unit/coordinator/run_engine/plan_builder.h"
#include "tests/unit/coordinator/run_engine/state_driver.h"

namespace cavalry::run {
namespace {

using ::cavalry::testing::MakePlan;
using ::cavalry::testing::MakeWorkload;
using ::cavalry::testing::MakeWritingWorkload;
using ::cavalry::testing::StateDriver;

// One agent from the start to the load of step 1.
void GoToStart(StateDriver* driver, const std::vector<std::string>& agents) {
  for (const std::string& agent : agents) driver->Join(agent);
  driver->AnswerPhases();
  for (const std::string& agent : agents) driver->Armed(agent, 1);
}

TEST(RunStateTest, RunsPhasesInOrderAndFillsWhatIsMissing) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "hs"}, 2));
  driver.Join("a");
  EXPECT_TRUE(driver.sent.empty()) << "still waits for the second agent";
  driver.Join("b");
  driver.AnswerPhases();
  // One preflight a target; reset, prepare and the mark once for the owner of the tables of both.
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight reset prepare fill fill mark");
  EXPECT_EQ(driver.phases[0].target(), "sql");
  EXPECT_EQ(driver.phases[1].target(), "hs");
  EXPECT_NE(driver.phase_agents[0], driver.phase_agents[1]);
  EXPECT_TRUE(driver.phases[0].connect());
  EXPECT_EQ(driver.phases[2].target(), "sql");
  std::uint64_t rows = 0;
  for (const v1::RunPhase& phase : driver.phases) {
    if (phase.phase() != v1::PHASE_FILL) continue;
    ASSERT_EQ(phase.shares_size(), 1);
    EXPECT_EQ(phase.shares(0).first(), rows + 1);
    rows += phase.shares(0).count();
  }
  EXPECT_EQ(rows, 1000U);
  EXPECT_TRUE(driver.TakeAssignment("a"));
  EXPECT_TRUE(driver.TakeAssignment("b"));
}

TEST(RunStateTest, LeavesFilledTablesAlone) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  driver.tables_filled = true;
  driver.Join("a");
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight reset prepare");
  EXPECT_TRUE(driver.TakeAssignment("a"));
}

TEST(RunStateTest, ResetNeverOnlyLooks) {
  v1::Workload workload = MakeWorkload();
  workload.set_reset(v1::RESET_NEVER);
  StateDriver driver(MakePlan(workload, {"sql"}, 1));
  driver.Join("a");
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight prepare");
  EXPECT_NE(driver.Warnings().find("has 0 rows, the spec says 1,000"), std::string::npos);
}

TEST(RunStateTest, ResetStepResetsBeforeEveryStep) {
  v1::Workload workload = MakeWritingWorkload();
  workload.set_reset(v1::RESET_STEP);
  StateDriver driver(MakePlan(workload, {"sql", "hs"}, 1));
  GoToStart(&driver, {"a"});
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight reset prepare fill mark mark");
  EXPECT_EQ(driver.phases.back().phase(), v1::PHASE_MARK_USED);
  driver.phases.clear();
  driver.Report("a", 1, 1);
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "audit reset prepare fill mark mark");
  const auto assignment = driver.TakeSent(
      "a", [](const v1::ToAgent& m) { return m.has_assignment() && m.step_id() == 2; });
  ASSERT_TRUE(assignment);
  EXPECT_EQ(assignment->assignment().next_keys(0).key(), 1001U);
}

TEST(RunStateTest, GivesOneStartInstantInEachAgentsOwnClock) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 2));
  driver.Join("a", /*offset=*/5 * kSecond, /*rtt=*/kMillisecond);
  driver.Join("b", /*offset=*/-7 * kSecond, /*rtt=*/80 * kMillisecond);
  driver.AnswerPhases();
  driver.Armed("a", 1);
  EXPECT_FALSE(driver.TakeStart("a")) << "b is not armed yet";
  driver.Armed("b", 1);
  const auto a = driver.TakeStart("a");
  const auto b = driver.TakeStart("b");
  ASSERT_TRUE(a && b);
  const Nanos instant = a->start_at().monotonic_ns() - 5 * kSecond;
  EXPECT_EQ(b->start_at().monotonic_ns() + 7 * kSecond, instant);
  EXPECT_EQ(instant - driver.now, 240 * kMillisecond) << "three of the longest round trip";
}

TEST(RunStateTest, StartLeadIsAtLeastATenthOfASecond) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  GoToStart(&driver, {"a"});
  const auto start = driver.TakeStart("a");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->start_at().monotonic_ns() - driver.now, 100 * kMillisecond);
}

TEST(RunStateTest, AcknowledgesIntervalsAndCountsEachOnce) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  GoToStart(&driver, {"a"});
  // The last two are sent again; what is acknowledged is always all up to the second.
  for (const auto& [seq, acknowledged] :
       {std::pair<std::uint64_t, std::uint64_t>(1, 1), {2, 2}, {2, 2}, {1, 2}}) {
    driver.Interval("a", 1, seq);
    const auto ack = driver.TakeAck("a");
    ASSERT_TRUE(ack);
    EXPECT_EQ(ack->ack().seq(), acknowledged);
  }
  EXPECT_EQ(driver.Count(v1::JournalEntry::kInterval), 2U);
  driver.Report("a", 1, 3);
  EXPECT_EQ(driver.TakeAck("a")->ack().seq(), 3U);
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_COMPLETE);
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_COMPLETE);
}

TEST(RunStateTest, DropsAndCountsStaleMessages) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "hs"}, 1));
  GoToStart(&driver, {"a"});
  driver.Interval("a", 99, 1);               // another step
  driver.Interval("stranger", 1, 1);         // nobody we know
  driver.PhaseDone("a", 0, v1::PHASE_FILL);  // no phase runs
  v1::FromAgent other;
  other.set_run_id("another run");
  other.set_step_id(1);
  other.mutable_interval()->set_seq(1);
  driver.state.OnMessage("a", other, driver.now);  // another run
  EXPECT_EQ(driver.state.stale_dropped(), 4U);
  EXPECT_EQ(driver.Count(v1::JournalEntry::kInterval), 0U);
  driver.Report("a", 1, 1);
  driver.Report("a", 1, 1);  // sent again after the step is over
  EXPECT_EQ(driver.Count(v1::JournalEntry::kStepReport), 1U);
}

TEST(RunStateTest, AuditsOnEveryAgentThatWrote) {
  StateDriver driver(MakePlan(MakeWritingWorkload(), {"hs"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.phases.clear();
  driver.phase_agents.clear();
  driver.Report("a", 1, 1);
  EXPECT_TRUE(driver.PhaseNames().empty());
  driver.Report("b", 1, 1);
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "audit audit");
  EXPECT_EQ(driver.phases[0].target(), "sql") << "over the owner of the tables";
  EXPECT_EQ(driver.Count(v1::JournalEntry::kAudit), 2U);
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_COMPLETE);
}

TEST(RunStateTest, MarksTablesUsedOnceBeforeTheFirstWrite) {
  StateDriver driver(MakePlan(MakeWritingWorkload(), {"sql", "hs"}, 1));
  GoToStart(&driver, {"a"});
  EXPECT_EQ(driver.phases.back().phase(), v1::PHASE_MARK_USED);
  EXPECT_EQ(driver.phases.back().shares(0).table(), "customer");
  driver.phases.clear();
  driver.Report("a", 1, 1);
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "audit") << "hs writes to the same tables";
}

TEST(RunStateTest, HandsKeysFromStepToStepSoThatNoneIsUsedTwice) {
  StateDriver driver(MakePlan(MakeWritingWorkload(), {"sql", "hs"}, 2));
  GoToStart(&driver, {"a", "b"});
  EXPECT_EQ(driver.TakeAssignment("a")->assignment().next_keys(0).key(), 1001U);
  for (const auto& [agent, next] :
       {std::pair<std::string, std::uint64_t>("a", 1500), {"b", 1501}}) {
    driver.Report(agent, 1, 1, [next = next](v1::StepReport* report) {
      v1::TableKey* key = report->add_next_keys();
      key->set_table("customer");
      key->set_key(next);
      report->set_next_version(next);
    });
  }
  driver.AnswerPhases();
  const auto next = driver.TakeSent(
      "a", [](const v1::ToAgent& m) { return m.has_assignment() && m.step_id() == 2; });
  ASSERT_TRUE(next);
  EXPECT_EQ(next->assignment().next_keys(0).key(), 1501U);
  EXPECT_EQ(next->assignment().next_version(), 1501U);
}

TEST(RunStateTest, NamesIdleAgents) {
  StateDriver driver(MakePlan(MakeWorkload(2), {"sql"}, 3));
  for (const char* agent : {"a", "b", "c"}) driver.Join(agent);
  driver.AnswerPhases();
  EXPECT_TRUE(driver.TakeAssignment("a"));
  EXPECT_TRUE(driver.TakeAssignment("b"));
  EXPECT_FALSE(driver.TakeAssignment("c"));
  EXPECT_NE(driver.Warnings().find("c is idle"), std::string::npos) << driver.Warnings();
}

TEST(RunStateTest, DropsTablesAtTheEndWhenAsked) {
  v1::Workload workload = MakeWorkload();
  workload.set_cleanup(v1::CLEANUP_DROP);
  StateDriver driver(MakePlan(workload, {"sql"}, 1));
  GoToStart(&driver, {"a"});
  driver.phases.clear();
  driver.Report("a", 1, 1);
  EXPECT_FALSE(driver.end);
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "cleanup");
  EXPECT_EQ(driver.end->end, v1::RUN_END_COMPLETE);
}

TEST(RunStateTest, CheckEndsAfterPreflight) {
  RunPlan plan = MakePlan(MakeWorkload(), {"sql"}, 1);
  plan.preflight_only = true;
  plan.connect = false;
  StateDriver driver(std::move(plan));
  driver.Join("a");
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight");
  EXPECT_FALSE(driver.phases[0].connect());
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_COMPLETE);
}

TEST(RunStateTest, PreflightJudgesTheStepWithTheMostSessions) {
  RunPlan plan = MakePlan(MakeWorkload(1), {"sql", "sql"}, 1);
  plan.steps[1].workload.mutable_load()->set_sessions(640);
  StateDriver driver(std::move(plan));
  driver.Join("a");
  driver.AnswerPhases();
  EXPECT_EQ(driver.phases[0].workload().load().sessions(), 640U);
}

TEST(RunStateTest, PreflightKnowsWhatATargetThatIsNotLoadedDoesNot) {
  RunPlan plan = MakePlan(MakeWorkload(), {"hs", "hs"}, 1);
  plan.workload.mutable_targets(0)->set_load(false);
  plan.steps[1].workload.mutable_load()->set_pipeline(3);
  StateDriver driver(std::move(plan));
  driver.Join("a");
  driver.AnswerPhases();
  EXPECT_EQ(driver.PhaseNames(), "preflight preflight reset prepare fill mark");
  EXPECT_EQ(driver.phases[0].target(), "sql");
  EXPECT_EQ(driver.phases[0].workload().load().sessions(), 0U);
  EXPECT_EQ(driver.phases[0].workload().load().pipeline(), 1U);
  EXPECT_EQ(driver.phases[1].workload().load().pipeline(), 3U) << "the deepest of its steps";
  EXPECT_EQ(driver.phases[2].target(), "sql") << "it owns the tables";
}

TEST(RunStateTest, PreflightAlsoTriesSweptOptionsOfATarget) {
  RunPlan plan = MakePlan(MakeWorkload(), {"sql", "sql", "hs"}, 1);
  v1::NameValue* set = plan.steps[1].step.add_set();
  set->set_name("targets.sql.mysql.statements");
  set->set_value("prepared");
  v1::Target* target = plan.steps[1].workload.mutable_targets(0);
  target->mutable_mysql()->set_statements(v1::STATEMENTS_PREPARED);
  StateDriver driver(std::move(plan));
  driver.Join("a");
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT);
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT);
  EXPECT_FALSE(driver.end);
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT, [](v1::PhaseDone* done) {
    done->mutable_status()->set_code(9);
    done->mutable_status()->set_text("cannot prepare");
  });
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(StatusText(driver.end->status),
            "sql: cannot prepare (at targets.sql.mysql.statements=prepared)");
}

TEST(RunStateTest, StartOffsetUsesTheBetterClock) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  driver.Join("a", /*offset=*/kSecond, /*rtt=*/0);
  driver.AnswerPhases();
  driver.Armed("a", 1);
  driver.state.OnClock("a", kSecond - 2 * kMillisecond, 0);
  driver.Report("a", 1, 1, [](v1::StepReport* report) { report->set_start_late_ns(kMillisecond); });
  for (const v1::JournalEntry& entry : driver.records) {
    if (!entry.has_step_report()) continue;
    EXPECT_EQ(entry.step_report().start_offset_ns(), 3 * kMillisecond);
  }
}

}  // namespace
}  // namespace cavalry::run
