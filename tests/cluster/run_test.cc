// Whole runs with scripted agents: what is measured, how it is shared, how it is interrupted.
#include <gtest/gtest.h>

#include <set>

#include "tests/cluster/cluster_fixture.h"

namespace cavalry::testing {
namespace {

class RunTest : public ClusterTest {};

TEST_F(RunTest, TwoAgentsTwoTargetsFromHelloToGoodbye) {
  Plan(MakeWorkload(), {"sql", "hs"}, 2);
  FakeAgent* a = AddAgent("gen1");
  FakeAgent* b = AddAgent("gen2");
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
  ASSERT_EQ(run().steps().size(), 2U);
  for (const report::StepView& step : run().steps()) {
    EXPECT_TRUE(step.complete());
    EXPECT_EQ(step.totals.TotalOperations()[Outcome::kOk], 600U) << "2 agents, 3 intervals of 100";
    EXPECT_EQ(step.agents.size(), 2U);
  }
  const report::Report report = MakeReport();
  EXPECT_EQ(report.exit_status, 0) << report.exit_reason;
  session_->Close("the run is over", MonotonicNow() + 5 * kSecond);
  for (FakeAgent* agent : {a, b}) {
    EXPECT_TRUE(agent->AwaitEnd());
    EXPECT_TRUE(agent->Received().back().has_goodbye());
  }
}

TEST_F(RunTest, AReportRebuiltFromTheJournalEqualsTheLiveOne) {
  Plan(MakeWorkload(), {"sql", "hs"}, 2);
  AddAgent("gen1");
  AddAgent("gen2");
  Start();
  ASSERT_TRUE(TurnToEnd());
  const auto rebuilt = report::RebuildRun(folder_ + "/journal");
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_EQ(report::RenderJson(report::MakeReport(**rebuilt)), report::RenderJson(MakeReport()));
}

TEST_F(RunTest, CountedNumbersAreSharedExactly) {
  v1::Workload workload = MakeWorkload(4);
  workload.mutable_load()->mutable_stop_after()->clear_duration();
  workload.mutable_load()->mutable_stop_after()->set_iterations(101);
  Plan(workload, {"sql"}, 3);
  for (const char* name : {"a", "b", "c"}) AddAgent(name);
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
  EXPECT_EQ(OkOfStep(0), 101U);
  std::set<std::uint64_t> numbers;
  std::uint32_t sessions = 0;
  for (const auto& agent : agents_) {
    const auto assignment = agent->Await([](const v1::ToAgent& m) { return m.has_assignment(); });
    ASSERT_TRUE(assignment);
    const v1::Numbers& share = assignment->assignment().numbers();
    for (std::uint64_t i = 0; i < share.count(); ++i) numbers.insert(share.first() + i);
    sessions += assignment->assignment().sessions();
  }
  EXPECT_EQ(sessions, 4U);
  EXPECT_EQ(numbers.size(), 101U);
  EXPECT_EQ(*numbers.rbegin(), 100U);
}

TEST_F(RunTest, AllAgentsStartAtOneInstant) {
  Plan(MakeWorkload(), {"sql"}, 2);
  AddAgent("a");
  AddAgent("b");
  Start();
  ASSERT_TRUE(TurnToEnd());
  std::vector<Nanos> instants;
  for (const auto& agent : agents_) {
    const auto start = agent->Await([](const v1::ToAgent& m) { return m.has_start_at(); });
    ASSERT_TRUE(start);
    instants.push_back(start->start_at().monotonic_ns());
  }
  // One host has one clock: what differs is the error of its estimate.
  EXPECT_LT(std::abs(instants[0] - instants[1]), 50 * kMillisecond);
}

TEST_F(RunTest, WhatIsSentAgainCountsOnce) {
  Plan(MakeWorkload(), {"sql"}, 1);
  FakeAgent::Options options;
  options.name = "twice";
  options.override = [](FakeAgent* agent, const v1::ToAgent& message) {
    if (!message.has_start_at()) return false;
    agent->SendIntervals(1, 1, 2, 50);
    agent->SendIntervals(1, 1, 3, 50);  // the first two again
    agent->SendReport(1, 3, 50);
    agent->SendReport(1, 3, 50);
    return true;
  };
  AddAgent(options);
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
  EXPECT_EQ(OkOfStep(0), 150U);
}

TEST_F(RunTest, StaleMessagesAreDropped) {
  Plan(MakeWorkload(), {"sql", "hs"}, 1);
  FakeAgent::Options options;
  options.override = [](FakeAgent* agent, const v1::ToAgent& message) {
    if (!message.has_start_at() || message.step_id() != 2) return false;
    agent->SendIntervals(1, 9, 1, 1000);  // of the step before
    v1::FromAgent other;
    other.set_run_id("another run");
    other.set_step_id(2);
    other.mutable_interval()->set_seq(1);
    agent->Send(other);
    return false;
  };
  AddAgent(options);
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
  EXPECT_EQ(OkOfStep(0), 300U);
  EXPECT_EQ(OkOfStep(1), 300U);
}

TEST_F(RunTest, OneInterruptReportsWhatWasMeasured) {
  Plan(MakeWorkload(), {"sql", "hs"}, 1);
  FakeAgent::Options options;
  options.override = [](FakeAgent* agent, const v1::ToAgent& message) {
    if (message.has_start_at()) {
      agent->SendIntervals(1, 1, 2, 100);
      return true;
    }
    if (!message.has_stop()) return false;
    EXPECT_EQ(message.stop().mode(), v1::STOP_MODE_DRAIN);
    agent->SendReport(1, 2, 100);
    return true;
  };
  AddAgent(options);
  Start();
  ASSERT_TRUE(TurnUntil([&] { return !run().steps().empty() && OkOfStep(0) == 200; }));
  session_->Interrupt();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_INTERRUPTED);
  EXPECT_FALSE(end().at_once);
  EXPECT_EQ(OkOfStep(0), 200U);
  EXPECT_EQ(MakeReport().exit_status, 130);
}

TEST_F(RunTest, ASecondInterruptWaitsForNothing) {
  Plan(MakeWorkload(), {"sql"}, 1);
  FakeAgent::Options options;
  options.override = [](FakeAgent*, const v1::ToAgent& message) {
    return message.has_start_at() || message.has_stop();  // never reports
  };
  FakeAgent* agent = AddAgent(options);
  Start();
  ASSERT_TRUE(TurnUntil([&] {
    const auto received = agent->Received();
    return std::any_of(received.begin(), received.end(),
                       [](const v1::ToAgent& m) { return m.has_start_at(); });
  }));
  session_->Interrupt();
  EXPECT_FALSE(session_->engine().ended());
  session_->Interrupt();
  ASSERT_TRUE(session_->engine().ended());
  EXPECT_TRUE(end().at_once);
  const auto rebuilt = report::RebuildRun(folder_ + "/journal");
  ASSERT_TRUE(rebuilt.ok()) << "the journal stays";
  EXPECT_EQ((*rebuilt)->steps().size(), 1U);
}

TEST_F(RunTest, ManyAgents) {
  constexpr std::size_t kAgents = 24;
  Plan(MakeWorkload(100), {"sql"}, kAgents);
  for (std::size_t i = 0; i < kAgents; ++i) AddAgent("gen");
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
  EXPECT_EQ(OkOfStep(0), kAgents * 300);
  std::set<std::string> names;
  for (const report::AgentView& agent : run().agents()) names.insert(agent.name);
  EXPECT_EQ(names.size(), kAgents);
}

}  // namespace
}  // namespace cavalry::testing
