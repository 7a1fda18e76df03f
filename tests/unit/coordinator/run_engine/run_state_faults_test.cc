// What goes wrong in a run: every deadline, lost agents, refused phases, fatal errors, interrupts.
#include <gtest/gtest.h>

#include "coordinator/run/run_state.h"
#include "core/wire/status_codec.h"
#include "tests/unit/coordinator/run_engine/plan_builder.h"
#include "tests/unit/coordinator/run_engine/state_driver.h"

namespace cavalry::run {
namespace {

using ::cavalry::testing::MakePlan;
using ::cavalry::testing::MakeWorkload;
using ::cavalry::testing::MakeWritingWorkload;
using ::cavalry::testing::StateDriver;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void JoinAll(StateDriver* driver, const std::vector<std::string>& agents) {
  for (const std::string& agent : agents) driver->Join(agent);
}

void GoToStart(StateDriver* driver, const std::vector<std::string>& agents) {
  JoinAll(driver, agents);
  driver->AnswerPhases();
  for (const std::string& agent : agents) driver->Armed(agent, 1);
}

// The run has failed with a text that has `part` in it.
void ExpectFailed(const StateDriver& driver, const std::string& part) {
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_FAILED);
  EXPECT_TRUE(Contains(StatusText(driver.end->status), part)) << driver.end->status;
}

TEST(RunStateFaultsTest, AgentsThatDoNotCome) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 2));
  driver.Join("a");
  driver.Pass(59 * kSecond);
  EXPECT_FALSE(driver.end);
  EXPECT_EQ(driver.state.next_deadline(), driver.now + kSecond);
  driver.Pass(kSecond);
  ExpectFailed(driver, "1 of 2 agents came within 60 s");
}

TEST(RunStateFaultsTest, AnAgentLostWhileWaitingCanBeReplaced) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 2));
  driver.Join("a");
  driver.Lose("a");
  JoinAll(&driver, {"b", "c"});
  driver.AnswerPhases();
  EXPECT_TRUE(driver.TakeAssignment("b"));
  EXPECT_TRUE(driver.TakeAssignment("c"));
}

TEST(RunStateFaultsTest, EveryPhaseHasADeadlineThatNamesTheAgent) {
  struct Case {
    v1::Phase phase;
    Nanos deadline;
  };
  for (const Case& test : {Case{v1::PHASE_PREFLIGHT, 60 * kSecond},
                           {v1::PHASE_RESET, 300 * kSecond},
                           {v1::PHASE_PREPARE, 120 * kSecond},
                           {v1::PHASE_FILL, 60 * kSecond},
                           {v1::PHASE_MARK_FILLED, 60 * kSecond},
                           {v1::PHASE_MARK_USED, 60 * kSecond}}) {
    StateDriver driver(MakePlan(MakeWritingWorkload(), {"sql"}, 1));
    driver.Join("gen1");
    // Answers everything until the phase in question stands first.
    while (!driver.sent.empty() && driver.sent.front().second.run_phase().phase() != test.phase) {
      const auto message = driver.sent.front().second;
      driver.sent.erase(driver.sent.begin());
      driver.PhaseDone("gen1", message.step_id(), message.run_phase().phase());
    }
    ASSERT_FALSE(driver.sent.empty()) << PhaseName(test.phase);
    driver.Pass(test.deadline - 1);
    EXPECT_FALSE(driver.end) << PhaseName(test.phase);
    EXPECT_EQ(driver.state.next_deadline(), driver.now + 1);
    driver.Pass(1);
    ExpectFailed(driver, PhaseName(test.phase) + " on gen1 did not end in time");
  }
}

TEST(RunStateFaultsTest, ProgressKeepsAFillAlive) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  driver.Join("a");
  while (driver.sent.front().second.run_phase().phase() != v1::PHASE_FILL) {
    const auto message = driver.sent.front().second;
    driver.sent.erase(driver.sent.begin());
    driver.PhaseDone("a", message.step_id(), message.run_phase().phase());
  }
  for (std::uint64_t done = 100; done < 1000; done += 100) {
    driver.Pass(50 * kSecond);
    driver.Say("a", 0, [&](v1::FromAgent* message) {
      message->mutable_progress()->set_phase(v1::PHASE_FILL);
      message->mutable_progress()->set_done(done);
      message->mutable_progress()->set_total(1000);
      message->mutable_progress()->set_what("rows");
    });
    ASSERT_FALSE(driver.end);
    EXPECT_EQ(driver.state.activity().done, done);
  }
  driver.Pass(60 * kSecond);
  ExpectFailed(driver, "fill on a");
}

TEST(RunStateFaultsTest, ARefusedPhaseEndsTheRunWithTheAgentsText) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  driver.Join("a");
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT);
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT);
  driver.PhaseDone("a", 0, v1::PHASE_RESET, [](v1::PhaseDone* done) {
    wire::ToMessage(FailedPrecondition("reset would empty shop.orders"), done->mutable_status());
  });
  ExpectFailed(driver, "sql: reset would empty shop.orders");
  EXPECT_EQ(driver.Count(v1::JournalEntry::kRunEnded), 1U);
}

TEST(RunStateFaultsTest, TheSpecsOwnFaultsKeepTheirCode) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  driver.Join("a");
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT, [](v1::PhaseDone* done) {
    wire::ToMessage(InvalidArgument("sql: no such thing"), done->mutable_status());
  });
  ExpectFailed(driver, "sql: no such thing");
  EXPECT_EQ(driver.end->status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(RunStateFaultsTest, AnAgentLostInFillEndsTheRun) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 2));
  JoinAll(&driver, {"a", "b"});
  while (driver.sent.front().second.run_phase().phase() != v1::PHASE_FILL) {
    const auto [agent, message] = driver.sent.front();
    driver.sent.erase(driver.sent.begin());
    driver.PhaseDone(agent, message.step_id(), message.run_phase().phase());
  }
  driver.Lose("b", "silent for 10 s");
  ExpectFailed(driver, "b was lost in fill of sql");
}

TEST(RunStateFaultsTest, ALateAgentIsLostAndTheOthersGoOn) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "sql"}, 2));
  JoinAll(&driver, {"a", "b"});
  driver.AnswerPhases();
  driver.Armed("a", 1);
  // 4 sessions at 2,000/s, two connect timeouts of 5 s, 15 s.
  driver.Pass(25 * kSecond + kMillisecond);
  EXPECT_FALSE(driver.TakeStart("a"));
  driver.Pass(kMillisecond);
  EXPECT_EQ(driver.dropped, std::vector<std::string>{"b"});
  EXPECT_TRUE(driver.TakeStart("a"));
  driver.Armed("b", 1);  // too late
  EXPECT_FALSE(driver.TakeStart("b"));
  driver.Report("a", 1, 1);
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_PARTIAL);
  EXPECT_TRUE(Contains(driver.StepEnded(1)->text(), "b: did not connect its sessions in time"));
}

TEST(RunStateFaultsTest, LaterStepsGiveTheWholeLoadToThoseThatAreLeft) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  EXPECT_EQ(driver.TakeAssignment("a")->assignment().sessions(), 2U);
  driver.Lose("b");
  EXPECT_FALSE(driver.end);
  driver.Report("a", 1, 1);
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_PARTIAL);
  EXPECT_TRUE(Contains(driver.Warnings(), "later steps run on 1 instead of 2 agents"));
  EXPECT_EQ(driver.TakeAssignment("a")->assignment().sessions(), 4U);
  driver.Armed("a", 2);
  driver.Report("a", 2, 1);
  EXPECT_EQ(driver.StepEnded(2)->end(), v1::STEP_END_COMPLETE);
  EXPECT_EQ(driver.end->end, v1::RUN_END_PARTIAL);
}

TEST(RunStateFaultsTest, WithPolicyStopTheRunEndsAfterTheOthersDrained) {
  RunPlan plan = MakePlan(MakeWorkload(), {"sql", "sql"}, 2);
  plan.on_lost = LostPolicy::kStop;
  StateDriver driver(std::move(plan));
  GoToStart(&driver, {"a", "b"});
  driver.Lose("b");
  ASSERT_EQ(driver.TakeStop("a")->stop().mode(), v1::STOP_MODE_DRAIN);
  driver.Report("a", 1, 1);
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_PARTIAL);
}

TEST(RunStateFaultsTest, AllLostFails) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.Lose("a");
  driver.Lose("b", "was killed");
  ExpectFailed(driver, "every agent is lost; b: was killed");
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_FAILED);
}

TEST(RunStateFaultsTest, KeysGoOnSafelyBehindALostAgents) {
  StateDriver driver(MakePlan(MakeWritingWorkload(), {"sql", "sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.Interval("b", 1, 1, /*attempted=*/1000);
  driver.Lose("b");
  driver.Report("a", 1, 1, [](v1::StepReport* report) {
    v1::TableKey* key = report->add_next_keys();
    key->set_table("customer");
    key->set_key(1500);
  });
  driver.AnswerPhases();
  const auto next = driver.TakeSent(
      "a", [](const v1::ToAgent& m) { return m.has_assignment() && m.step_id() == 2; });
  ASSERT_TRUE(next);
  // It did 1,000 in a second, and may have gone on for 22 s at twice that; its numbers are every
  // second.
  EXPECT_GT(next->assignment().next_keys(0).key(), 1001U + 2 * 45'000);
  EXPECT_LT(next->assignment().next_keys(0).key(), 1001U + 2 * 46'000);
  EXPECT_TRUE(Contains(driver.Warnings(), "which keys b had inserted is not known"));
  EXPECT_TRUE(Contains(driver.Warnings(), "the writes of b are unaudited"));
}

TEST(RunStateFaultsTest, ATimedStepHasADeadline) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  GoToStart(&driver, {"a"});
  // Lead 0.1 s, warm-up 1 s, 5 s, drain 5 s, 10 s.
  driver.Pass(21'099 * kMillisecond);
  EXPECT_FALSE(driver.end);
  driver.Pass(kMillisecond);
  ExpectFailed(driver, "did not report at the end of the step");
  EXPECT_EQ(driver.dropped, std::vector<std::string>{"a"});
}

TEST(RunStateFaultsTest, ACountedStepLastsAsLongAsIntervalsCome) {
  v1::Workload workload = MakeWorkload();
  workload.mutable_load()->mutable_stop_after()->clear_duration();
  workload.mutable_load()->mutable_stop_after()->set_iterations(1000);
  StateDriver driver(MakePlan(workload, {"sql"}, 1));
  GoToStart(&driver, {"a"});
  for (std::uint64_t seq = 1; seq <= 10; ++seq) {
    driver.Pass(40 * kSecond);
    driver.Interval("a", 1, seq);
    ASSERT_FALSE(driver.end);
  }
  // 30 s, operation timeout 10 s, drain timeout 5 s.
  driver.Pass(45 * kSecond);
  ExpectFailed(driver, "sent no interval for 45 s");
}

TEST(RunStateFaultsTest, AFatalErrorWhileConnectingEndsTheRun) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "sql"}, 2));
  JoinAll(&driver, {"a", "b"});
  driver.AnswerPhases();
  driver.Armed("a", 1);
  driver.Say("b", 1, [](v1::FromAgent* message) {
    wire::ToMessage(FailedPrecondition("1045 access denied"),
                    message->mutable_armed()->mutable_status());
  });
  ExpectFailed(driver, "sql on b: 1045 access denied");
  EXPECT_FALSE(driver.TakeStart("a"));
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_FAILED);
}

TEST(RunStateFaultsTest, AFatalErrorUnderLoadStopsTheOthersAndKeepsWhatWasMeasured) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql", "sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.Report("b", 1, 1, [](v1::StepReport* report) {
    wire::ToMessage(FailedPrecondition("2 readonly"), report->mutable_fatal());
  });
  EXPECT_FALSE(driver.end);
  ASSERT_EQ(driver.TakeStop("a")->stop().mode(), v1::STOP_MODE_NOW);
  driver.Interval("a", 1, 1);
  driver.Report("a", 1, 2);
  ExpectFailed(driver, "sql on b: 2 readonly");
  EXPECT_EQ(driver.Count(v1::JournalEntry::kStepReport), 2U);
  EXPECT_EQ(driver.Count(v1::JournalEntry::kInterval), 1U);
}

TEST(RunStateFaultsTest, SessionsThatNeverConnectedMakeTheRunPartial) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  GoToStart(&driver, {"a"});
  driver.Report("a", 1, 1, [](v1::StepReport* report) { report->set_sessions_never_connected(3); });
  EXPECT_EQ(driver.end->end, v1::RUN_END_PARTIAL);
}

TEST(RunStateFaultsTest, AnAuditThatCannotBeDoneIsSaid) {
  StateDriver driver(MakePlan(MakeWritingWorkload(), {"sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.Report("a", 1, 1);
  driver.Report("b", 1, 1);
  driver.PhaseDone("a", 1, v1::PHASE_AUDIT, [](v1::PhaseDone* done) {
    wire::ToMessage(Unavailable("server has gone away"), done->mutable_status());
    done->mutable_audit()->set_unaudited(17);
  });
  driver.Pass(60 * kSecond);  // b says nothing
  EXPECT_TRUE(Contains(driver.Warnings(), "the writes of a could not be audited: server has gone"));
  EXPECT_TRUE(Contains(driver.Warnings(), "the writes of b could not be audited: it was lost"));
  EXPECT_EQ(driver.Count(v1::JournalEntry::kAudit), 1U) << "what a counted is kept";
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_PARTIAL);
  EXPECT_EQ(driver.end->end, v1::RUN_END_PARTIAL);
}

TEST(RunStateFaultsTest, OneInterruptDrainsAndReports) {
  StateDriver driver(MakePlan(MakeWritingWorkload(), {"sql", "sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.Interrupt();
  EXPECT_FALSE(driver.end);
  for (const char* agent : {"a", "b"}) {
    const auto stop = driver.TakeStop(agent);
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->stop().mode(), v1::STOP_MODE_DRAIN);
  }
  driver.Interval("a", 1, 1);
  driver.Report("a", 1, 2);
  driver.Report("b", 1, 1);
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_INTERRUPTED);
  EXPECT_FALSE(driver.end->at_once);
  EXPECT_EQ(driver.StepEnded(1)->end(), v1::STEP_END_INTERRUPTED);
  EXPECT_TRUE(Contains(driver.Warnings(), "its writes are not audited"));
}

TEST(RunStateFaultsTest, AnInterruptWaitsForReportsOnlySoLong) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 2));
  GoToStart(&driver, {"a", "b"});
  driver.Interrupt();
  driver.Report("a", 1, 1);
  driver.Pass(10 * kSecond - 1);  // drain timeout 5 s, 5 s
  EXPECT_FALSE(driver.end);
  driver.Pass(1);
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_INTERRUPTED);
  EXPECT_EQ(driver.dropped, std::vector<std::string>{"b"});
}

TEST(RunStateFaultsTest, ASecondInterruptQuitsAtOnce) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  GoToStart(&driver, {"a"});
  driver.Interrupt();
  driver.Interrupt();
  ASSERT_TRUE(driver.end);
  EXPECT_TRUE(driver.end->at_once);
  EXPECT_TRUE(driver.TakeSent("a", [](const v1::ToAgent& m) {
    return m.has_stop() && m.stop().mode() == v1::STOP_MODE_NOW;
  }));
  EXPECT_TRUE(driver.state.ended());
}

TEST(RunStateFaultsTest, AnInterruptInAPhaseStopsIt) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 1));
  driver.Join("a");
  driver.Interrupt();
  ASSERT_TRUE(driver.TakeStop("a"));
  EXPECT_FALSE(driver.end);
  driver.PhaseDone("a", 0, v1::PHASE_PREFLIGHT, [](v1::PhaseDone* done) {
    wire::ToMessage(Cancelled("stopped on request"), done->mutable_status());
  });
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_INTERRUPTED);
}

TEST(RunStateFaultsTest, AnInterruptWhileWaitingEndsTheRun) {
  StateDriver driver(MakePlan(MakeWorkload(), {"sql"}, 2));
  driver.Join("a");
  driver.Interrupt();
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_INTERRUPTED);
}

TEST(RunStateFaultsTest, AFailedCleanupIsSaidButLosesNothing) {
  v1::Workload workload = MakeWorkload();
  workload.set_cleanup(v1::CLEANUP_DROP);
  StateDriver driver(MakePlan(workload, {"sql"}, 1));
  GoToStart(&driver, {"a"});
  driver.Report("a", 1, 1);
  driver.PhaseDone("a", 0, v1::PHASE_CLEANUP, [](v1::PhaseDone* done) {
    wire::ToMessage(Unavailable("locked"), done->mutable_status());
  });
  ASSERT_TRUE(driver.end);
  EXPECT_EQ(driver.end->end, v1::RUN_END_PARTIAL);
  EXPECT_TRUE(Contains(driver.Warnings(), "sql: locked"));
}

}  // namespace
}  // namespace cavalry::run
