// Operations, scripts and clients by spec, on real servers: what each does to the rows and what the
// report says of it. Names of cases are those of the field's complaints that they stand for.
#include <cmath>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

using OperationsTest = CavalryTest;

const json& Operation(const json& result, const std::string& name) {
  for (const json& entry : result["by_operation"]) {
    if (entry["operation"] == name) return entry;
  }
  ADD_FAILURE() << "no operation " << name << " in " << result["by_operation"].dump();
  return result;
}

std::int64_t Rows(const json& result) {
  return std::llround(result["rows_per_s"].get<double>() * result["duration_s"].get<double>());
}

// C10: a statement and an iteration each have times of their own, named.
TEST_F(OperationsTest, AnIterationsTimeIsNotItsStatements) {
  CavalryRun run = RunTo(0, R"spec(
targets: { sql: @SQL@ }
operations: { nap: { native: "SELECT SLEEP(0.01)" } }
script: [ { nap: 4 } ]
load: { sessions: 1, warmup: 0s, stop_after: { iterations: 50 } }
)spec");
  const json report = run.Report();
  ExpectIdentities(report);
  const json& result = report["results"][0];
  EXPECT_EQ(result["iterations"]["ok"], 50);
  EXPECT_EQ(result["ops"]["ok"], 200);
  EXPECT_GE(result["service_us"]["p50"], 10'000);
  EXPECT_GE(result["response_us"]["p50"], 40'000);
  EXPECT_GE(result["response_us"]["p50"].get<double>(),
            3.9 * result["service_us"]["min"].get<double>());
  EXPECT_NE(run.out().find("script/s"), std::string::npos) << run.out();
}

constexpr char kOppositeOrders[] = R"(
targets: { sql: @SQL@ }
tables:
  acc: { rows: 2, primary_key: id, columns: { id: { type: int }, v: { type: bigint, value: { random_int: 0..0 } } } }
operations:
  first: { increment: { keys: { uniform: 1..1 }, column: v } }
  second: { increment: { keys: { uniform: 2..2 }, column: v } }
script: { mix: { up: { transaction: [first, second] }, down: { transaction: [second, first] } } }
thresholds: [ "failed < 100%" ]
)";

// C19: a deadlock undoes the whole transaction, which is tried again from its begin.
TEST_F(OperationsTest, DeadlocksAreTriedAgainFromTheTransactionsBegin) {
  CavalryRun run = RunTo(0, std::string(kOppositeOrders) +
                                "load: { sessions: 8, warmup: 0s, stop_after: { duration: 2s }, "
                                "retries: 1000 }\n");
  const json report = run.Report();
  ExpectIdentities(report);
  const json& result = report["results"][0];
  ASSERT_TRUE(result["errors"].contains("1213")) << result["errors"].dump();
  const std::int64_t committed = result["iterations"]["ok"];
  EXPECT_EQ(sql().Number("SELECT SUM(v) FROM acc"), 2 * committed);
  EXPECT_EQ(sql().Number("SELECT MAX(v) - MIN(v) FROM acc"), 0);
  EXPECT_EQ(result["retries"], result["errors"]["1213"]["count"]);
  EXPECT_EQ(result["iterations"]["failed"], 0);
}

TEST_F(OperationsTest, WithoutRetriesADeadlockFailsItsIteration) {
  CavalryRun run =
      RunTo(0, std::string(kOppositeOrders) +
                   "load: { sessions: 8, warmup: 0s, stop_after: { duration: 2s } }\n");
  const json report = run.Report();
  ExpectIdentities(report);
  const json& result = report["results"][0];
  ASSERT_TRUE(result["errors"].contains("1213")) << result["errors"].dump();
  EXPECT_EQ(result["retries"], 0);
  EXPECT_EQ(result["ops"]["rejected"], result["errors"]["1213"]["count"]);
  EXPECT_EQ(result["iterations"]["failed"], result["ops"]["rejected"]);
  EXPECT_EQ(Operation(result, "rollback")["ops"]["ok"], result["ops"]["rejected"]);
  EXPECT_EQ(sql().Number("SELECT SUM(v) FROM acc"),
            2 * result["iterations"]["ok"].get<std::int64_t>());
}

// C32: rows that the server numbers, by each client; the audit looks for the numbers it told.
TEST_F(OperationsTest, NumbersThatTheServerGivesAreThoseOfTheTable) {
  for (const std::string target : {"sql: @SQL@", "hs: @HS@"}) {
    sql().Run("DROP TABLE IF EXISTS numbered");
    const bool hs = target.starts_with("hs");
    CavalryRun run =
        RunTo(0, fmt::format("targets: {{ {}{} }}\n", hs ? "sql: @SQLOWNER@, " : "", target) + R"(
tables: { numbered: { primary_key: id, columns: { id: { type: int, auto_increment: true }, v: { type: varchar(20) } } } }
operations: { add: { insert: numbered } }
load: { sessions: 4, warmup: 0s, pipeline: )" +
                     (hs ? "16" : "1") + R"(, stop_after: { iterations: 1000 } }
)");
    const json report = run.Report();
    ExpectIdentities(report);
    ASSERT_EQ(report["results"].size(), 1U);
    EXPECT_EQ(report["results"][0]["ops"]["ok"], 1000);
    ExpectCleanAudit(report["results"][0], 1000);
    EXPECT_EQ(sql().Row("SELECT COUNT(*), COUNT(DISTINCT id) FROM numbered"), "1000,1000");
  }
}

// C29: a list of values is one index read each.
TEST_F(OperationsTest, AListGivesARowPerValueAndTheLimitIsWarnedOf) {
  const auto spec = [](const std::string& scan) {
    return "targets: { sql: @SQLOWNER@, hs: @HS@ }\n"
           "tables: { t: { rows: 30, primary_key: id, columns: { id: { type: int }, v: { type: int "
           "} } } }\n"
           "operations: { list: { scan: " +
           scan +
           " } }\n"
           "load: { sessions: 1, warmup: 0s, stop_after: { iterations: 1 } }\n";
  };
  CavalryRun equal = RunTo(0, spec("{ comparison: eq, in: [10, 20, 99], limit: 3 }"));
  EXPECT_EQ(Rows(equal.Report()["results"][0]), 2);
  CavalryRun greater = RunTo(0, spec("{ comparison: gt, in: [10, 20], limit: 2 }"));
  EXPECT_EQ(Rows(greater.Report()["results"][0]), 2);
  EXPECT_NE(greater.Printed().find("one row for each value"), std::string::npos)
      << greater.Printed();
  CavalryRun limited = RunTo(0, spec("{ comparison: eq, in: [10, 20], limit: 1 }"));
  EXPECT_EQ(Rows(limited.Report()["results"][0]), 1);
  EXPECT_NE(limited.out().find("limit"), std::string::npos) << limited.Printed();
}

// Every operation by text and prepared statements, without and with blocking calls.
TEST_F(OperationsTest, EveryMysqlOperationByEveryClient) {
  for (const std::string options :
       {"statements: text", "statements: prepared", "client: blocking",
        "client: blocking, threads: 1", "statements: prepared, client: blocking"}) {
    SCOPED_TRACE(options);
    sql().Run("DROP TABLE IF EXISTS t");
    CavalryRun run = RunTo(0, "targets: { sql: " + SqlTarget(options) + " }\n" + R"(
tables:
  t:
    rows: 200
    primary_key: id
    indexes: { by_kind: [kind] }
    columns:
      id: { type: int }
      kind: { type: tinyint, value: { random_int: 0..4 } }
      name: { type: varchar(30), value: "n{id}" }
      hits: { type: int, value: { random_int: 0..0 } }
      revision: { type: bigint, value: new_version }
operations:
  find: { read: { columns: [id, kind, name], verify: always } }
  several: { multi_read: { columns: [id, name], keys: { uniform: 1..200 }, count: 5 } }
  range: { scan: { comparison: ge, keys: { uniform: 1..150 }, limit: 10 } }
  alike: { scan: { index: by_kind, comparison: eq, limit: 3 } }
  add: { insert: { batch: 3 } }
  change: { update: { set: { revision: new_version } } }
  hit: { increment: { column: hits, by: 2 } }
  ask: { native: { statement: "SELECT COUNT(*) FROM t WHERE kind = ?", parameters: [ { value: { random_int: 0..4 } } ] } }
script: { name: all, transaction: [find, several, range, alike, add, change, hit, ask] }
load: { sessions: 2, warmup: 0s, stop_after: { iterations: 40 } }
)");
    const json report = run.Report();
    ExpectIdentities(report);
    const json& result = report["results"][0];
    EXPECT_EQ(result["iterations"]["ok"], 40);
    EXPECT_EQ(result["ops"]["ok"], 400);
    EXPECT_EQ(result["wrong_answers"], 0);
    EXPECT_EQ(Operation(result, "several")["keys"]["asked"], 200);
    EXPECT_EQ(Operation(result, "several")["keys"]["found"], 200);
    EXPECT_EQ(sql().Number("SELECT COUNT(*) FROM t"), 200 + 3 * 40);
    EXPECT_EQ(sql().Number("SELECT SUM(hits) FROM t"), 2 * 40);
    EXPECT_EQ(result["audit"]["lost"], 0);
    EXPECT_EQ(result["audit"]["wrong"], 0);
  }
}

// C31: a column that an insert leaves out gets no default from HandlerSocket; that is said before.
TEST_F(OperationsTest, UnlistedColumnsAreWarnedOf) {
  CavalryRun run = RunTo(0, R"(
targets: { sql: @SQLOWNER@, hs: @HS@ }
tables:
  t:
    primary_key: id
    columns:
      id: { type: int }
      made: { type: datetime, default: "CURRENT_TIMESTAMP" }
      n: { type: int, nullable: true }
operations: { add: { insert: { columns: [id] } } }
load: { sessions: 1, warmup: 0s, stop_after: { iterations: 10 } }
)");
  EXPECT_EQ(run.Report()["results"][0]["ops"]["ok"], 10);
  EXPECT_NE(run.out().find("made"), std::string::npos) << run.out();
}

// Opened and closed by each iteration: connecting counts to the iteration and is shown apart.
TEST_F(OperationsTest, AConnectionPerIteration) {
  CavalryRun run = RunTo(0, R"(
targets: { sql: @SQL@, hs: @HS@ }
tables: { t: { rows: 50, primary_key: id, columns: { id: { type: int }, v: { type: varchar(20) } } } }
operations: { find: { read: { verify: always } } }
load: { sessions: 2, warmup: 0s, connections: per_iteration, stop_after: { iterations: 60 } }
)");
  const json report = run.Report();
  ExpectIdentities(report);
  for (const json& result : report["results"]) {
    EXPECT_EQ(result["ops"]["ok"], 60);
    EXPECT_GE(result["connect_us"]["count"], 60);
    EXPECT_GT(result["response_us"]["mean"], result["service_us"]["mean"]);
  }
}

// Targets of one spec return the same rows, or are told apart before the run.
TEST_F(OperationsTest, ACheckReadsRowsOverEachTarget) {
  const std::string spec = WriteSpec(R"spec(
targets: { sql: @SQL@, hs: @HS@ }
tables:
  item: { rows: 30, primary_key: id, columns: { id: { type: int }, name: { type: varchar(20) } } }
operations: { get: { read: { keys: uniform } } }
load: { warmup: 0s, stop_after: { iterations: 10 } }
)spec");
  CavalryRun run = StartRun(spec);
  EXPECT_EQ(run.Wait(), 0) << run.Printed();
  Process same = Start({Program("cavalry"), "check", "--connect", spec});
  EXPECT_EQ(same.Wait(), 0) << same.out() << same.err();
  EXPECT_NE(same.out().find("rows_as_filled item (of 30)"), std::string::npos) << same.out();
  sql().Run("UPDATE item SET name = 'another' WHERE id = 30");
  Process other = Start({Program("cavalry"), "check", "--connect", spec});
  EXPECT_EQ(other.Wait(), 0) << other.out() << other.err();
  for (const char* target : {"sql", "hs"}) {
    EXPECT_NE((other.out() + other.err())
                  .find(std::string(target) + ": row 30 of item: column 'name' holds 'another'"),
              std::string::npos)
        << other.out() << other.err();
  }
}

}  // namespace
}  // namespace cavalry::e2e
