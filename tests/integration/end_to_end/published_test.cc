// Every spec of a published experiment runs, shortened, and prints its figures as published.
#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

class PublishedTest : public CavalryTest {
 protected:
  // Runs the file with these values set, in the test's own database.
  json RunPublished(const std::string& file, const std::vector<std::string>& values) {
    std::vector<std::string> more = {"--allow-commands"};
    for (const std::string& value : values) {
      more.push_back("--set");
      more.push_back(value);
    }
    CavalryRun run = StartRun(fmt::format("{}/configs/published/{}.yaml", CAVALRY_SOURCE_DIR, file),
                              more, {}, {"CAVALRY_MARIADB_DATABASE=" + database()});
    EXPECT_EQ(run.Wait(), 0) << run.Printed();
    EXPECT_NE(run.out().find("AS PUBLISHED"), std::string::npos) << run.Printed();
    return run.Report();
  }
};

TEST_F(PublishedTest, E1) {
  for (const char* file : {"e1", "e1-corrected"}) {
    // Other tests use the server: it is not restarted here.
    const json report = RunPublished(
        file, {"commands.restart.run=[true]", "tables.customer.rows=2000",
               "operations.find.read.keys={ sequential: 1..1999 }", "load.stop_after.duration=1s",
               "load.warmup=0s", "rounds=2", "conditions.cold.stop_after={ passes: 1 }"});
    ExpectIdentities(report, file);
    ASSERT_EQ(report["published"].size(), 8U) << file;
    for (std::size_t i = 0; i < 8; ++i) {
      const json& line = report["published"][i];
      EXPECT_EQ(line["rows"], report["results"][i]["ops"]["ok"]) << "a row a lookup";
      if (line["step"]["condition"] == "cold") {
        EXPECT_EQ(line["rows"], 1999);
      }
    }
  }
}

TEST_F(PublishedTest, E3) {
  for (const char* file : {"e3", "e3-sleep", "e3-corrected"}) {
    const json report = RunPublished(file, {"load.sessions=4", "load.pool={ size: 4, overflow: 2 }",
                                            "load.stop_after.iterations=12", "rounds=1"});
    ExpectIdentities(report, file);
    ASSERT_EQ(report["published"].size(), 3U) << file;
    for (const json& line : report["published"]) {
      EXPECT_EQ(line["total"], 12) << file;
      EXPECT_EQ(line["concurrency"], 4) << file;
      EXPECT_EQ(line["failed"], 0) << file;
    }
    for (const json& result : report["results"]) ExpectCleanAudit(result, 12);
  }
}

TEST_F(PublishedTest, E4) {
  for (const char* file : {"e4-read", "e4-write"}) {
    const json report = RunPublished(
        file, {"load.stop_after.iterations=200",
               std::string("tables.user.rows=") + (file[3] == 'r' ? "500" : "0"),
               "sweep={ load.connections: [per_iteration, kept], load.sessions: [2, 5] }"});
    ExpectIdentities(report, file);
    ASSERT_EQ(report["published"].size(), 8U) << file;
    for (const json& line : report["published"]) {
      EXPECT_LE(line["min_ms"], line["average_ms"]);
      EXPECT_LE(line["average_ms"], line["max_ms"]);
      EXPECT_EQ(line.contains("lost"), file[3] == 'w');
      if (file[3] == 'w') {
        EXPECT_EQ(line["lost"], 0);
      }
    }
  }
}

}  // namespace
}  // namespace cavalry::e2e
