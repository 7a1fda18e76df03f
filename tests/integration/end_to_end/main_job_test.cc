// The main job: SQL against HandlerSocket on a real server, as a person runs it, and everything
// that is left of it afterwards.
#include <signal.h>

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

using MainJobTest = CavalryTest;

const char kCompare[] = R"(
name: lookups
targets:
  sql: @SQL@
  hs: @HS@
tables:
  customer:
    rows: 2k
    primary_key: id
    columns:
      id: { type: int }
      name: { type: varchar(25), value: "Customer#{id:09}" }
      note: { type: varchar(60) }
operations:
  find: { read: { keys: uniform, verify: always } }
load: { sessions: 8, warmup: 200ms, stop_after: { duration: 1s } }
sweep: { load.sessions: [1, 8] }
thresholds: [ "failed == 0%", "miss == 0%" ]
)";

std::set<std::string> FilesOf(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.insert(entry.path().filename());
  }
  return names;
}

TEST_F(MainJobTest, ComparesSqlWithHandlerSocket) {
  CavalryRun run = RunTo(0, kCompare, {"--local", "2"});
  const json report = run.Report();
  ExpectIdentities(report);
  EXPECT_EQ(report["run"]["status"], "complete");
  EXPECT_EQ(report["agents"].size(), 2U);
  ASSERT_EQ(report["results"].size(), 8U);  // 2 rounds x 2 targets x 2 load points
  for (const json& result : report["results"]) {
    EXPECT_GT(result["ops"]["ok"], 0) << result["target"];
    EXPECT_EQ(result["ops"]["ok"], result["ops"]["attempted"]) << result["target"];
    EXPECT_EQ(result["keys"]["found"], result["ops"]["ok"]);
    EXPECT_EQ(result["wrong_answers"], 0);
    EXPECT_EQ(result["driver"], result["target"] == "sql" ? "mysql" : "handlersocket");
    EXPECT_GT(result["client_cpu"]["user_s"], 0);
    EXPECT_FALSE(result["server"].empty());
  }
  EXPECT_EQ(report["summary"].size(), 4U);
  ASSERT_EQ(report["comparison"].size(), 2U);
  EXPECT_EQ(report["comparison"][0]["a"], "sql");
  EXPECT_EQ(report["comparison"][0]["b"], "hs");

  const std::set<std::string> files = {"journal", "report.json", "report.txt", "spec.yaml"};
  EXPECT_EQ(FilesOf(run.Directory()), files);
  const std::string text = ReadFile(run.Directory() + "/report.txt");
  EXPECT_NE(text.find("RESULT"), std::string::npos) << text;
  EXPECT_NE(text.find("hs"), std::string::npos);
  // What was printed is the plan and then the very report.
  EXPECT_NE(run.out().find(text), std::string::npos) << run.out() << "--- report.txt\n" << text;
  EXPECT_EQ(run.out().find("PLAN"), 0U) << run.out();
  EXPECT_EQ(ServerSessions(), 0);

  Process schema =
      Start({"python3", CAVALRY_SOURCE_DIR "/tests/integration/harness/check_schema.py",
             CAVALRY_SOURCE_DIR "/coordinator/report/report.schema.json",
             run.Directory() + "/report.json"});
  EXPECT_EQ(schema.Wait(), 0) << schema.out() << schema.err();
  Process again = Start({Program("cavalry"), "report", run.Directory()});
  EXPECT_EQ(again.Wait(), 0) << again.err();
  EXPECT_EQ(again.out(), text);
  Process as_json = Start({Program("cavalry"), "report", run.Directory(), "--format", "json"});
  EXPECT_EQ(as_json.Wait(), 0) << as_json.err();
  EXPECT_EQ(json::parse(as_json.out()), report);
}

TEST_F(MainJobTest, SecretsAreNowhereInTheResults) {
  CavalryRun run = RunTo(0, kCompare, {"--set", "load.sessions=2", "--set", "rounds=1"});
  for (const std::string& name : FilesOf(run.Directory())) {
    const std::string content = ReadFile(run.Directory() + "/" + name);
    EXPECT_EQ(content.find(server().secret), std::string::npos) << name;
    EXPECT_EQ(content.find(server().write_secret), std::string::npos) << name;
  }
  const std::string spec = ReadFile(run.Directory() + "/spec.yaml");
  EXPECT_NE(spec.find("***"), std::string::npos) << spec;
  // The spec that was kept can be checked again: only the secrets are gone.
  Process check = Start({Program("cavalry"), "check", run.Directory() + "/spec.yaml"});
  EXPECT_EQ(check.Wait(), 0) << check.err();
}

TEST_F(MainJobTest, JsonPrintsNothingElse) {
  CavalryRun run = RunTo(0, kCompare, {"--json", "--set", "load.sessions=2", "--set", "rounds=1"});
  const json printed = json::parse(run.out(), nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(printed.is_discarded()) << run.Printed();
  EXPECT_EQ(printed, run.Report());
  EXPECT_EQ(run.err(), "");
}

TEST_F(MainJobTest, QuietPrintsOnlyWhereTheResultsAre) {
  CavalryRun run = RunTo(0, kCompare, {"--quiet", "--set", "load.sessions=2", "--set", "rounds=1"});
  EXPECT_EQ(LinesWith(run.out(), "").size(), 1U) << run.out();
  EXPECT_NE(run.out().find(run.Directory()), std::string::npos) << run.out();
  EXPECT_EQ(run.err(), "");
}

TEST_F(MainJobTest, EveryLoopClientModeAndTransportWorks) {
  const std::string spec =
      "targets:\n  sql: @SQL@\n  prepared: " +
      SqlTarget("statements: prepared")
          .insert(SqlTarget("statements: prepared").size() - 2, ", tables_of: sql") +
      "\n  unix: " +
      SqlTarget("transport: unix, socket: " + server().socket)
          .insert(SqlTarget("transport: unix, socket: " + server().socket).size() - 2,
                  ", tables_of: sql") +
      R"(
  hs: @HS@
tables:
  t:
    rows: 500
    primary_key: id
    columns: { id: { type: int }, name: { type: varchar(20) } }
operations:
  find: { read: { keys: uniform, verify: always } }
load: { sessions: 6, warmup: 0s, stop_after: { iterations: 600 } }
rounds: 1
)";
  for (const std::string loop : {"epoll", "io_uring"}) {
    CavalryRun run = RunTo(0, spec, {"--loop", loop});
    const json report = run.Report();
    ExpectIdentities(report, loop);
    ASSERT_EQ(report["results"].size(), 4U) << loop;
    for (const json& result : report["results"]) {
      EXPECT_EQ(result["ops"]["ok"], 600) << loop << result["target"];
      EXPECT_EQ(result["wrong_answers"], 0) << loop << result["target"];
    }
    EXPECT_NE(run.out().find("loop " + loop), std::string::npos) << run.out();
  }
}

TEST_F(MainJobTest, CheckWithConnectChangesNothing) {
  const std::string path = WriteSpec(kCompare);
  Process check = Start({Program("cavalry"), "check", path, "--connect"});
  EXPECT_EQ(check.Wait(), 0) << check.err();
  EXPECT_NE(check.out().find("2 targets answered"), std::string::npos) << check.out();
  EXPECT_NE(check.out().find("MariaDB"), std::string::npos) << check.out();
  EXPECT_TRUE(sql().List("SHOW TABLES").empty());
  EXPECT_FALSE(std::filesystem::exists(folder() + "/results"));
}

TEST_F(MainJobTest, ConnectionsOfTwentyFiveSessionsAreTheirOwn) {
  const char kSpec[] = R"(
targets: { sql: @SQL@ }
tables:
  t: { rows: 100, primary_key: id, columns: { id: { type: int } } }
operations: { find: { read: {} } }
load: { sessions: 25, warmup: 0s, stop_after: { iterations: 10k } }
)";
  const std::int64_t before = sql().Status("Connections");
  CavalryRun run = RunTo(0, kSpec);
  const std::int64_t connections = sql().Status("Connections") - before;
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  EXPECT_EQ(result["ops"]["ok"], 10'000);
  EXPECT_TRUE(result["errors"].empty()) << result["errors"];
  EXPECT_GE(connections, 25);
  EXPECT_LE(connections, 25 + 15) << "beside the sessions: preflight, phases, fill";
}

}  // namespace
}  // namespace cavalry::e2e
