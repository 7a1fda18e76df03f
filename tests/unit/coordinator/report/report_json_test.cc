#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coordinator/report/report.h"
#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

using Json = nlohmann::ordered_json;

Json JsonOf(const std::vector<v1::JournalEntry>& entries) {
  const Aggregator run = ApplyAll(entries);
  return Json::parse(RenderJson(MakeReport(run)));
}

Json JsonOf(const StepShape& shape, RunOptions options = {}) {
  RunBuilder builder(std::move(options));
  builder.Start();
  builder.AddAllSteps(shape);
  builder.End();
  return JsonOf(builder.entries());
}

TEST(ReportJson, HasItsFieldsInAStableOrder) {
  const Json json = JsonOf(StepShape{});
  std::vector<std::string> names;
  for (const auto& item : json.items()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"cavalry", "run", "agents", "results", "summary",
                                             "comparison", "thresholds", "warnings", "published"}));
  EXPECT_EQ(json["run"]["started_at"], "2026-11-30T21:27:43Z");
  EXPECT_EQ(json["results"].size(), 8u);
  EXPECT_EQ(json["results"][0]["step"]["set"]["load.sessions"], "1");
  EXPECT_TRUE(json["results"][0]["step"]["rate"].is_null());
}

TEST(ReportJson, EveryResultIsBalanced) {
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep(StepShape{.ok = 50, .miss = 3, .rejected = 2, .in_flight = 4, .lose = "gen2"});
  builder.AddAllSteps(StepShape{.ok = 50, .miss = 3, .rejected = 2});
  builder.End();
  const Json json = JsonOf(builder.entries());
  for (const char* list : {"results", "summary"}) {
    for (const Json& result : json[list]) {
      std::uint64_t sum = 0;
      for (const auto& item : result["ops"].items()) {
        if (item.key() != "attempted") sum += item.value().get<std::uint64_t>();
      }
      EXPECT_EQ(sum, result["ops"]["attempted"].get<std::uint64_t>());
      EXPECT_EQ(result["service_us"]["count"], result["ops"]["ok"]);
      EXPECT_EQ(result["response_us"]["count"], result["iterations"]["ok"]);
      EXPECT_EQ(result["miss_us"]["count"], result["ops"]["miss"]);
      EXPECT_EQ(result["failed_us"]["rejected"]["count"], result["ops"]["rejected"]);
      EXPECT_EQ(result["errors"]["1213"]["count"], result["ops"]["rejected"]);
      EXPECT_EQ(result["keys"]["found"], result["ops"]["ok"]);
    }
  }
  EXPECT_EQ(json["results"][0]["ops"]["abandoned"], 4);
  EXPECT_EQ(json["agents"][1]["status"], "lost");
  EXPECT_EQ(json["run"]["status"], "partial");
}

// C06: percentiles outside of min and max.
TEST(ReportJson, PercentilesStayWithinMinAndMax) {
  for (const std::uint64_t count : {1u, 2u, 3u, 7u}) {
    const Json json = JsonOf(StepShape{.seconds = 1, .warmup_seconds = 0, .ok = count},
                             RunOptions{.targets = {"sql"}, .sessions = {1}, .rounds = 1});
    const Json& response = json["results"][0]["response_us"];
    EXPECT_EQ(response["count"], count);
    double last = response["min"];
    for (const char* name : {"p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"}) {
      EXPECT_LE(last, response[name].get<double>()) << name;
      last = response[name];
    }
    EXPECT_TRUE(count > 1 || response["min"] == response["max"]);
  }
}

// C53: no success at all.
TEST(ReportJson, IsNullWhereThereIsNoSample) {
  const std::vector<v1::JournalEntry> entries = [] {
    RunBuilder builder(RunOptions{.sessions = {16}});
    builder.Start();
    builder.AddAllSteps(StepShape{.ok = 0, .rejected = 10});
    builder.End();
    return builder.entries();
  }();
  const Aggregator run = ApplyAll(entries);
  const Report report = MakeReport(run);
  const std::string text = RenderJson(report);
  EXPECT_EQ(report.exit_status, 4);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  const Json json = Json::parse(text);
  const Json& result = json["results"][0];
  EXPECT_TRUE(result["response_us"].is_null());
  EXPECT_TRUE(result["service_us"].is_null());
  EXPECT_EQ(result["ops_per_s"], 0.0);
  EXPECT_TRUE(json["comparison"][0]["ratio"].is_null());
  EXPECT_TRUE(result["per_second"][0]["p50_us"].is_null());
  EXPECT_FALSE(result["failed_us"]["rejected"].is_null());
}

TEST(ReportJson, AStepWithoutAnyIntervalHasNoFigures) {
  RunBuilder builder(RunOptions{.targets = {"sql"}, .sessions = {1}, .rounds = 1});
  builder.Start();
  builder.AddStep(StepShape{.seconds = 0, .warmup_seconds = 0, .end_as = v1::STEP_END_FAILED});
  builder.End(v1::RUN_END_FAILED, FailedPrecondition("access denied"));
  const Json json = JsonOf(builder.entries());
  EXPECT_EQ(json["run"]["status"], "failed");
  EXPECT_TRUE(json["results"][0]["client_cpu"]["user_us_per_op"].is_null());
}

TEST(ReportJson, ServerVariablesAndBytesThatAreNoText) {
  RunBuilder builder(RunOptions{.targets = {"hs"}, .sessions = {16}, .rounds = 1});
  builder.Start();
  v1::JournalEntry info;
  info.mutable_server_info()->set_target("hs");
  v1::NameValue* variable = info.mutable_server_info()->add_variables();
  variable->set_name("handlersocket_threads");
  variable->set_value("2");
  builder.Add(info);
  builder.AddAllSteps();
  builder.End();
  const Json json = JsonOf(builder.entries());
  EXPECT_EQ(json["results"][0]["server"]["handlersocket_threads"], "2");
}

TEST(ReportJson, OperationsOfAScriptHaveTheirOwnEntries) {
  const Json json = JsonOf(StepShape{}, RunOptions{.sessions = {16}, .two_operations = true});
  const Json& result = json["results"][0];
  ASSERT_EQ(result["by_operation"].size(), 2u);
  EXPECT_EQ(result["by_operation"][0]["operation"], "find");
  EXPECT_EQ(result["ops"]["ok"].get<int>(), 2 * result["iterations"]["ok"].get<int>());
  // Twice one operation, for the same samples.
  EXPECT_NEAR(result["response_us"]["mean"].get<double>(),
              2 * result["service_us"]["mean"].get<double>(), 1e-3);
  EXPECT_TRUE(result["by_operation"][1]["keys"]["asked"] == 0);
}

}  // namespace
}  // namespace cavalry::report
