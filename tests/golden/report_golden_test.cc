// Text and JSON of fixed runs. The JSON files it writes are checked against the schema by
// check_reports.py, which runs after it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "coordinator/report/report.h"
#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

std::string Content(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

Report Save(const std::string& name, const Aggregator& run) {
  Report report = MakeReport(run);
  const std::string directory = CAVALRY_BINARY_DIR "/golden_reports";
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/" + name + ".json") << RenderJson(report);
  std::ofstream(directory + "/" + name + ".txt") << RenderText(report, "");
  return report;
}

void AddServers(RunBuilder* builder) {
  const auto add = [builder](const char* target,
                             std::vector<std::pair<const char*, const char*>> list) {
    v1::JournalEntry entry;
    entry.mutable_server_info()->set_target(target);
    for (const auto& [name, value] : list) {
      v1::NameValue* variable = entry.mutable_server_info()->add_variables();
      variable->set_name(name);
      variable->set_value(value);
    }
    builder->Add(entry);
  };
  add("sql", {{"version", "10.11.6-MariaDB"}, {"innodb_flush_log_at_trx_commit", "1"}});
  add("hs", {{"handlersocket_threads", "2"}, {"handlersocket_accept_balance", "1"}});
}

TEST(ReportGolden, TextOfACompleteRun) {
  RunBuilder builder(
      RunOptions{.sessions = {1, 16, 64}, .thresholds = {"p99(find) < 5ms", "failed < 1%"}});
  builder.Start();
  AddServers(&builder);
  builder.AddAllSteps(StepShape{.seconds = 5, .ok = 4000, .latency = 117 * kMicrosecond});
  builder.End();
  const Aggregator run = ApplyAll(builder.entries());
  const std::string text =
      RenderText(Save("complete", run), "results/20261130-212743-customer-by-key");
  const std::string path = CAVALRY_SOURCE_DIR "/tests/golden/report.txt";
  if (std::getenv("CAVALRY_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, Content(path));
}

TEST(ReportGolden, Partial) {
  v1::AuditResult audit;
  audit.set_acknowledged(500);
  audit.set_lost(1);
  audit.add_samples("lost stock 17");
  RunBuilder builder(RunOptions{.sessions = {16}, .writes = true, .thresholds = {"lost == 0"}});
  builder.Start();
  builder.AddStep(
      StepShape{.seconds = 3, .rejected = 2, .in_flight = 7, .lose = "gen2", .audit = audit});
  builder.AddAllSteps(StepShape{
      .miss = 4, .wrong_answers = 1, .limited = true, .never_connected = 2, .audit = audit});
  builder.End(v1::RUN_END_PARTIAL);
  const Aggregator run = ApplyAll(builder.entries());
  EXPECT_EQ(Save("partial", run).exit_status, 4);
}

TEST(ReportGolden, Interrupted) {
  RunBuilder builder(RunOptions{.two_operations = true});
  builder.Start();
  builder.AddStep();
  builder.AddStep(StepShape{.seconds = 1, .end_as = v1::STEP_END_INTERRUPTED});
  builder.End(v1::RUN_END_INTERRUPTED);
  const Aggregator run = ApplyAll(builder.entries());
  EXPECT_EQ(Save("interrupted", run).exit_status, 130);
}

TEST(ReportGolden, NothingOk) {
  RunBuilder builder(RunOptions{.thresholds = {"p99 < 5ms", "failed < 1%", "reached >= 99%"}});
  builder.Start();
  builder.AddAllSteps(StepShape{.ok = 0, .rejected = 20});
  builder.End();
  const Aggregator run = ApplyAll(builder.entries());
  EXPECT_EQ(Save("nothing_ok", run).exit_status, 4);
}

TEST(ReportGolden, OnlyMisses) {
  RunBuilder builder(RunOptions{.targets = {"sql"}});
  builder.Start();
  builder.AddAllSteps(StepShape{.ok = 0, .miss = 20});
  builder.End();
  const Aggregator run = ApplyAll(builder.entries());
  EXPECT_EQ(Save("only_misses", run).exit_status, 4);
}

TEST(ReportGolden, FailedBeforeAnyLoad) {
  RunBuilder builder;
  builder.Start();
  builder.AddStep(StepShape{.seconds = 0, .warmup_seconds = 0, .end_as = v1::STEP_END_FAILED});
  builder.End(v1::RUN_END_FAILED, FailedPrecondition("sql: access denied for user bench"));
  const Aggregator run = ApplyAll(builder.entries());
  EXPECT_EQ(Save("failed", run).exit_status, 1);
}

TEST(ReportGolden, CrashedCoordinator) {
  RunBuilder builder;
  builder.Start();
  builder.AddStep();
  builder.AddStep(StepShape{.seconds = 2, .end = false});
  Aggregator run = ApplyAll(builder.entries());
  run.CloseOpenStep("its journal ends here");
  EXPECT_EQ(Save("crashed", run).exit_status, 4);
}

}  // namespace
}  // namespace cavalry::report
