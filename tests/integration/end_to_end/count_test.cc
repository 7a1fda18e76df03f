// Counts are exact: every asked iteration, once, whatever the sessions, agents and pipelines; and
// reports stay valid where there is little or nothing to report.
#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

class CountTest : public CavalryTest {
 protected:
  // A spec over both drivers, each once; sequential reads of 100 rows.
  static std::string Reads(const std::string& load) {
    return R"(
targets: { sql: @SQL@, hs: @HS@ }
rounds: 1
order: same
tables:
  t: { rows: 100, primary_key: id, columns: { id: { type: int }, v: { type: varchar(20) } } }
operations: { find: { read: { keys: sequential, verify: always } } }
load: { warmup: 0s, )" +
           load + " }\n";
  }
};

constexpr char kInserts[] = R"(
rounds: 1
order: same
tables:
  t: { primary_key: id, columns: { id: { type: bigint }, v: { type: int } } }
operations: { add: { insert: {} } }
)";

TEST_F(CountTest, CountsThatDoNotDivide) {
  struct Case {
    const char* targets;
    const char* load;
    int count;
  };
  const Case cases[] = {
      {"targets: { sql: @SQL@, hs: @HS@ }", "", 7},
      {"targets: { sql: @SQL@ }", "sessions: 3, ", 10},
      {"targets: { sql: @SQL@ }", "sessions: 8, ", 1},
      {"targets: { sql: @PREPARED@ }", "sessions: 3, ", 10},
  };
  for (const Case& test : cases) {
    for (const std::string agents : {"1", "2"}) {
      const std::string spec =
          fmt::format("{}{}load: {{ {}warmup: 0s, stop_after: {{ iterations: {} }} }}\n",
                      test.targets, kInserts, test.load, test.count);
      std::vector<std::string> more = {"--local", agents};
      CavalryRun run = RunTo(0, spec, more);
      const json report = run.Report();
      ExpectIdentities(report, spec);
      int rows = 0;
      for (const json& result : report["results"]) {
        EXPECT_EQ(result["ops"]["attempted"], test.count) << spec;
        EXPECT_EQ(result["ops"]["ok"], test.count) << spec;
        rows += test.count;
      }
      EXPECT_EQ(sql().Number("SELECT COUNT(*) FROM t"), rows) << spec;
      EXPECT_LT(report["run"]["duration_s"].get<double>(), 20);
    }
  }
}

// What owns the tables need not be loaded: HandlerSocket alone, with several in flight per session.
TEST_F(CountTest, CountsThatDoNotDivideAPipeline) {
  const std::string targets = "targets: { sql: @SQL@, hs: @HS@ }\n";
  struct Case {
    int sessions, pipeline, count;
  };
  for (const Case& test : {Case{1, 3, 7}, Case{3, 3, 10}, Case{8, 3, 1}, Case{3, 1, 10}}) {
    const std::string spec = fmt::format(
        "{}{}load: {{ sessions: {}, pipeline: {}, warmup: 0s, stop_after: {{ iterations: {} }} "
        "}}\n",
        targets, kInserts, test.sessions, test.pipeline, test.count);
    CavalryRun run = RunTo(0, spec, {"--set", "targets.sql.load=false"});
    const json report = run.Report();
    ExpectIdentities(report, spec);
    const json result = OnlyResult(report);
    EXPECT_EQ(result["target"], "hs");
    EXPECT_EQ(result["ops"]["attempted"], test.count) << spec;
    EXPECT_EQ(result["ops"]["ok"], test.count) << spec;
    ExpectCleanAudit(result, test.count);
    EXPECT_EQ(sql().Number("SELECT COUNT(*) FROM t"), test.count) << spec;
    EXPECT_LT(result["duration_s"].get<double>(), 2) << spec;
    EXPECT_TRUE(report["comparison"].empty());
    EXPECT_EQ(run.out().find("load.pipeline"), std::string::npos) << run.out();
    sql().Run("DROP TABLE t");
  }
}

// A driver without pipelines is never given one, and both the text and the comparison say so.
TEST_F(CountTest, APipelineAppliesWhereItCan) {
  CavalryRun run =
      RunTo(0, "targets: { sql: @SQL@, hs: @HS@ }" + std::string(kInserts) +
                   "load: { warmup: 0s, pipeline: 3, stop_after: { iterations: 7 } }\n");
  const json report = run.Report();
  ExpectIdentities(report);
  ASSERT_EQ(report["results"].size(), 2U);
  for (const json& result : report["results"]) EXPECT_EQ(result["ops"]["ok"], 7);
  const std::string warnings = report["warnings"].dump();
  EXPECT_NE(
      warnings.find("target sql: the mysql driver has one operation in flight per session, so "
                    "load.pipeline 3 does not apply to it"),
      std::string::npos)
      << warnings;
  EXPECT_NE(warnings.find("(sql up to 1, hs up to 3)"), std::string::npos) << warnings;
}

TEST_F(CountTest, NoIterationsAreRefused) {
  for (const char* load :
       {"stop_after: { iterations: 0 }", "pipeline: 3, stop_after: { iterations: 0 }"}) {
    CavalryRun run = RunTo(2, Reads(load));
    EXPECT_NE(run.err().find("at least 1"), std::string::npos) << run.err();
  }
}

TEST_F(CountTest, PassesCoverEveryKey) {
  CavalryRun run = RunTo(0, Reads("sessions: 3, stop_after: { passes: 3 }"), {"--local", "2"});
  const json report = run.Report();
  ExpectIdentities(report);
  for (const json& result : report["results"]) {
    EXPECT_EQ(result["ops"]["ok"], 300) << result["target"];
    EXPECT_EQ(result["iterations"]["ok"], 300) << result["target"];
    EXPECT_EQ(result["wrong_answers"], 0);
  }
}

TEST_F(CountTest, PercentilesOfFewOperationsLieWithinMinAndMax) {
  for (const int count : {1, 2, 3, 7}) {
    CavalryRun run =
        RunTo(0, Reads(fmt::format("sessions: 1, stop_after: {{ iterations: {} }}", count)));
    const json report = run.Report();
    ExpectIdentities(report, std::to_string(count));
    for (const json& result : report["results"]) {
      const json& response = result["response_us"];
      EXPECT_EQ(response["count"], count);
      ExpectOrdered(response);
      if (count > 1) continue;
      for (const char* name : {"mean", "p50", "p95", "p99", "p99_99", "max"}) {
        EXPECT_DOUBLE_EQ(response[name].get<double>(), response["min"].get<double>()) << name;
      }
    }
  }
}

TEST_F(CountTest, WarmUpIsNotCounted) {
  CavalryRun run = RunTo(0, Reads("sessions: 4, stop_after: { iterations: 1000 }"),
                         {"--set", "load.warmup=500ms", "--local", "2"});
  const json report = run.Report();
  ExpectIdentities(report);
  for (const json& result : report["results"]) {
    EXPECT_EQ(result["ops"]["attempted"], 1000) << result["target"];
    EXPECT_EQ(result["service_us"]["count"], 1000) << result["target"];
  }
}

TEST_F(CountTest, WhicheverBoundComesFirst) {
  CavalryRun run =
      RunTo(0, Reads("sessions: 2, stop_after: { duration: 60s, iterations: 50, passes: 7 }"));
  for (const json& result : run.Report()["results"]) EXPECT_EQ(result["ops"]["ok"], 50);
}

TEST_F(CountTest, EverythingRejectedIsAReport) {
  sql().Run("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL)");
  sql().Run("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
  sql().Run(
      "CREATE TRIGGER never BEFORE UPDATE ON t FOR EACH ROW "
      "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'");
  CavalryRun run = RunTo(4, R"(
targets: { sql: @SQL@ }
tables:
  t: { existing: use, rows: 3, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations: { change: { update: { keys: sequential, set: { v: {} } } } }
load: { sessions: 2, warmup: 0s, stop_after: { iterations: 20 } }
)");
  const json report = run.Report();
  ExpectIdentities(report);
  const json result = OnlyResult(report);
  EXPECT_EQ(result["ops"]["rejected"], 20);
  EXPECT_TRUE(result["response_us"].is_null());
  EXPECT_TRUE(result["service_us"].is_null());
  EXPECT_EQ(result["failed_us"]["rejected"]["count"], 20);
  EXPECT_EQ(result["errors"]["1644"]["count"], 20) << result["errors"];
  EXPECT_EQ(result["errors"]["1644"]["class"], "rejected");
  EXPECT_EQ(LinesWith(run.out(), "not today").size(), 1U) << run.out();
  EXPECT_EQ(run.out().find("nan"), std::string::npos) << run.out();
}

TEST_F(CountTest, NothingButMissesIsNotJudged) {
  sql().Run("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL)");
  CavalryRun run = RunTo(4, R"(
targets: { sql: @SQL@, hs: @HS@ }
rounds: 1
tables:
  t: { existing: use, rows: 50, primary_key: id, columns: { id: { type: int }, v: { type: int } } }
operations:
  find: { read: { keys: sequential, verify: never } }
  change: { update: { keys: sequential, set: { v: {} } } }
  drop: { delete: { keys: sequential } }
load: { sessions: 4, warmup: 0s, stop_after: { iterations: 100 } }
)");
  const json report = run.Report();
  ExpectIdentities(report);
  ASSERT_EQ(report["results"].size(), 2U);
  for (const json& result : report["results"]) {
    EXPECT_EQ(result["ops"]["miss"], 300) << result["target"] << result["ops"];
    EXPECT_EQ(result["ops"]["ok"], 0);
    EXPECT_EQ(result["miss_us"]["count"], 300);
    EXPECT_TRUE(result["response_us"].is_null());
  }
  EXPECT_FALSE(LinesWith(run.out(), "miss").empty());
  EXPECT_NE(run.out().find("loaded"), std::string::npos) << "a hint\n" << run.out();
}

TEST_F(CountTest, AThresholdThatFails) {
  CavalryRun run = RunTo(3, Reads("sessions: 2, stop_after: { iterations: 100 }") +
                                "thresholds: [ \"p50(find) < 1ns\", \"failed < 1%\" ]\n");
  const json report = run.Report();
  ExpectIdentities(report);
  bool failed = false;
  for (const json& threshold : report["thresholds"]) {
    const bool is_latency = threshold["expression"] == "p50(find) < 1ns";
    EXPECT_EQ(threshold["passed"], !is_latency) << threshold;
    failed = failed || is_latency;
  }
  EXPECT_TRUE(failed);
  EXPECT_FALSE(LinesWith(run.out(), "FAILED").empty()) << run.out();
}

TEST_F(CountTest, FewerSessionsThanAgentsNamesTheIdleOne) {
  CavalryRun run =
      RunTo(0, Reads("sessions: 2, stop_after: { iterations: 100 }"), {"--local", "3"});
  const json report = run.Report();
  ExpectIdentities(report);
  int sessions = 0;
  for (const json& agent : report["agents"]) sessions += agent["sessions"].get<int>();
  EXPECT_EQ(sessions, 2);
  EXPECT_FALSE(LinesWith(run.out(), "idle").empty()) << run.out();
  for (const json& result : report["results"]) EXPECT_EQ(result["ops"]["attempted"], 100);
}

}  // namespace
}  // namespace cavalry::e2e
