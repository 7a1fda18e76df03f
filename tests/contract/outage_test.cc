// A server that is killed in a run of writes and comes back: the run goes on by itself, and the
// audit finds what was acknowledged and is gone, and tells apart what may have been done.
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::contract {
namespace {

using e2e::json;

// What of the writes that it acknowledged is there after kill -9 and a new start.
enum class Keeps {
  kAll,
  kMost,  // what it had not yet handed to the kernel is gone
  kNone,
};

// A back-end as a spec names it and as the sandbox starts it.
struct Kind {
  std::string name;
  std::string server;   // of deploy/sandbox
  std::string needs;    // a variable without which there is none
  std::string targets;  // the one under load is called "it"
  Keeps keeps = Keeps::kAll;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

constexpr char kSql[] = R"({ mysql: { host: { env: CAVALRY_MARIADB_HOST },
    port: { env: CAVALRY_MARIADB_PORT }, user: { env: CAVALRY_MARIADB_USER },
    password: { env: CAVALRY_MARIADB_PASSWORD }, database: { env: CAVALRY_MARIADB_DATABASE } } })";

std::vector<Kind> Kinds() {
  const std::string sql = kSql;
  return {
      {"mysql", "mariadb", "CAVALRY_MARIADB_PORT", "targets:\n  it: " + sql},
      {"handlersocket", "mariadb", "CAVALRY_HANDLERSOCKET_PORT",
       "targets:\n  owner: { load: false, " + sql.substr(1) + R"(
  it:
    handlersocket: { host: { env: CAVALRY_MARIADB_HOST }, secret: { from: owner },
      port: { env: CAVALRY_HANDLERSOCKET_PORT }, write_secret: { from: owner },
      write_port: { env: CAVALRY_HANDLERSOCKET_WRITE_PORT } }
    tables_of: owner)"},
      {"memcached", "memcached", "CAVALRY_MEMCACHED_PORT", R"(targets:
  it:
    memcached: { host: { env: CAVALRY_MEMCACHED_HOST }, port: { env: CAVALRY_MEMCACHED_PORT } })",
       Keeps::kNone},
      {"cassandra", "cassandra", "CAVALRY_CASSANDRA_PORT", R"(targets:
  it:
    cassandra: { contact_points: [ { env: CAVALRY_CASSANDRA_HOST } ],
      port: { env: CAVALRY_CASSANDRA_PORT }, keyspace: cavalry_contract })",
       Keeps::kMost},
  };
}

class OutageTest : public e2e::CavalryTest, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    if (std::getenv(GetParam().needs.c_str()) == nullptr) {
      GTEST_SKIP() << GetParam().needs << " is not set: no server of " << GetParam().name
                   << " to test against (deploy/sandbox starts one)";
    }
    e2e::CavalryTest::SetUp();
  }

  // deploy/sandbox with these arguments; what it printed.
  std::string Sandbox(std::vector<std::string> arguments) {
    std::vector<std::string> all = {CAVALRY_SOURCE_DIR "/deploy/sandbox"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--dir", folder() + "/sandbox"});
    e2e::Process process = Start(all);
    EXPECT_EQ(process.Wait(3 * e2e::kPatience), 0) << process.out() << process.err();
    return process.out();
  }
  // What it exports: "NAME=value".
  std::vector<std::string> ServerEnvironment() {
    std::vector<std::string> variables;
    std::istringstream lines(Sandbox({"env"}));
    for (std::string line; std::getline(lines, line);) {
      variables.push_back(line.substr(line.find(' ') + 1));
    }
    return variables;
  }
  // With -9: the server of this test's own sandbox.
  void KillServer() {
    pid_t server = 0;
    for (const std::string& variable : ServerEnvironment()) {
      const std::size_t pid = variable.find("_PID=");
      if (pid != std::string::npos) server = std::atoi(variable.c_str() + pid + 5);
    }
    ASSERT_GT(server, 1);
    kill(server, SIGKILL);
  }
  void TearDown() override {
    // Of a test that failed half way.
    if (std::filesystem::exists(folder() + "/sandbox")) Sandbox({"stop"});
    e2e::CavalryTest::TearDown();
  }
};

TEST_P(OutageTest, AServerThatIsKilledAmidWritesComesBackAndIsAudited) {
  Sandbox({"start", GetParam().server});
  std::vector<std::string> environment = ServerEnvironment();
  const std::string spec = WriteSpec(GetParam().targets + R"(
tables:
  killed: { primary_key: id, columns: { id: { type: bigint }, v: { type: varchar(40) } } }
operations: { add: insert }
load: { sessions: 8, warmup: 0s, think_time: 4ms, operation_timeout: 2s,
        stop_after: { iterations: 6000 } }
thresholds: []
)");
  e2e::CavalryRun run = StartRun(spec, {"--local", "2"}, {}, environment);
  ASSERT_TRUE(run.process().AwaitText("  measure ")) << run.Printed();
  KillServer();
  Sandbox({"start", GetParam().server});
  EXPECT_EQ(run.Wait(2 * e2e::kPatience), 0) << run.Printed();
  KillServer();

  const json report = run.Report();
  e2e::ExpectIdentities(report);
  const json result = e2e::OnlyResult(report);
  EXPECT_EQ(result["ops"]["attempted"], 6000);
  EXPECT_EQ(result["iterations"]["attempted"], 6000);
  EXPECT_GE(result["reconnects"], 1);
  EXPECT_FALSE(result["errors"].empty());
  const json& audit = result["audit"];
  EXPECT_EQ(audit["acknowledged"], result["ops"]["ok"]);
  EXPECT_EQ(audit["unaudited"], 0) << audit;
  EXPECT_EQ(audit["unexpected"], 0) << audit;
  EXPECT_EQ(audit["wrong"], 0) << audit;
  EXPECT_EQ(audit["stale"], 0) << audit;
  // What was in flight when it died: of each session, at most.
  EXPECT_LE(audit["unknown"], 8) << audit;
  switch (GetParam().keeps) {
    case Keeps::kAll:
      EXPECT_EQ(audit["lost"], 0) << audit;
      break;
    case Keeps::kMost:
      EXPECT_LT(audit["lost"], audit["acknowledged"]) << audit;
      break;
    case Keeps::kNone:
      EXPECT_GT(audit["lost"], 0) << audit;
      EXPECT_LT(audit["lost"], audit["acknowledged"]) << audit;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, OutageTest, testing::ValuesIn(Kinds()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace cavalry::contract
