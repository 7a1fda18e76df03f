#include "coordinator/cli/report_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "coordinator/report/rebuild.h"
#include "coordinator/report/report.h"
#include "coordinator/run/journal.h"
#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

class ReportCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    base_ = testing::TempDir() + "/command_" + info->name() + "_" + std::to_string(getpid());
    run_ = base_ + "/20261130-212743-x";
    std::filesystem::create_directories(run_);
  }
  void TearDown() override { std::filesystem::remove_all(base_); }

  void WriteJournal(const std::vector<v1::JournalEntry>& entries) const {
    auto journal = run::Journal::Create(run_ + "/journal");
    ASSERT_TRUE(journal.ok());
    for (const auto& entry : entries) ASSERT_TRUE(journal->Append(entry).ok());
  }

  static std::vector<v1::JournalEntry> WholeRun() {
    RunBuilder builder;
    builder.Start();
    builder.AddAllSteps(StepShape{.miss = 1, .rejected = 1});
    builder.End();
    return builder.entries();
  }

  // Exit status, and what went to stdout and stderr.
  struct Output {
    int status;
    std::string out, err;
  };
  static Output Run(const cli::ReportOptions& options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = cli::ReportCommand(options);
    Output output{status, testing::internal::GetCapturedStdout(), ""};
    output.err = testing::internal::GetCapturedStderr();
    return output;
  }

  std::string base_;
  std::string run_;
};

TEST_F(ReportCommandTest, TheRebuiltReportEqualsTheLiveOne) {
  const auto entries = WholeRun();
  WriteJournal(entries);
  const Aggregator live = ApplyAll(entries);
  const auto rebuilt = RebuildRun(run_ + "/journal");
  ASSERT_TRUE(rebuilt.ok()) << StatusText(rebuilt.status());
  const Report one = MakeReport(live);
  const Report two = MakeReport(**rebuilt);
  EXPECT_EQ(RenderJson(one), RenderJson(two));
  EXPECT_EQ(RenderText(one, run_), RenderText(two, run_));
  const Output text = Run({.directory = run_});
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.out, RenderText(one, run_));
  const Output json = Run({.results = base_, .format = "json"});
  EXPECT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(json.out, RenderJson(one));
}

TEST_F(ReportCommandTest, AJournalThatEndsAnywhereGivesAReport) {
  const auto entries = WholeRun();
  WriteJournal(entries);
  const std::string path = run_ + "/journal";
  const auto size = std::filesystem::file_size(path);
  for (auto cut = size - 1; cut > size / 2; cut -= size / 97) {
    std::filesystem::resize_file(path, cut);
    const auto run = RebuildRun(path);
    ASSERT_TRUE(run.ok()) << StatusText(run.status());
    const Report report = MakeReport(**run);
    EXPECT_EQ(report.status, RunStatus::kPartial);
    EXPECT_EQ(report.exit_status, 4);
    for (const Result& result : report.results) {
      EXPECT_TRUE(result.totals->TotalOperations().balanced());
    }
    EXPECT_FALSE(RenderText(report, "").empty());
  }
}

TEST_F(ReportCommandTest, ATornTailIsAWarning) {
  WriteJournal(WholeRun());
  std::filesystem::resize_file(run_ + "/journal",
                               std::filesystem::file_size(run_ + "/journal") - 3);
  const Output output = Run({.directory = run_});
  EXPECT_EQ(output.status, 0);
  EXPECT_NE(output.out.find("last record of the journal is incomplete"), std::string::npos);
}

TEST_F(ReportCommandTest, WhatCannotBeReadIsNamed) {
  const Output none = Run({.directory = base_ + "/none"});
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find(base_ + "/none"), std::string::npos);
  const Output no_journal = Run({.directory = run_});
  EXPECT_EQ(no_journal.status, 1);
  EXPECT_NE(no_journal.err.find("journal"), std::string::npos);
  const Output no_run = Run({.results = base_});
  EXPECT_EQ(no_run.status, 1);
  EXPECT_NE(no_run.err.find("no run in it"), std::string::npos);
  WriteJournal({});
  EXPECT_EQ(Run({.directory = run_}).status, 1);
  EXPECT_EQ(Run({.directory = run_ + "/journal"}).status, 1);
}

TEST_F(ReportCommandTest, AnUnknownFormatIsWrongUse) {
  const Output output = Run({.directory = run_, .format = "html"});
  EXPECT_EQ(output.status, 2);
  EXPECT_NE(output.err.find("text and json"), std::string::npos);
}

TEST_F(ReportCommandTest, WhatTheLiveRunRefusedIsRefusedAgain) {
  auto entries = WholeRun();
  for (auto& entry : entries) {
    if (entry.has_step_report()) {
      entry.mutable_step_report()->mutable_report()->mutable_totals()->set_reconnects(5);
      break;
    }
  }
  WriteJournal(entries);
  const auto run = RebuildRun(run_ + "/journal");
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE((*run)->steps()[0].faulty_agent);
  EXPECT_EQ(MakeReport(**run).exit_status, 4);
}

}  // namespace
}  // namespace cavalry::report
