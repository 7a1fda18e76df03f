// The course of a run over stages and conditions: what is done before each step, on which target,
// and what the report says of it.
#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

using CourseTest = CavalryTest;

constexpr char kTable[] = R"(
tables:
  t: { rows: 100, primary_key: id, columns: { id: { type: bigint }, v: { type: varchar(20) } } }
)";

// "cold sql measure": condition, target and stage of each result, in order.
std::vector<std::string> Course(const json& report) {
  std::vector<std::string> course;
  for (const json& result : report["results"]) {
    const json& condition = result["step"]["condition"];
    course.push_back(fmt::format("{} {} {}", condition.is_null() ? "-" : std::string(condition),
                                 std::string(result["target"]), std::string(result["stage"])));
  }
  return course;
}

TEST_F(CourseTest, ALaterStageFindsWhatAnEarlierOneWrote) {
  CavalryRun run =
      RunTo(0, std::string("targets: { sql: @SQL@ }\nrounds: 2\nreset: step\n") + kTable + R"(
operations:
  add: { insert: {} }
  find: { read: { keys: sequential, verify: always } }
stages:
  insert: { script: [add], load: { stop_after: { iterations: 50 } } }
  select: { script: [find], load: { stop_after: { passes: 1 } } }
load: { sessions: 3, warmup: 0s }
)");
  const json report = run.Report();
  ExpectIdentities(report);
  EXPECT_EQ(Course(report), (std::vector<std::string>{"- sql insert", "- sql select",
                                                      "- sql insert", "- sql select"}));
  EXPECT_EQ(report["results"][2]["ops"]["ok"], 50);
  ExpectCleanAudit(report["results"][2], 50);
  EXPECT_EQ(report["results"][3]["ops"]["ok"], 100);
  EXPECT_EQ(report["results"][3]["wrong_answers"], 0);
  EXPECT_EQ(report["summary"].size(), 2U) << "a stage has a summary of its own";
  EXPECT_EQ(sql().Row("SELECT COUNT(*) FROM t"), "150") << "reset before the first stage only";
}

TEST_F(CourseTest, StatementsAndProgramsComeBeforeEachStep) {
  sql().Run("CREATE TABLE told (n INT AUTO_INCREMENT PRIMARY KEY)");
  const std::string file = folder() + "/ran";
  const std::string spec = std::string("targets: { sql: @SQL@, hs: @HS@ }\nrounds: 2\n") + kTable +
                           fmt::format(R"spec(
operations: {{ find: {{ read: {{ keys: sequential }} }} }}
load: {{ warmup: 0s, stop_after: {{ iterations: 20 }} }}
conditions:
  cold: {{ before: [touch], stop_after: {{ iterations: 5 }} }}
  warm: {{ before: [{{ native: {{ sql: "INSERT INTO told VALUES ()" }} }}] }}
commands: {{ touch: {{ run: [sh, -c, "echo x >>{}"], ready_within: 20s }} }}
)spec",
                                       file);
  CavalryRun refused = RunTo(2, spec);
  EXPECT_NE(refused.err().find("--allow-commands"), std::string::npos) << refused.Printed();
  EXPECT_EQ(Start({"cat", file}).Wait(), 1) << "nothing ran";

  CavalryRun run = RunTo(0, spec, {"--allow-commands"});
  const json report = run.Report();
  ExpectIdentities(report);
  EXPECT_EQ(Course(report),
            (std::vector<std::string>{"cold sql measure", "cold hs measure", "warm sql measure",
                                      "warm hs measure", "cold hs measure", "cold sql measure",
                                      "warm hs measure", "warm sql measure"}));
  EXPECT_EQ(report["results"][0]["ops"]["ok"], 5);
  EXPECT_EQ(report["results"][2]["ops"]["ok"], 20);
  EXPECT_EQ(sql().Row("SELECT COUNT(*) FROM told"), "4") << "once a warm step";
  Process lines = Start({"wc", "-l", file});
  EXPECT_EQ(lines.Wait(), 0);
  EXPECT_EQ(lines.out().substr(0, 2), "4 ") << "once a cold step";
  EXPECT_TRUE(report["results"][0]["server"].contains("Innodb_buffer_pool_reads"))
      << report["results"][0]["server"];
  EXPECT_NE(run.out().find("pages read from disk"), std::string::npos) << run.out();
}

TEST_F(CourseTest, AProgramThatFailsEndsTheRunWithWhatItSaid) {
  const std::string spec = std::string("targets: { sql: @SQL@ }\n") + kTable + R"(
operations: { find: { read: { keys: sequential } } }
load: { warmup: 0s, stop_after: { iterations: 5 } }
conditions: { cold: { before: [stop] } }
commands: { stop: { run: [sh, -c, "echo no such unit; exit 5"] } }
)";
  CavalryRun run = RunTo(1, spec, {"--allow-commands"});
  EXPECT_NE(run.Printed().find("exited with 5; it said: no such unit"), std::string::npos)
      << run.Printed();
}

}  // namespace
}  // namespace cavalry::e2e
