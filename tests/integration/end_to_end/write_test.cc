// Writes and their audit: what was acknowledged is what SQL counts, on both drivers, also when
// connections are cut or somebody else changes rows; and what reset and cleanup do to tables.
#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

using WriteTest = CavalryTest;

constexpr char kBoth[] = "targets: { sql: @SQL@, hs: @HS@ }\nrounds: 1\norder: same";
constexpr char kSql[] = "targets: { sql: @SQL@ }";
constexpr char kRows[] = "SELECT COUNT(*) FROM t";

// Each of `targets` with the rest of a spec that inserts so many rows.
std::string Inserts(const std::string& targets, int iterations) {
  return targets + fmt::format(R"(
tables:
  t:
    primary_key: id
    columns: {{ id: {{ type: bigint }}, v: {{ type: varchar(40), value: "row {{id}}" }} }}
operations: {{ add: {{ insert: {{}} }} }}
load: {{ sessions: 7, warmup: 0s, stop_after: {{ iterations: {} }} }}
)",
                               iterations);
}

TEST_F(WriteTest, TwoAgentsInsertDenseDistinctKeys) {
  CavalryRun first = RunTo(0, Inserts(kSql, 1000), {"--local", "2"});
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MIN(id), MAX(id) FROM t"), "1000,1,1000");
  ExpectCleanAudit(OnlyResult(first.Report()), 1000);
  // The next run goes on behind them when it is told not to begin anew.
  CavalryRun second = RunTo(0, Inserts(kSql, 500) + "reset: never\n", {"--local", "2"});
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MIN(id), MAX(id) FROM t"), "1500,1,1500");
  ExpectCleanAudit(OnlyResult(second.Report()), 500);
  for (const CavalryRun* run : {&first, &second}) {
    const json report = run->Report();
    ExpectIdentities(report);
    EXPECT_TRUE(OnlyResult(report)["errors"].empty()) << OnlyResult(report)["errors"];
  }
  EXPECT_EQ(sql().Number("SELECT COUNT(*) FROM t WHERE v <> CONCAT('row ', id)"), 0);
}

TEST_F(WriteTest, AcknowledgedInsertsAreTheRowsOnBothDrivers) {
  CavalryRun run = RunTo(0, Inserts(kBoth, 601), {"--set", "rounds=2", "--local", "2"});
  const json report = run.Report();
  ExpectIdentities(report);
  ASSERT_EQ(report["results"].size(), 4U);
  for (const json& result : report["results"]) {
    EXPECT_EQ(result["ops"]["ok"], 601) << result["target"];
    ExpectCleanAudit(result, 601);
  }
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MIN(id), MAX(id) FROM t"), "2404,1,2404");
}

constexpr char kMix[] = R"(
tables:
  t:
    rows: 1k
    primary_key: id
    columns:
      id: { type: int }
      v: { type: bigint, value: new_version }
      note: { type: varchar(40) }
  log:
    primary_key: id
    columns: { id: { type: bigint }, n: { type: int } }
operations:
  find: { read: { table: t, keys: { uniform: 1..800 }, verify: always } }
  change: { update: { table: t, keys: { same_as: find }, set: { v: new_version, note: {} } } }
  add: { insert: { table: log } }
  drop: { delete: { table: t, keys: { sequential: 801..1000 } } }
script: [find, change, add, drop]
load: { sessions: 6, warmup: 200ms, stop_after: { iterations: 150 } }
reset: step
)";

json OperationOps(const json& result, const std::string& name) {
  for (const json& part : result["by_operation"]) {
    if (part["operation"] == name) return part["ops"];
  }
  ADD_FAILURE() << "no operation " << name;
  return json();
}

TEST_F(WriteTest, AMixOfAllWritesIsAuditedOnBothDrivers) {
  for (const std::string target : {"@SQL@", "@PREPARED@"}) {
    const std::string targets =
        "targets: { sql: " + target + ", hs: @HS@ }\nrounds: 1\norder: same";
    CavalryRun run = RunTo(0, targets + kMix, {"--local", "2", "--set", "load.warmup=0s"});
    const json report = run.Report();
    ExpectIdentities(report);
    ASSERT_EQ(report["results"].size(), 2U);
    for (const json& result : report["results"]) {
      EXPECT_EQ(result["ops"]["attempted"], 600);
      EXPECT_EQ(result["wrong_answers"], 0);
      // With its audit on a key is moved to the session that owns it, so that some of the keys to
      // delete are drawn twice: those miss.
      EXPECT_EQ(OperationOps(result, "find")["ok"], 150);
      EXPECT_EQ(OperationOps(result, "change")["ok"], 150);
      EXPECT_EQ(OperationOps(result, "add")["ok"], 150);
      const int dropped = OperationOps(result, "drop")["ok"].get<int>();
      EXPECT_EQ(OperationOps(result, "drop")["miss"], 150 - dropped);
      const json& audit = result["audit"];
      EXPECT_GT(audit["acknowledged"], 150 + dropped) << audit;  // and the keys that were changed
      for (const char* name : {"lost", "stale", "unexpected", "wrong", "unknown", "unaudited"}) {
        EXPECT_EQ(audit[name], 0) << name << audit;
      }
      if (result["target"] != "hs") continue;  // the last step: its rows are still there
      EXPECT_EQ(sql().Number(kRows), 1000 - dropped);
    }
    EXPECT_EQ(sql().Row("SELECT COUNT(*), MIN(id), MAX(id) FROM log"), "150,1,150");
    EXPECT_EQ(sql().Number("SELECT COUNT(*) FROM t WHERE id <= 800"), 800);
  }
}

TEST_F(WriteTest, WarmUpWritesAreAuditedToo) {
  CavalryRun run = RunTo(0, Inserts(kSql, 300), {"--set", "load.warmup=500ms", "--local", "2"});
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  EXPECT_EQ(result["ops"]["attempted"], 300) << "warm-up is no part of it";
  const std::int64_t rows = sql().Number(kRows);
  EXPECT_GT(rows, 300);
  ExpectCleanAudit(result, rows);
}

TEST_F(WriteTest, FillIsExactWithMoreSessionsThanRows) {
  const std::string spec = std::string(kSql) + R"(
tables:
  t: { rows: 150, primary_key: id, columns: { id: { type: int }, v: { type: varchar(20) } } }
operations: { find: { read: { verify: always } } }
load: { sessions: 16, warmup: 0s, stop_after: { passes: 2 } }
)";
  for (const int rows : {150, 5}) {
    CavalryRun run = RunTo(0, spec,
                           {"--local", "2", "--set", fmt::format("tables.t.rows={}", rows), "--set",
                            "operations.find.read.keys=sequential"});
    EXPECT_EQ(sql().Row("SELECT COUNT(*), MIN(id), MAX(id) FROM t"),
              fmt::format("{0},1,{0}", rows));
    const json report = run.Report();
    ExpectIdentities(report);
    const json result = OnlyResult(report);
    EXPECT_EQ(result["ops"]["ok"], 2 * rows);
    EXPECT_EQ(result["wrong_answers"], 0);
    EXPECT_TRUE(result["errors"].empty()) << result["errors"];
  }
}

TEST_F(WriteTest, KilledConnectionsLeaveOpenAnswersAndNothingLost) {
  CavalryRun run = StartRun(WriteSpec(Inserts(kSql, 1)),
                            {"--set", "load.stop_after={ duration: 3s }", "--local", "2"});
  AwaitGrowth(&run, kRows, 100);
  for (int turn = 0; turn < 5; ++turn) {
    const std::vector<std::string> ids =
        sql().List(fmt::format("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{}' AND "
                               "USER = '{}'",
                               database(), server().user));
    for (const std::string& id : ids) {
      // One may have ended by itself meanwhile.
      sql().Run("BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR 1094 BEGIN END; KILL " + id +
                "; END");
    }
    AwaitGrowth(&run, kRows, 50);
  }
  const int status = run.Wait();
  EXPECT_TRUE(status == 0 || status == 3) << run.Printed();  // "failed < 1%" may well fail
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  EXPECT_GT(result["reconnects"], 0);
  const std::int64_t unknown = result["audit"]["unknown"].get<std::int64_t>();
  const std::int64_t failed =
      result["ops"]["broken"].get<std::int64_t>() + result["ops"]["rejected"].get<std::int64_t>();
  EXPECT_GT(failed, 0) << result["ops"];
  EXPECT_LE(unknown, failed);
  const json& audit = result["audit"];
  EXPECT_EQ(audit["acknowledged"], result["ops"]["ok"]);
  for (const char* name : {"lost", "stale", "unexpected", "wrong", "unaudited"}) {
    EXPECT_EQ(audit[name], 0) << name << audit;
  }
  const std::int64_t rows = sql().Number(kRows);
  EXPECT_GE(rows, audit["acknowledged"].get<std::int64_t>());
  EXPECT_LE(rows, audit["acknowledged"].get<std::int64_t>() + unknown);
}

TEST_F(WriteTest, RowsDeletedBehindItsBackAreLost) {
  for (const std::string targets :
       {"targets: { sql: @SQL@ }", "targets: { hs: @HS@, sql: @SQL@ }\nrounds: 1\norder: same"}) {
    const std::string spec = Inserts(targets, 1) + "thresholds: [ \"lost == 0\" ]\n";
    CavalryRun run =
        StartRun(WriteSpec(spec), {"--set", "load.stop_after={ duration: 2s }", "--local", "2"});
    AwaitGrowth(&run, kRows, 200);
    sql().Run("DELETE FROM t WHERE id BETWEEN 11 AND 17");
    EXPECT_EQ(run.Wait(), 3) << run.Printed();
    const json report = run.Report();
    ExpectIdentities(report);
    EXPECT_EQ(report["results"][0]["audit"]["lost"], 7) << report["results"][0]["audit"];
    EXPECT_FALSE(LinesWith(run.out(), "lost t 11").empty()) << "keys are named\n" << run.out();
  }
}

TEST_F(WriteTest, RowsChangedBehindItsBackAreStaleOrWrong) {
  const std::string spec = std::string(kSql) + R"(
tables:
  t: { rows: 20, primary_key: id, columns: { id: { type: int }, v: { type: bigint, value: new_version } } }
operations: { change: { update: { keys: { sequential: 1..20 }, set: { v: new_version } } } }
load: { sessions: 4, warmup: 0s, stop_after: { iterations: 400 } }
)";
  CavalryRun fill = RunTo(0, spec, {"--set", "load.stop_after.iterations=20"});
  // What is written to keys 3 and 4 is put back to what the fill wrote; keys 5 and 6 are spoilt.
  sql().Run(
      "CREATE TRIGGER behind BEFORE UPDATE ON t FOR EACH ROW SET NEW.v = "
      "CASE WHEN NEW.id IN (3, 4) THEN 0 WHEN NEW.id IN (5, 6) THEN 1234567890123456 ELSE NEW.v "
      "END");
  CavalryRun run = RunTo(0, spec + "reset: never\n");
  const json report = run.Report();
  ExpectIdentities(report);
  const json audit = OnlyResult(report)["audit"];
  EXPECT_EQ(audit["acknowledged"], 20) << audit;
  EXPECT_EQ(audit["stale"], 2) << audit;
  EXPECT_EQ(audit["wrong"], 2) << audit;
  EXPECT_EQ(audit["lost"], 0) << audit;
}

TEST_F(WriteTest, DeletedRowsThatCameBackAreStale) {
  const std::string spec = std::string(kSql) + R"(
tables:
  t: { rows: 2k, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations: { drop: { delete: { keys: { sequential: 1..2000 } } } }
load: { sessions: 1, warmup: 0s, stop_after: { duration: 60s, iterations: 2000 } }
)";
  CavalryRun run = StartRun(WriteSpec(spec));
  // Deleted ones are put back while the rest is still being deleted.
  ASSERT_TRUE(run.process().AwaitText("step 1/")) << run.Printed();
  ASSERT_TRUE(Await([&] { return sql().Number("SELECT COUNT(*) FROM t WHERE id <= 3") == 0; }));
  sql().Run("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
  EXPECT_EQ(run.Wait(), 0) << run.Printed();
  const json report = run.Report();
  ExpectIdentities(report);
  const json audit = OnlyResult(report)["audit"];
  EXPECT_EQ(audit["acknowledged"], 2000) << audit;
  EXPECT_EQ(audit["stale"], 3) << audit;
  EXPECT_EQ(audit["lost"], 0) << audit;
}

TEST_F(WriteTest, ResetRunLeavesAFilledTableAlone) {
  const std::string spec = std::string(kSql) + R"(
tables:
  t: { rows: 3k, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations: { find: { read: {} } }
load: { sessions: 2, warmup: 0s, stop_after: { iterations: 100 } }
)";
  const std::string created =
      "SELECT CREATE_TIME, TABLE_COMMENT FROM information_schema.TABLES "
      "WHERE TABLE_SCHEMA = '" +
      database() + "' AND TABLE_NAME = 't'";
  const std::string inserted = "Innodb_rows_inserted";
  CavalryRun first = RunTo(0, spec);
  EXPECT_EQ(LinesWith(first.err(), "filled t on sql").size(), 1U) << first.err();
  const std::string mark = sql().Row(created);
  const std::int64_t rows_inserted = sql().Status(inserted);
  CavalryRun second = RunTo(0, spec);
  EXPECT_EQ(LinesWith(second.err(), "filled").size(), 0U) << second.err();
  EXPECT_EQ(sql().Row(created), mark);
  EXPECT_LT(sql().Status(inserted) - rows_inserted, 100);
  // Another number of rows or another shape is another table.
  CavalryRun larger = RunTo(0, spec, {"--set", "tables.t.rows=3100"});
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MAX(id) FROM t"), "3100,3100");
  // Rows that somebody else changed are brought back.
  sql().Run("DELETE FROM t WHERE id > 3000");
  CavalryRun repaired = RunTo(0, spec, {"--set", "tables.t.rows=3100"});
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MAX(id) FROM t"), "3100,3100") << repaired.Printed();
}

TEST_F(WriteTest, ResetRunStepAndNever) {
  const std::string reset_run = Inserts(kSql, 100) + "rounds: 2\n";
  RunTo(0, reset_run);
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MAX(id) FROM t"), "200,200");
  RunTo(0, reset_run);
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MAX(id) FROM t"), "200,200")
      << "once, before the first step";
  RunTo(0, reset_run + "reset: never\n");
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MAX(id) FROM t"), "400,400");
  RunTo(0, reset_run + "reset: step\n");
  EXPECT_EQ(sql().Row("SELECT COUNT(*), MAX(id) FROM t"), "100,100") << "before every step";
}

TEST_F(WriteTest, CleanupDropsWhatCavalryMadeAndNothingElse) {
  sql().Run("CREATE TABLE other (id INT PRIMARY KEY)");
  sql().Run("CREATE TABLE mine (id INT PRIMARY KEY, v INT NOT NULL)");
  sql().Run("INSERT INTO mine VALUES (1, 1)");
  const std::string spec = std::string(kSql) + R"(
tables:
  t: { rows: 10, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
  mine: { existing: use, rows: 1, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations:
  find: { read: { table: t } }
  other: { read: { table: mine, verify: never } }
load: { sessions: 2, warmup: 0s, stop_after: { iterations: 100 } }
cleanup: drop
)";
  RunTo(0, spec);
  EXPECT_EQ(sql().List("SHOW TABLES"), (std::vector<std::string>{"mine", "other"}));
  EXPECT_EQ(sql().Row("SELECT COUNT(*), SUM(v) FROM mine"), "1,1");
}

}  // namespace
}  // namespace cavalry::e2e
