#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coordinator/report/report.h"
#include "core/base/units.h"
#include "tests/unit/coordinator/report/run_builder.h"

namespace cavalry::report {
namespace {

struct Rendered {
  std::string text;
  nlohmann::json json;
};

Rendered Render(RunBuilder& builder) {
  const Aggregator run = ApplyAll(builder.entries());
  const Report report = MakeReport(run);
  return {RenderText(report, "results/x"), nlohmann::json::parse(RenderJson(report))};
}

Rendered Render(const StepShape& shape, RunOptions options = {}) {
  RunBuilder builder(std::move(options));
  builder.Start();
  builder.AddAllSteps(shape);
  builder.End();
  return Render(builder);
}

bool Has(const Rendered& rendered, const std::string& part) {
  return rendered.text.find(part) != std::string::npos;
}

TEST(ReportText, AgreesWithTheJson) {
  const Rendered rendered = Render(StepShape{.miss = 1, .rejected = 1});
  for (const auto& point : rendered.json["summary"]) {
    EXPECT_TRUE(Has(rendered, FormatFigure(point["ops_per_s"]))) << point["ops_per_s"];
    for (const char* name : {"mean", "p50", "p95", "p99", "p99_9", "max"}) {
      EXPECT_TRUE(Has(rendered, FormatFigure(point["response_us"][name]))) << name;
    }
  }
  std::uint64_t attempted = 0;
  for (const auto& result : rendered.json["results"]) {
    attempted += result["ops"]["attempted"].get<std::uint64_t>();
  }
  EXPECT_TRUE(Has(rendered, "attempted " + FormatCount(attempted) + " = ok "));
  for (const auto& comparison : rendered.json["comparison"]) {
    EXPECT_TRUE(Has(rendered, comparison["verdict"].get<std::string>().substr(0, 30)));
  }
}

TEST(ReportText, IsAtMostAHundredWide) {
  const Rendered rendered = Render(StepShape{.miss = 3, .rejected = 7, .never_connected = 2},
                                   RunOptions{.two_operations = true});
  std::size_t start = 0;
  while (start < rendered.text.size()) {
    const std::size_t end = rendered.text.find('\n', start);
    EXPECT_LE(end - start, 100u) << rendered.text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(ReportText, SaysWhenNothingWentWrong) {
  const Rendered rendered = Render(StepShape{});
  EXPECT_TRUE(Has(rendered, "COMPLETE in 80 s - agents 2 of 2"));
  EXPECT_TRUE(Has(rendered, "2 rounds: sql hs, hs sql"));
  EXPECT_TRUE(Has(rendered, "Nothing failed, no row was missing; the generator was not the limit"));
  EXPECT_TRUE(Has(rendered, "the other 8 classes are 0"));
  EXPECT_TRUE(Has(rendered, "status 0"));
}

TEST(ReportText, ARunThatCouldNotBeDoneSaysWhyOnceAndNoFigures) {
  RunBuilder builder;
  builder.Start();
  builder.End(v1::RUN_END_FAILED, Unavailable("sql: nobody answers at db1:3306"));
  const Rendered rendered = Render(builder);
  EXPECT_TRUE(Has(rendered, "FAILED after 80 s: sql: nobody answers at db1:3306"));
  EXPECT_TRUE(Has(rendered, "exit     status 1\n")) << rendered.text;
  for (const char* noise : {"attempted", "no samples", "never reported", "\n\n\n"}) {
    EXPECT_FALSE(Has(rendered, noise)) << noise << "\n" << rendered.text;
  }
}

TEST(ReportText, HasDashesWithoutSamples) {
  const Rendered rendered = Render(StepShape{.ok = 0, .rejected = 4});
  EXPECT_TRUE(Has(rendered, "  -  "));
  EXPECT_FALSE(Has(rendered, "nan"));
  EXPECT_TRUE(Has(rendered, "1213 (rejected): Deadlock found"));
  EXPECT_TRUE(Has(rendered, "FAILED  failed < 1%: 100 %"));
}

TEST(ReportText, NamesALostAgentInItsSecondLine) {
  RunBuilder builder(RunOptions{.sessions = {16}});
  builder.Start();
  builder.AddStep(StepShape{.lose = "gen2"});
  builder.AddAllSteps();
  builder.End(v1::RUN_END_PARTIAL);
  const Rendered rendered = Render(builder);
  EXPECT_TRUE(Has(rendered, "PARTIAL after 80 s: agent gen2 was lost: its stream ended"));
  EXPECT_TRUE(Has(rendered, "agents 1 of 2"));
  EXPECT_TRUE(Has(rendered, " + abandoned 1"));
}

TEST(ReportText, ListsOperationsOfAScript) {
  const Rendered rendered = Render(StepShape{}, RunOptions{.two_operations = true});
  EXPECT_TRUE(Has(rendered, "checkout/s"));
  EXPECT_TRUE(Has(rendered, "service time by"));
}

TEST(ReportText, HoldsNoControlCharactersOfServers) {
  RunBuilder builder(RunOptions{.targets = {"sql"}, .sessions = {1}, .rounds = 1});
  builder.Start();
  v1::JournalEntry warning;
  warning.mutable_warning()->set_text("odd \x1b[31m text\nnext");
  builder.Add(warning);
  builder.AddStep();
  builder.End();
  EXPECT_FALSE(Has(Render(builder), "\x1b"));
}

}  // namespace
}  // namespace cavalry::report
