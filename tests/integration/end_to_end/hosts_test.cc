// Agents that are started by hand, as on other hosts, and what they and the coordinator do when the
// other is gone.
#include <signal.h>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

using HostsTest = CavalryTest;

const char kReads[] = R"(
targets: { sql: @SQL@, hs: @HS@ }
tables:
  t:
    rows: 1k
    primary_key: id
    columns: { id: { type: int }, name: { type: varchar(20) } }
operations: { find: { read: {} } }
load: { sessions: 5, warmup: 0s, stop_after: { iterations: 1001 } }
rounds: 1
)";

// Long enough to be stopped by what the test does.
const char kLong[] = R"(
targets: { sql: @SQL@ }
tables:
  t: { primary_key: id, columns: { id: { type: bigint }, name: { type: varchar(20) } } }
operations: { add: { insert: {} } }
load: { sessions: 4, warmup: 0s, stop_after: { duration: 120s } }
)";

const char kRows[] = "SELECT COUNT(*) FROM t";

std::vector<std::string> Listen(int port, int agents) {
  return {"--listen", fmt::format("127.0.0.1:{}", port), "--agents", std::to_string(agents)};
}

TEST_F(HostsTest, TwoAgentsServeOneRunAfterAnother) {
  const int port = FreePort();
  Process first = StartAgent(port, "gen1");
  Process second = StartAgent(port, "gen2");
  for (int turn = 0; turn < 2; ++turn) {
    CavalryRun run = RunTo(0, kReads, Listen(port, 2));
    const json report = run.Report();
    ExpectIdentities(report);
    ASSERT_EQ(report["agents"].size(), 2U);
    int sessions = 0;
    for (const json& agent : report["agents"]) {
      EXPECT_EQ(agent["status"], "complete");
      sessions += agent["sessions"].get<int>();
    }
    EXPECT_EQ(sessions, 5);
    for (const json& result : report["results"]) EXPECT_EQ(result["ops"]["ok"], 1001);
  }
  EXPECT_TRUE(first.running() && second.running());
  for (Process* agent : {&first, &second}) {
    agent->Signal(SIGTERM);
    EXPECT_EQ(agent->Wait(), 0) << agent->err();
  }
}

TEST_F(HostsTest, AnAgentToldNoAddressSaysSoAtOnce) {
  for (const char* address : {"coordinator", "coordinator:", "coordinator:0", ":7400", "::1:7400",
                              "coordinator:70000", "http://coordinator:7400"}) {
    Process agent = Start({Program("cavalry-agent"), "--coordinator", address});
    EXPECT_EQ(agent.Wait(), 2) << address;
    EXPECT_NE(agent.err().find("--coordinator"), std::string::npos) << agent.err();
    EXPECT_NE(agent.err().find(address), std::string::npos) << agent.err();
  }
}

TEST_F(HostsTest, AnAddressOthersCanReachNeedsInsecure) {
  const std::string path = WriteSpec(kReads);
  const std::string address = fmt::format("0.0.0.0:{}", FreePort());
  CavalryRun run = StartRun(path, {"--listen", address, "--agents", "2"});
  EXPECT_EQ(run.Wait(), 2);
  EXPECT_NE(run.err().find("--insecure"), std::string::npos) << run.err();
  EXPECT_EQ(run.Directory(), "");
}

TEST_F(HostsTest, AgentsThatNeverComeAreMissedWithinTheWait) {
  std::vector<std::string> more = Listen(FreePort(), 2);
  more.insert(more.end(), {"--wait-agents", "2s"});
  CavalryRun run = StartRun(WriteSpec(kReads), more);
  EXPECT_EQ(run.Wait(), 1);
  EXPECT_NE(run.out().find("0 of 2 agents came within 2 s; run 'cavalry-agent --coordinator"),
            std::string::npos)
      << run.out();
}

TEST_F(HostsTest, APortInUseIsSaid) {
  const int port = FreePort();
  std::vector<std::string> more = Listen(port, 1);
  CavalryRun holder = StartRun(WriteSpec(kReads), more);
  ASSERT_TRUE(holder.process().AwaitText("waits for agents")) << holder.Printed();
  CavalryRun run = StartRun(WriteSpec(kReads), more);
  EXPECT_EQ(run.Wait(), 1);
  EXPECT_NE(run.err().find(fmt::format("127.0.0.1:{}", port)), std::string::npos) << run.err();
  EXPECT_NE(run.err().find("in use"), std::string::npos) << run.err();
  holder.process().Signal(SIGINT);
  EXPECT_EQ(holder.Wait(), 130) << holder.Printed();
}

TEST_F(HostsTest, AnAgentKilledInMidRunIsNamedAndTheOthersGoOn) {
  const int port = FreePort();
  Process first = StartAgent(port, "gen1");
  Process second = StartAgent(port, "gen2");
  std::vector<std::string> more = Listen(port, 2);
  more.insert(more.end(), {"--set", "load.stop_after.duration=5s"});
  CavalryRun run = StartRun(WriteSpec(kLong), more);
  AwaitGrowth(&run, kRows, 100);
  // Of what it did, only whole seconds are known when it is gone.
  ASSERT_TRUE(run.process().AwaitText("add/s")) << run.Printed();
  second.Signal(SIGKILL);
  EXPECT_EQ(run.Wait(), 4) << run.Printed();
  const json report = run.Report();
  ExpectIdentities(report);
  EXPECT_EQ(report["run"]["status"], "partial");
  for (const json& agent : report["agents"]) {
    EXPECT_EQ(agent["status"], agent["name"] == "gen2" ? "lost" : "complete") << agent;
  }
  EXPECT_FALSE(LinesWith(run.out(), "gen2").empty()) << run.out();
  const json result = OnlyResult(report);
  EXPECT_GE(result["duration_s"].get<double>(), 4.5);
  EXPECT_GT(result["ops"]["ok"], 100);
  EXPECT_GT(result["per_second"].back()["ok"], 0) << "gen1 went on";
  EXPECT_GT(result["audit"]["unaudited"], 0) << "what gen2 wrote\n" << run.Printed();
  EXPECT_EQ(result["audit"]["lost"], 0);
  EXPECT_TRUE(first.running());
}

TEST_F(HostsTest, TheCoordinatorKilledStopsTheLoadAndAgentsServeTheNext) {
  const int port = FreePort();
  Process first = StartAgent(port, "gen1");
  Process second = StartAgent(port, "gen2");
  CavalryRun run = StartRun(WriteSpec(kLong), Listen(port, 2));
  AwaitGrowth(&run, kRows, 100);
  run.process().Signal(SIGKILL);
  run.Wait();
  EXPECT_TRUE(Await([&] { return ServerSessions() == 0; })) << "the agents still load";
  EXPECT_TRUE(first.running() && second.running());
  // What was measured until then can still be read.
  Process report = Start({Program("cavalry"), "report", run.Directory()});
  EXPECT_EQ(report.Wait(), 0) << report.err();
  EXPECT_NE(report.out().find("PARTIAL"), std::string::npos) << report.out();

  CavalryRun next = RunTo(0, kReads, Listen(port, 2));
  ExpectIdentities(next.Report());
}

TEST_F(HostsTest, ACoordinatorThatStandsStillCostsTheLease) {
  const int port = FreePort();
  Process agent = StartAgent(port, "gen1");
  CavalryRun run = StartRun(WriteSpec(kLong), Listen(port, 1));
  AwaitGrowth(&run, kRows, 100);
  run.process().Signal(SIGSTOP);
  const Nanos stopped = MonotonicNow();
  EXPECT_TRUE(Await([&] { return ServerSessions() == 0; })) << "the agent still loads";
  // The lease is 10 s, and an agent must not be hasty either.
  EXPECT_GE(MonotonicNow() - stopped, 5 * kSecond);
  EXPECT_TRUE(agent.running());
}

TEST_F(HostsTest, LocalAgentsEndWithTheirCoordinator) {
  CavalryRun run = StartRun(WriteSpec(kLong), {"--local", "2"});
  AwaitGrowth(&run, kRows, 100);
  const std::vector<pid_t> agents = run.process().Children();
  ASSERT_EQ(agents.size(), 2U);
  run.process().Signal(SIGKILL);
  run.Wait();
  EXPECT_TRUE(Await([&] { return !Alive(agents[0]) && !Alive(agents[1]); }));
  EXPECT_TRUE(Await([&] { return ServerSessions() == 0; }));
}

TEST_F(HostsTest, ALocalAgentKilledIsNamed) {
  CavalryRun run =
      StartRun(WriteSpec(kLong), {"--local", "2", "--set", "load.stop_after.duration=4s"});
  AwaitGrowth(&run, kRows, 100);
  const std::vector<pid_t> agents = run.process().Children();
  ASSERT_EQ(agents.size(), 2U);
  ASSERT_EQ(kill(agents[0], SIGKILL), 0);
  EXPECT_EQ(run.Wait(), 4) << run.Printed();
  EXPECT_NE(run.out().find("killed by signal 9"), std::string::npos) << run.Printed();
  ExpectIdentities(run.Report());
}

TEST_F(HostsTest, AllAgentsLostEndsTheRun) {
  CavalryRun run = StartRun(WriteSpec(kLong));
  AwaitGrowth(&run, kRows, 100);
  const std::vector<pid_t> agents = run.process().Children();
  ASSERT_EQ(agents.size(), 1U);
  ASSERT_EQ(kill(agents[0], SIGKILL), 0);
  const int status = run.Wait();
  EXPECT_TRUE(status == 4 || status == 1) << status << run.Printed();
  ExpectIdentities(run.Report());
}

}  // namespace
}  // namespace cavalry::e2e
