#include "coordinator/run/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"

namespace cavalry::run {
namespace {

// A spec of `targets` targets a, b, c, ... and what is given.
spec::SpecDocument Document(int targets, std::string_view rest) {
  std::string text = "targets:\n";
  for (int i = 0; i < targets; ++i) {
    const char name = static_cast<char>('a' + i);
    text += fmt::format("  {0}: {{ mysql: {{ database: {0} }} }}\n", name);
  }
  text +=
      "tables: { t: { rows: 9, primary_key: id, columns: { id: { type: int } } } }\n"
      "operations: { find: read }\n";
  text += rest;
  StatusOr<spec::SpecDocument> document = spec::ParseSpec(text, "t.yaml");
  EXPECT_TRUE(document.ok()) << StatusText(document.status());
  EXPECT_EQ(StatusText(spec::CheckSpec(*document)), "");
  return *std::move(document);
}

std::vector<PlannedStep> Schedule(int targets, std::string_view rest) {
  StatusOr<std::vector<PlannedStep>> steps = MakeSchedule(Document(targets, rest));
  EXPECT_TRUE(steps.ok()) << StatusText(steps.status());
  return *std::move(steps);
}

// "a1 b1 | b2 a2": targets with their sessions, rounds apart.
std::string Outline(const std::vector<PlannedStep>& steps) {
  std::string text;
  std::uint32_t round = 1;
  for (const PlannedStep& planned : steps) {
    if (!text.empty()) text += planned.step.round() == round ? " " : " | ";
    round = planned.step.round();
    text += fmt::format("{}{}", planned.step.target(), planned.step.sessions());
  }
  return text;
}

TEST(Schedule, MirrorsTargetsInEvenRounds) {
  EXPECT_EQ(Outline(Schedule(3, "rounds: 3\n")), "a1 b1 c1 | c1 b1 a1 | a1 b1 c1");
}

TEST(Schedule, SameKeepsTheOrder) {
  EXPECT_EQ(Outline(Schedule(2, "rounds: 2\norder: same\nsweep: { load.sessions: [1, 16] }\n")),
            "a1 b1 a16 b16 | a1 b1 a16 b16");
}

TEST(Schedule, BlockedDoesAllRoundsOfATarget) {
  EXPECT_EQ(Outline(Schedule(2, "rounds: 2\norder: blocked\nsweep: { load.sessions: [1, 16] }\n")),
            "a1 a16 | a1 a16 | b1 b16 | b1 b16");
}

TEST(Schedule, DefaultRounds) {
  EXPECT_EQ(Outline(Schedule(1, "")), "a1");
  EXPECT_EQ(Outline(Schedule(2, "")), "a1 b1 | b1 a1");
}

TEST(Schedule, ATargetThatIsNotLoadedHasNoSteps) {
  for (const char* order : {"mirrored", "same", "blocked", "shuffled"}) {
    spec::SpecDocument document = Document(2, fmt::format("rounds: 2\norder: {}\n", order));
    document.workload.mutable_targets(0)->set_load(false);
    EXPECT_EQ(Outline(*MakeSchedule(document)), "b1 | b1") << order;
  }
}

TEST(Schedule, MirroredShufflesLoadPointsTogether) {
  const std::vector<PlannedStep> steps =
      Schedule(2, "rounds: 8\nsweep: { load.sessions: [1, 2, 3, 4, 5] }\n");
  std::set<std::string> orders;
  for (std::uint32_t round = 1; round <= 8; ++round) {
    std::string order;
    for (const PlannedStep& planned : steps) {
      if (planned.step.round() != round) continue;
      order += fmt::format("{} ", planned.step.sessions());
    }
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 4u) << "each round has an order of its own";
  // The two targets of a load point follow each other.
  for (std::size_t i = 0; i < steps.size(); i += 2) {
    EXPECT_EQ(steps[i].step.sessions(), steps[i + 1].step.sessions());
    EXPECT_NE(steps[i].step.target(), steps[i + 1].step.target());
  }
}

TEST(Schedule, EveryVisitIsThereOnce) {
  for (const char* order : {"mirrored", "same", "blocked", "shuffled"}) {
    for (int targets = 1; targets <= 5; ++targets) {
      const std::vector<PlannedStep> steps = Schedule(
          targets, fmt::format("rounds: 3\norder: {}\nsweep: {{ load.sessions: [1, 16, 64], "
                               "operations.find.read.keys: [uniform, {{ zipf: 0.9 }}] }}\n",
                               order));
      std::set<std::tuple<std::uint32_t, std::string, std::string>> visits;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const v1::Step& step = steps[i].step;
        EXPECT_EQ(step.id(), i + 1);
        std::string point;
        for (const v1::NameValue& set : step.set()) point += set.name() + "=" + set.value() + " ";
        EXPECT_TRUE(visits.emplace(step.round(), step.target(), point).second) << order;
      }
      EXPECT_EQ(visits.size(), static_cast<std::size_t>(3 * targets * 6)) << order;
    }
  }
}

TEST(Schedule, FollowsTheSeed) {
  const char* const kShuffled = "rounds: 2\norder: shuffled\nsweep: { load.sessions: [1, 2, 3] }\n";
  const std::string first = Outline(Schedule(3, kShuffled));
  EXPECT_EQ(first, Outline(Schedule(3, kShuffled)));
  EXPECT_NE(first, Outline(Schedule(3, std::string(kShuffled) + "seed: 43\n")));
}

TEST(Schedule, StepsCarryTheirOwnWorkload) {
  const std::vector<PlannedStep> steps = Schedule(
      1,
      "order: same\nsweep: { load.sessions: [1, 16], targets.a.mysql.statements: [text, prepared] "
      "}\n");
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[1].step.set(0).name(), "load.sessions");
  EXPECT_EQ(steps[1].step.set(0).value(), "1");
  EXPECT_EQ(steps[1].step.set(1).value(), "prepared");
  EXPECT_EQ(steps[1].workload.targets(0).mysql().statements(), v1::STATEMENTS_PREPARED);
  EXPECT_EQ(steps[2].workload.load().sessions(), 16u);
  EXPECT_EQ(steps[2].step.sessions(), 16u);
  EXPECT_EQ(steps[2].step.driver(), "mysql");
  EXPECT_EQ(steps[2].step.stage(), "measure");
  EXPECT_EQ(steps[2].workload.script().name(), "find") << "defaults are filled in";
}

TEST(Schedule, ExpectedLoadTime) {
  const auto expected = [](std::string_view load) {
    return ExpectedLoadTime(Schedule(1, load)[0].workload);
  };
  EXPECT_EQ(expected(""), 35 * kSecond);
  EXPECT_EQ(expected("load: { warmup: 1s, stop_after: { duration: 5s } }\n"), 6 * kSecond);
  EXPECT_EQ(expected("load: { stop_after: { iterations: 5 } }\n"), 0);
}

// "cold:a cold:b": conditions, targets and stages in order.
std::string Course(const std::vector<PlannedStep>& steps) {
  std::string text;
  for (const PlannedStep& planned : steps) {
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : " ", planned.step.condition(),
                        planned.step.target(), planned.step.stage());
  }
  return text;
}

constexpr char kColdAndWarm[] =
    "conditions:\n"
    "  cold: { before: [restart], warmup: 0s, stop_after: { passes: 1 } }\n"
    "  warm: { before: [{ native: { a: SELECT 1 } }] }\n"
    "commands: { restart: { run: [true] } }\n";

TEST(Schedule, ConditionsAreAnAxisInsideARound) {
  const auto steps = Schedule(2, std::string("rounds: 2\nload: { warmup: 3s }\n") + kColdAndWarm);
  EXPECT_EQ(Course(steps),
            "cold:a:measure cold:b:measure warm:a:measure warm:b:measure "
            "cold:b:measure cold:a:measure warm:b:measure warm:a:measure");
  const v1::Load& cold = steps[0].workload.load();
  EXPECT_EQ(cold.warmup(), 0U);
  EXPECT_EQ(cold.stop_after().passes(), 1U);
  EXPECT_FALSE(cold.stop_after().has_duration()) << "stop_after is taken as a whole";
  EXPECT_EQ(steps[2].workload.load().warmup(), std::uint64_t{3 * kSecond});
  EXPECT_TRUE(steps[2].workload.load().stop_after().has_duration());
  ASSERT_EQ(steps[0].before.size(), 1U);
  EXPECT_EQ(steps[0].before[0].command(), "restart");
  EXPECT_EQ(steps[2].before[0].native(0).statement(), "SELECT 1");
}

TEST(Schedule, StagesAreStepsOfOneVisit) {
  const auto steps = Schedule(
      2,
      std::string(
          "rounds: 1\nload: { sessions: 4, warmup: 0s }\n"
          "stages:\n"
          "  first: { script: [find], load: { stop_after: { iterations: 7 } } }\n"
          "  then: { script: { name: thrice, steps: [{ find: 3 }] }, load: { sessions: 2 } }\n") +
          kColdAndWarm);
  EXPECT_EQ(Course(steps),
            "cold:a:first cold:a:then cold:b:first cold:b:then "
            "warm:a:first warm:a:then warm:b:first warm:b:then");
  EXPECT_TRUE(steps[0].first_stage);
  EXPECT_FALSE(steps[1].first_stage);
  EXPECT_EQ(steps[0].before.size(), 1U);
  EXPECT_TRUE(steps[1].before.empty()) << "before the first stage only";
  EXPECT_EQ(steps[4].workload.load().stop_after().iterations(), 7U);
  EXPECT_EQ(steps[5].workload.script().steps(0).repeat(), 3U);
  EXPECT_EQ(steps[5].step.sessions(), 2U);
  EXPECT_TRUE(steps[5].workload.stages().empty());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].step.id(), i + 1);
}

}  // namespace
}  // namespace cavalry::run
