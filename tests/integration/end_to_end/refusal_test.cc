// What is refused before any load: wrong specs, servers and tables that cannot be used. Each says
// what is wrong, where, and what to do, with the exit status of its kind.
#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

class RefusalTest : public CavalryTest {
 protected:
  // A right spec, from which each test spoils something. The targets fill one line.
  std::string Spec(const std::string& targets = "sql: @SQL@") {
    return "targets: { " + targets + R"( }
tables:
  t: { rows: 10, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations: { find: { read: {} } }
load: { sessions: 2, warmup: 0s, stop_after: { duration: 1s } }
)";
  }
  static std::string With(std::string spec, const std::string& what, const std::string& by) {
    const std::size_t at = spec.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return spec.replace(at, what.size(), by);
  }
  // Runs to the exit status, with all these texts in one line of standard error. `--quiet`, since
  // what is wrong must be said even so.
  void ExpectRefused(int exit_status, const std::string& spec,
                     const std::vector<std::string>& texts, std::vector<std::string> more = {}) {
    more.emplace_back("--quiet");
    CavalryRun run = RunTo(exit_status, spec, more);
    for (const std::string& text : texts) {
      EXPECT_EQ(LinesWith(run.err(), text).size(), 1U) << text << "\n" << run.Printed();
    }
    EXPECT_EQ(LinesWith(run.err(), "").size(), 1U) << run.err();
    EXPECT_LT(run.process().lasted(), 20 * kSecond);
    // The server may still be ending those that have left.
    EXPECT_TRUE(Await([&] { return ServerSessions() == 0; }));
  }
};

TEST_F(RefusalTest, WrongSpecsNameTheirPlace) {
  const std::string spec = Spec();
  ExpectRefused(2, With(spec, "rows: 10", "rows: 10, rosw: 3"),
                {".yaml:3:18: ", "unknown key 'rosw'", "'rows'"});
  ExpectRefused(2, With(spec, "rows: 10", "rows: 10, rows: 3"),
                {".yaml:3:18: duplicate key 'rows'", "3:8"});
  ExpectRefused(2, With(spec, "rows: 10", "rows: ten"), {".yaml:3:14: ", "\"ten\" is not a count"});
  ExpectRefused(2, With(spec, "sessions: 2", "sessions: [2]"), {".yaml:5:19: ", "load.sessions"});
  ExpectRefused(2, With(spec, "duration: 1s", "duration: 1"), {".yaml:5:58: ", "lacks a unit"});
  ExpectRefused(2, With(spec, "read: {}", "read: { table: x }"), {".yaml:4:31: ", "no table 'x'"});
  ExpectRefused(2, With(spec, "duration: 1s", "iterations: 0"), {".yaml:5:48: ", "at least 1"});
  ExpectRefused(2, Spec("{ hs: @HS@ }"), {".yaml:1:"});
  ExpectRefused(2, "targets: [", {".yaml:"});
  ExpectRefused(2, spec, {"--set load.sessions"}, {"--set", "load.sessions=0"});
  ExpectRefused(2, spec, {"load.sesions", "load.sessions"}, {"--set", "load.sesions=3"});
}

TEST_F(RefusalTest, ASpecThatIsNotThereIsWrongUse) {
  CavalryRun run = StartRun(folder() + "/nothing.yaml");
  EXPECT_EQ(run.Wait(), 2);
  EXPECT_NE(run.err().find("nothing.yaml: No such file"), std::string::npos) << run.err();
  EXPECT_EQ(run.Directory(), "");
}

TEST_F(RefusalTest, SecretsFromAnEnvironmentThatLacksThemAreNamed) {
  ExpectRefused(2, Spec("sql: " + SqlTarget("password: { env: CAVALRY_E2E_NOT_SET }")),
                {"CAVALRY_E2E_NOT_SET"});
}

TEST_F(RefusalTest, NothingListening) {
  const int port = FreePort();
  ExpectRefused(1, Spec("sql: " + SqlTarget(fmt::format("port: {}", port))),
                {fmt::format("127.0.0.1:{}", port), "is the server running", "error 2002"});
  ExpectRefused(1, Spec("sql: @SQL@, hs: " + HsTarget(fmt::format("port: {}", port))),
                {fmt::format("127.0.0.1:{}", port), "hs", "refused"});
  ExpectRefused(1, Spec("sql: " + SqlTarget("transport: unix, socket: /nonexistent/sock")),
                {"/nonexistent/sock"});
}

TEST_F(RefusalTest, AHostThatDoesNotExist) {
  ExpectRefused(1, Spec("sql: " + SqlTarget("host: no-such-host.invalid")),
                {"no-such-host.invalid"});
}

TEST_F(RefusalTest, AWrongPasswordIsNotTriedOverAndOver) {
  const std::int64_t before =
      sql().Status("Aborted_connects") + sql().Status("Access_denied_errors");
  ExpectRefused(1, Spec("sql: " + SqlTarget("password: nonsense")),
                {"Access denied", "check user and password", "error 1045"},
                {"--set", "load.sessions=64"});
  const std::int64_t after =
      sql().Status("Aborted_connects") + sql().Status("Access_denied_errors");
  EXPECT_GE(after - before, 1);
  EXPECT_LE(after - before, 4);
}

TEST_F(RefusalTest, ADatabaseThatIsMissing) {
  ExpectRefused(1, Spec("sql: " + SqlTarget("database: test_nothing")), {"test_nothing"});
}

TEST_F(RefusalTest, WrongHandlerSocketSecret) {
  ExpectRefused(1, Spec("sql: @SQL@, hs: " + HsTarget("secret: nonsense")),
                {"unauth", "secret", std::to_string(server().read_port)});
}

TEST_F(RefusalTest, HandlerSocketWritesOnTheReadPort) {
  const std::string target = HsTarget(fmt::format(
      "write_port: {}, write_secret: {{ value: \"{}\" }}", server().read_port, server().secret));
  const std::string spec =
      With(Spec("sql: @SQL@, hs: " + target), "find: { read: {} }", "add: { insert: {} }");
  ExpectRefused(1, spec, {"readonly", "write_port"}, {"--set", "compare.targets=[hs, sql]"});
  EXPECT_EQ(sql().Number("SELECT COUNT(*) FROM t WHERE id > 10 AND v IS NULL"), 0);
}

TEST_F(RefusalTest, AMissingTableThatIsToBeUsed) {
  ExpectRefused(1, With(Spec(), "rows: 10", "existing: use, rows: 10"),
                {database() + ".t does not exist", "existing"});
  EXPECT_TRUE(sql().List("SHOW TABLES").empty());
}

TEST_F(RefusalTest, AnUnmarkedTableIsLeftAlone) {
  sql().Run("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, mine TEXT) ENGINE=InnoDB");
  sql().Run("INSERT INTO t VALUES (1, 5, 'precious'), (777, 6, 'too')");
  const std::vector<std::string> texts = {database() + ".t", "cavalry did not create",
                                          "existing: use", "--allow-destroy " + database() + ".t"};
  for (const std::string more : {"reset: run", "reset: step", "cleanup: drop"}) {
    ExpectRefused(1, Spec() + more + "\n", texts);
    EXPECT_EQ(sql().Row("SELECT COUNT(*), SUM(v), GROUP_CONCAT(mine) FROM t"), "2,11,precious,too")
        << more;
  }
  // Naming another one does not help.
  ExpectRefused(1, Spec(), texts, {"--allow-destroy", database() + ".other"});
  EXPECT_EQ(sql().Row("SELECT COUNT(*), SUM(v) FROM t"), "2,11");

  CavalryRun run = RunTo(0, Spec(), {"--allow-destroy", database() + ".t"});
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MIN(id), MAX(id) FROM t"), "10,1,10");
  ExpectIdentities(run.Report());
}

TEST_F(RefusalTest, AnExistingTableIsUsedAsItIs) {
  sql().Run("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, mine TEXT) ENGINE=InnoDB");
  for (int id = 1; id <= 10; ++id)
    sql().Run(fmt::format("INSERT INTO t VALUES ({0}, {0}, 'x')", id));
  const std::string checksum = sql().Row("CHECKSUM TABLE t");
  const std::string spec = With(Spec(), "rows: 10", "existing: use, rows: 10");
  CavalryRun run = RunTo(0, With(spec, "read: {}", "read: { verify: never }"));
  EXPECT_GT(OnlyResult(run.Report())["ops"]["ok"], 0);
  EXPECT_EQ(sql().Row("CHECKSUM TABLE t"), checksum);
  EXPECT_EQ(sql().Row("SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = '" +
                      database() + "'"),
            "");
}

TEST_F(RefusalTest, MoreSessionsThanOpenFilesAllow) {
  const std::string path = WriteSpec(With(Spec(), "sessions: 2", "sessions: 400"));
  CavalryRun run =
      StartRun(path, {"--quiet"}, {"/bin/sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"});
  EXPECT_EQ(run.Wait(), 1) << run.Printed();
  for (const std::string text : {"400 sessions", "256", "ulimit -n", "load.sessions"}) {
    EXPECT_EQ(LinesWith(run.err(), text).size(), 1U) << text << "\n" << run.err();
  }
  EXPECT_TRUE(sql().List("SHOW TABLES").empty()) << "refused before the run";
}

// A plugin of the client that is missing: DBs answer error 0 and an empty text in other programs.
TEST_F(RefusalTest, AMissingAuthenticationPlugin) {
  sql().Run("INSTALL SONAME 'auth_ed25519'");
  const std::string user = "e2e_ed25519";
  sql().Run(
      fmt::format("CREATE OR REPLACE USER '{0}'@'%' IDENTIFIED VIA ed25519 USING "
                  "PASSWORD('bench')",
                  user));
  sql().Run(fmt::format("GRANT ALL PRIVILEGES ON {}.* TO '{}'@'%'", database(), user));
  const std::string spec = Spec("sql: " + SqlTarget("user: " + user + ", password: bench"));
  const std::int64_t before = sql().Status("Aborted_connects");
  CavalryRun run = StartRun(WriteSpec(spec), {"--quiet", "--set", "load.sessions=20"}, {},
                            {"MARIADB_PLUGIN_DIR=/nonexistent"});
  EXPECT_EQ(run.Wait(), 1) << run.Printed();
  EXPECT_NE(run.err().find("ed25519"), std::string::npos) << run.err();
  EXPECT_NE(run.err().find("/nonexistent"), std::string::npos) << run.err();
  EXPECT_LE(sql().Status("Aborted_connects") - before, 20);
  CavalryRun with_plugin = RunTo(0, spec);
  EXPECT_GT(OnlyResult(with_plugin.Report())["ops"]["ok"], 0);
  sql().Run(fmt::format("DROP USER '{}'@'%'", user));
  sql().Run("UNINSTALL SONAME 'auth_ed25519'");
}

}  // namespace
}  // namespace cavalry::e2e
