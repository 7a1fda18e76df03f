#include "coordinator/cli/plan_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "coordinator/run/step_shares.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/units.h"

namespace cavalry::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kOrderShown = 12;  // visits of targets listed before "..."

std::string Count(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string OrderName(v1::Order order) {
  switch (order) {
    case v1::ORDER_SAME:
      return "same";
    case v1::ORDER_BLOCKED:
      return "blocked";
    case v1::ORDER_SHUFFLED:
      return "shuffled";
    default:
      return "mirrored";
  }
}

// "sql hs, hs sql, ...": targets in order of visits, rounds set apart, repeats of one left out.
std::string Visits(const std::vector<run::PlannedStep>& steps) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const v1::Step& step = steps[i].step;
    const bool new_round = i > 0 && steps[i - 1].step.round() != step.round();
    if (i > 0 && !new_round && steps[i - 1].step.target() == step.target()) continue;
    if (shown++ == kOrderShown) return text + ", ...";
    text += fmt::format("{}{}", i == 0 ? "" : new_round ? ", " : " ", step.target());
  }
  return text;
}

std::string SessionsText(const std::vector<run::PlannedStep>& steps) {
  std::vector<std::uint32_t> sessions;
  for (const run::PlannedStep& step : steps) sessions.push_back(step.workload.load().sessions());
  std::sort(sessions.begin(), sessions.end());
  sessions.erase(std::unique(sessions.begin(), sessions.end()), sessions.end());
  std::string text;
  for (const std::uint32_t count : sessions) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", count);
  }
  return fmt::format("{} session{}", text, text == "1" ? "" : "s");
}

std::string StopText(const v1::Workload& workload) {
  const v1::StopAfter& stop = workload.load().stop_after();
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " or ") + part; };
  if (stop.has_duration()) add(FormatDuration(static_cast<Nanos>(stop.duration())));
  if (const auto total = run::TotalIterations(workload)) {
    add(FormatCount(*total) + " iterations in all");
  }
  return text;
}

std::string LoadText(const v1::Workload& workload) {
  return fmt::format("warm-up {}, measure {}",
                     FormatDuration(static_cast<Nanos>(workload.load().warmup())),
                     StopText(workload));
}

// What is done before the steps of each condition, and how often a program is run.
std::string ConditionLines(const v1::Workload& workload,
                           const std::vector<run::PlannedStep>& steps) {
  std::string text;
  for (const v1::Condition& condition : workload.conditions()) {
    std::vector<std::string> parts;
    for (const v1::Preparation& preparation : condition.before()) {
      for (const v1::NativeOn& native : preparation.native()) {
        parts.push_back(fmt::format("{} on {}", native.statement(), native.target()));
      }
      for (const v1::Command& command : workload.commands()) {
        if (command.name() != preparation.command()) continue;
        const auto times =
            std::count_if(steps.begin(), steps.end(), [&](const run::PlannedStep& step) {
              return step.step.condition() == condition.name() && step.first_stage;
            });
        parts.push_back(fmt::format("RUNS {} x: {}", times, fmt::join(command.run(), " ")));
      }
    }
    text +=
        PlanLine("before", fmt::format("{}: {}", condition.name(),
                                       parts.empty() ? std::string("nothing")
                                                     : fmt::format("{}", fmt::join(parts, "; "))));
  }
  return text;
}

// Other values of the sweep: "targets.sql.mysql.statements = text, prepared".
std::string SweepText(const v1::Workload& workload) {
  std::string text;
  for (const v1::SweepAxis& axis : workload.sweep()) {
    if (axis.path() == "load.sessions") continue;
    text += fmt::format("{}{} = ", text.empty() ? "" : "; ", axis.path());
    for (int i = 0; i < axis.values_size(); ++i) {
      text += (i == 0 ? "" : ", ") + axis.values(i);
    }
  }
  return text;
}

// What may happen to a table of an owner.
std::string TableText(const v1::Workload& workload, const v1::Table& table,
                      const std::vector<std::string>& allow_destroy) {
  if (table.existing() == v1::EXISTING_USE)
    return "used as it is: never filled, emptied or dropped";
  if (workload.reset() == v1::RESET_NEVER) return "used as it is (reset: never)";
  const bool foreign =
      std::any_of(allow_destroy.begin(), allow_destroy.end(), [&](const std::string& name) {
        return name == table.name() || (name.size() > table.name().size() &&
                                        name.compare(name.size() - table.name().size() - 1,
                                                     std::string::npos, "." + table.name()) == 0);
      });
  std::string text = table.rows() > 0
                         ? fmt::format("created and filled with {} rows unless they are there",
                                       FormatCount(table.rows()))
                         : "created empty unless it is there";
  text += foreign ? "; EMPTIED even if cavalry did not create it (--allow-destroy)"
                  : "; emptied only if cavalry created it";
  if (workload.reset() == v1::RESET_STEP) text += ", before every step";
  if (workload.cleanup() == v1::CLEANUP_DROP) text += "; dropped at the end";
  return text;
}

}  // namespace

std::string PlanLine(const std::string& head, const std::string& text) {
  std::string lines;
  std::string line = fmt::format("  {:<9}", head);
  const std::string margin(line.size(), ' ');
  bool empty = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line = margin;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return lines + line + "\n";
}

std::string RenderPlan(const PreparedRun& prepared, const PlanTextOptions& options) {
  const v1::Workload& workload = prepared.workload;
  const std::vector<run::PlannedStep>& steps = prepared.steps;
  std::set<std::string> targets;
  for (const run::PlannedStep& step : steps) targets.insert(step.step.target());
  const std::size_t rounds = std::max<std::size_t>(workload.rounds(), 1);
  const auto conditions = static_cast<std::size_t>(workload.conditions_size());
  const auto stages = static_cast<std::size_t>(workload.stages_size());
  const std::size_t points =
      steps.size() /
      std::max<std::size_t>(rounds * targets.size() * std::max<std::size_t>(conditions, 1) *
                                std::max<std::size_t>(stages, 1),
                            1);
  const bool counted = std::any_of(steps.begin(), steps.end(), [](const run::PlannedStep& step) {
    return !step.workload.load().stop_after().has_duration();
  });
  std::string text = fmt::format(
      "PLAN {} x {}{}{}{} = {}, {}\n", Count(rounds, "round"), Count(targets.size(), "target"),
      points > 1 ? " x " + Count(points, "load point") : "",
      conditions > 0 ? " x " + Count(conditions, "condition") : "",
      stages > 0 ? " x " + Count(stages, "stage") : "", Count(steps.size(), "step"),
      counted ? "for as long as their counts take"
              : "about " + FormatDurationWords(prepared.expected / kSecond * kSecond));
  text += PlanLine("order", fmt::format("{} ({}), seed {}", Visits(steps),
                                        OrderName(workload.order()), workload.seed()));
  if (stages == 0) text += PlanLine("load", SessionsText(steps) + "; " + LoadText(workload));
  for (int i = 0; i < workload.stages_size(); ++i) {
    const v1::Workload stage = spec::StageWorkload(workload, i);
    text += PlanLine("stage", fmt::format("{}: {} sessions; {}", workload.stages(i).name(),
                                          stage.load().sessions(), LoadText(stage)));
  }
  text += ConditionLines(workload, steps);
  if (const std::string sweep = SweepText(workload); !sweep.empty())
    text += PlanLine("sweep", sweep);
  std::map<std::string, std::string> owners;  // owner -> other targets that use its tables
  for (const v1::Target& target : workload.targets()) {
    if (!spec::IsLoaded(target)) continue;
    std::string& users = owners[spec::OwnerOf(target)];
    if (spec::OwnerOf(target) != target.name())
      users += (users.empty() ? "" : ", ") + target.name();
  }
  for (const auto& [owner, users] : owners) {
    for (const v1::Table& table : workload.tables()) {
      const std::string also = users.empty() ? "" : fmt::format(" (also {})", users);
      text += PlanLine("table", fmt::format("{} on {}{}: {}", table.name(), owner, also,
                                            TableText(workload, table, options.allow_destroy)));
    }
  }
  const bool audits = workload.audit().enabled() && spec::ScriptWrites(workload);
  if (audits) text += PlanLine("audit", "every acknowledged write is read back after each step");
  if (!options.agents.empty()) text += PlanLine("agents", options.agents);
  return text;
}

}  // namespace cavalry::cli
