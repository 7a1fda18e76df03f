// Every spec of a published experiment runs, shortened, and prints its figures as published; so do
// the workloads that other tools made known.
#include <cstdlib>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

class PublishedTest : public CavalryTest {
 protected:
  static bool HasKeyValueServers() {
    return std::getenv("CAVALRY_MEMCACHED_PORT") != nullptr &&
           std::getenv("CAVALRY_CASSANDRA_PORT") != nullptr;
  }
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

TEST_F(PublishedTest, E2) {
  if (!HasKeyValueServers()) GTEST_SKIP() << "memcached or Cassandra is not named";
  const std::vector<std::string> shorter = {"stages.insert.load.stop_after.iterations=60",
                                            "stages.select.load.stop_after.iterations=60",
                                            "rounds=1", "cleanup=drop"};
  for (const char* file : {"e2", "e2-corrected", "e2-mapper"}) {
    std::vector<std::string> values = shorter;
    const std::string name = file;
    if (name == "e2-mapper") {
      values.push_back("operations.find.native.parameters[0].keys.uniform=1..60");
    } else {
      values.push_back("operations.find.read.keys={ uniform: 1..60 }");
      values.push_back("targets.cql.cassandra.keyspace=" + database());
      values.push_back("targets.cache.memcached.key=" + database() + ":{table}:{key}");
    }
    if (name == "e2") {
      values.push_back(
          "sweep={ operations.find.read.keys: { values: [{ sequential: 1..60 }, { uniform: 1..60 "
          "}] "
          "} }");
    }
    const json report = RunPublished(file, values);
    ExpectIdentities(report, file);
    const std::size_t ways = name == "e2-mapper" ? 1 : 4;
    ASSERT_EQ(report["published"].size(), 2 * ways * (name == "e2" ? 2 : 1)) << file;
    for (const json& line : report["published"]) {
      EXPECT_NEAR(line["user_and_system_s"].get<double>(),
                  line["user_s"].get<double>() + line["system_s"].get<double>(), 1e-6)
          << line.dump();
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

// The presets, each for as long as it takes to see that it runs.
TEST_F(PublishedTest, WorkloadsOfOtherTools) {
  if (!HasKeyValueServers()) GTEST_SKIP() << "memcached or Cassandra is not named";
  struct Preset {
    const char* file;
    const char* table;
    int targets;
    bool fills = true;
    bool cache = false;
    bool cql = false;
  };
  for (const Preset& preset :
       {Preset{"ycsb/a", "usertable", 4, true, true, true},
        Preset{"ycsb/b", "usertable", 4, true, true, true},
        Preset{"ycsb/c", "usertable", 4, true, true, true},
        Preset{"ycsb/d", "usertable", 4, true, true, true},
        Preset{"ycsb/e", "usertable", 3, true, false, true},
        Preset{"ycsb/f", "usertable", 4, true, true, true},
        Preset{"memtier", "item", 1, true, true}, Preset{"sysbench-point-select", "sbtest1", 1},
        Preset{"cassandra-stress-write", "standard1", 1, false, false, true},
        Preset{"cassandra-stress-read", "standard1", 1, true, false, true},
        Preset{"cassandra-stress-mixed", "standard1", 1, true, false, true}}) {
    std::vector<std::string> more = {"--set", "load.stop_after={ iterations: 60 }",
                                     "--set", "load.sessions=4",
                                     "--set", "load.warmup=0s",
                                     "--set", "rounds=1",
                                     "--set", "cleanup=drop"};
    const auto set = [&](const std::string& value) {
      more.push_back("--set");
      more.push_back(value);
    };
    if (preset.fills) set(fmt::format("tables.{}.rows=100", preset.table));
    if (preset.cache) set("targets.cache.memcached.key=" + database() + ":{table}:{key}");
    if (preset.cql) set("targets.cql.cassandra.keyspace=" + database());
    const std::string name = preset.file;
    if (name.find("ycsb") != 0 && name != "memtier") set("sweep={ load.sessions: [4] }");
    if (name == "cassandra-stress-read" || name == "cassandra-stress-mixed") {
      set("operations.read.read.keys={ uniform: 1..100 }");
    }
    if (name == "cassandra-stress-mixed") {
      set("operations.update.update.keys={ uniform: 1..100 }");
    }
    CavalryRun run = StartRun(fmt::format("{}/configs/{}.yaml", CAVALRY_SOURCE_DIR, preset.file),
                              more, {}, {"CAVALRY_MARIADB_DATABASE=" + database()});
    EXPECT_EQ(run.Wait(), 0) << preset.file << run.Printed();
    const json report = run.Report();
    ExpectIdentities(report, preset.file);
    ASSERT_EQ(report["results"].size(), static_cast<std::size_t>(preset.targets)) << preset.file;
    for (const json& result : report["results"]) {
      EXPECT_GE(result["iterations"]["ok"], 55) << preset.file;
      const json& audit = result["audit"];
      EXPECT_TRUE(audit.is_null() || audit["lost"] == 0) << preset.file;
    }
  }
}

}  // namespace
}  // namespace cavalry::e2e
