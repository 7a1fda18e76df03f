// Faults in mid-run: servers that refuse, cut or fall silent, Ctrl-C, a full disk. The run goes on
// or ends in time, says one line a kind, and keeps what was measured.
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"
#include "tests/integration/harness/relay.h"

namespace cavalry::e2e {
namespace {

class FaultTest : public CavalryTest {
 protected:
  std::string Through(const Relay& relay) const {
    return SqlTarget(fmt::format("port: {}", relay.port()));
  }
};

constexpr char kRows[] = "SELECT COUNT(*) FROM t";
constexpr char kReads[] = R"(
tables:
  t: { rows: 100, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations: { find: { read: {} } }
load: { sessions: 8, warmup: 0s, stop_after: { duration: 2s }, connect_timeout: 1s }
)";
constexpr char kInserts[] = R"(
tables:
  t: { primary_key: id, columns: { id: { type: bigint }, v: { type: varchar(20) } } }
operations: { add: { insert: {} } }
load: { sessions: 8, warmup: 0s, stop_after: { duration: 120s } }
)";

std::string Targets(const std::string& sql) { return "targets: { sql: " + sql + " }"; }

TEST_F(FaultTest, MoreSessionsThanTheServerAllows) {
  const GlobalVariable limit(&sql(), "max_connections", "20");
  CavalryRun run = RunTo(4, Targets("@SQL@") + kReads, {"--set", "load.sessions=40"});
  const json report = run.Report();
  ExpectIdentities(report);
  EXPECT_EQ(report["run"]["status"], "partial");
  const json result = OnlyResult(report);
  EXPECT_GT(result["ops"]["ok"], 0);
  const json& error = result["errors"]["1040"];
  EXPECT_GE(error["count"], 15);
  EXPECT_NE(error["text"].get<std::string>().find("max_connections"), std::string::npos);
  // Before the load, with both numbers; afterwards one line of each kind, never one a session.
  const std::vector<std::string> warnings = LinesWith(run.err(), "max_connections");
  ASSERT_EQ(warnings.size(), 1U) << run.err();
  EXPECT_NE(warnings[0].find("40 sessions"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("max_connections is 20"), std::string::npos) << warnings[0];
  EXPECT_EQ(LinesWith(run.out(), "1040").size(), 1U) << run.out();
  EXPECT_LT(LinesWith(run.err(), "").size(), 20U) << run.err();
  EXPECT_NE(run.out().find("sessions never connected"), std::string::npos) << run.out();
}

TEST_F(FaultTest, SessionsThatAreRefusedLeaveTheOthersAtWork) {
  Relay relay(server().port);
  CavalryRun run = StartRun(
      WriteSpec(Targets(Through(relay)) + kReads),
      {"--set", "load.sessions=30", "--set", "load.connect_rate=20", "--set", "reset=run"});
  ASSERT_TRUE(run.process().AwaitText("step 1/1")) << run.Printed();
  relay.RefuseNew();
  EXPECT_EQ(run.Wait(), 4) << run.Printed();
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  ASSERT_EQ(result["errors"].size(), 1U) << result["errors"];
  EXPECT_EQ(result["errors"].begin()->at("class"), "not_sent") << result["errors"];
  EXPECT_NE(run.out().find("sessions never connected"), std::string::npos) << run.out();
}

TEST_F(FaultTest, AServerThatNeverGreetsCostsTheConnectDeadline) {
  Relay relay(server().port);
  CavalryRun run = StartRun(WriteSpec(Targets(Through(relay)) + kReads),
                            {"--set", "load.sessions=20", "--set", "load.connect_rate=10"});
  ASSERT_TRUE(run.process().AwaitText("step 1/1")) << run.Printed();
  relay.SilenceAfter(5);
  EXPECT_EQ(run.Wait(), 4) << run.Printed();
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  // Those that did connect go on as if nothing was.
  EXPECT_GT(result["ops"]["ok"], 1000);
  EXPECT_EQ(result["ops"]["ok"], result["ops"]["attempted"]);
  EXPECT_FALSE(result["errors"].empty());
  EXPECT_NE(run.out().find("never connected"), std::string::npos) << run.out();
}

TEST_F(FaultTest, ASilentHandlerSocketServerCostsTheConnectDeadline) {
  Relay relay(server().read_port);
  const std::string targets =
      "targets: { sql: @SQL@, hs: " + HsTarget(fmt::format("port: {}", relay.port())) +
      " }\norder: same\nrounds: 1";
  CavalryRun run = StartRun(WriteSpec(targets + kReads),
                            {"--set", "load.sessions=20", "--set", "load.connect_rate=10"});
  ASSERT_TRUE(run.process().AwaitText("step 1/2")) << run.Printed();
  const int before = relay.accepted();
  ASSERT_TRUE(Await([&] { return relay.accepted() > before; })) << run.Printed();
  relay.SilenceAfter(5);
  EXPECT_EQ(run.Wait(), 4) << run.Printed();
  const json report = run.Report();
  ExpectIdentities(report);
  ASSERT_EQ(report["results"].size(), 2U);
  EXPECT_GT(report["results"][1]["ops"]["ok"], 1000);
  EXPECT_FALSE(report["results"][1]["errors"].empty());
}

TEST_F(FaultTest, CutConnectionsAreBrokenAndMadeAgain) {
  Relay relay(server().port);
  CavalryRun run = StartRun(WriteSpec(Targets(Through(relay)) + kInserts),
                            {"--set", "load.stop_after.duration=3s", "--set", "thresholds=[]"});
  AwaitGrowth(&run, kRows, 100);
  relay.CutAll();
  const int status = run.Wait();
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  EXPECT_EQ(status, 0) << run.Printed();
  EXPECT_GE(result["reconnects"], 8);
  // One operation of each session, at most, met the cut; only what had been sent is open.
  const int broken = result["ops"]["broken"].get<int>();
  const int failed = broken + result["ops"]["not_sent"].get<int>();
  EXPECT_GE(failed, 1) << result["ops"];
  EXPECT_LE(failed, 8) << result["ops"];
  EXPECT_EQ(result["audit"]["lost"], 0);
  EXPECT_EQ(result["audit"]["unexpected"], 0);
  EXPECT_EQ(result["audit"]["unknown"], broken);
  const std::int64_t rows = sql().Number(kRows);
  EXPECT_GE(rows, result["ops"]["ok"].get<std::int64_t>());
  EXPECT_LE(rows, result["ops"]["ok"].get<std::int64_t>() + broken);
}

TEST_F(FaultTest, CtrlCDrainsAndReports) {
  for (const int number : {SIGINT, SIGTERM}) {
    CavalryRun run = StartRun(WriteSpec(Targets("@SQL@") + kInserts), {"--local", "2"});
    AwaitGrowth(&run, kRows, 100);
    run.process().Signal(number);
    EXPECT_EQ(run.Wait(), 130) << run.Printed();
    const json report = run.Report();
    ExpectIdentities(report);
    EXPECT_EQ(report["run"]["status"], "interrupted");
    EXPECT_NE(run.out().find("INTERRUPTED"), std::string::npos) << run.out();
    const json result = OnlyResult(report);
    EXPECT_GT(result["ops"]["ok"], 0);
    EXPECT_EQ(result["ops"]["abandoned"], 0) << "it was drained";
    EXPECT_EQ(ServerSessions(), 0);
    // Whether the writes were read back is said.
    EXPECT_NE(run.out().find("audit"), std::string::npos) << run.out();
  }
}

TEST_F(FaultTest, CtrlCTwiceQuits) {
  CavalryRun run =
      StartRun(WriteSpec(Targets("@SQL@") + kInserts), {"--set", "load.drain_timeout=100s"});
  AwaitGrowth(&run, kRows, 100);
  {
    // A statement that waits for a lock cannot be drained.
    Sql locking(server());
    locking.Run("LOCK TABLES " + database() + ".t READ");
    run.process().Signal(SIGINT);
    ASSERT_TRUE(run.process().AwaitText("Ctrl-C again quits")) << run.Printed();
    ASSERT_TRUE(run.process().running());
    run.process().Signal(SIGINT);
    EXPECT_EQ(run.Wait(), 130) << run.Printed();
  }
  Process report = Start({Program("cavalry"), "report", run.Directory()});
  EXPECT_EQ(report.Wait(), 0) << report.err();
  EXPECT_NE(report.out().find("ops      attempted"), std::string::npos) << report.out();
  EXPECT_TRUE(Await([&] { return ServerSessions() == 0; }));
}

TEST_F(FaultTest, AFullDiskIsToldAndTheReportStillPrinted) {
  // A mount of the run's own, which is gone with it.
  const std::string folder_name = folder() + "/small";
  ASSERT_EQ(Start({"/bin/mkdir", folder_name}).Wait(), 0);
  std::vector<std::string> own_mounts = {"unshare", "--mount"};
  if (geteuid() != 0) own_mounts.insert(own_mounts.end(), {"--user", "--map-root-user"});
  const std::string mount = "mount -t tmpfs -o size=32k tmpfs " + folder_name;
  std::vector<std::string> before = own_mounts;
  before.insert(before.end(), {"/bin/sh", "-c", mount});
  if (Start(before).Wait() != 0) GTEST_SKIP() << "not allowed to mount a small file system";
  before.back() = mount + " && exec \"$@\"";
  before.emplace_back("sh");
  CavalryRun run = StartRun(WriteSpec(Targets("@SQL@") + kReads),
                            {"--out", folder_name, "--set", "load.stop_after.duration=6s"}, before);
  const int status = run.Wait();
  EXPECT_TRUE(status == 1 || status == 4) << status << run.Printed();
  EXPECT_NE(run.err().find("No space left on device"), std::string::npos) << run.err();
  EXPECT_LE(LinesWith(run.err(), "No space left on device").size(), 4U) << run.err();
  EXPECT_NE(run.out().find("RESULT"), std::string::npos) << run.Printed();
  EXPECT_NE(run.out().find("ops      attempted"), std::string::npos) << run.Printed();
}

TEST_F(FaultTest, AResultsFolderThatCannotBeMadeEndsBeforeTheRun) {
  WriteFile(folder() + "/file", "");
  CavalryRun run = StartRun(WriteSpec(Targets("@SQL@") + kReads), {"--out", folder() + "/file/x"});
  EXPECT_EQ(run.Wait(), 1) << run.Printed();
  EXPECT_NE(run.err().find(folder() + "/file"), std::string::npos) << run.err();
  EXPECT_TRUE(sql().List("SHOW TABLES").empty());
}

}  // namespace
}  // namespace cavalry::e2e
