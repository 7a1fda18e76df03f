#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/report/load_point.h"
#include "coordinator/report/published.h"
#include "coordinator/report/report.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/report/text_sections.h"
#include "core/base/units.h"

namespace cavalry::report {
namespace {

std::string Plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : "s");
}

// "sql hs, hs sql": the targets of each round in the order of their first steps.
std::string OrderOfRounds(const v1::RunStarted& run) {
  constexpr std::size_t kShown = 4;
  std::map<std::uint32_t, std::vector<std::string>> rounds;
  for (const v1::Step& step : run.steps()) {
    std::vector<std::string>& targets = rounds[step.round()];
    if (std::find(targets.begin(), targets.end(), step.target()) == targets.end()) {
      targets.push_back(step.target());
    }
  }
  std::vector<std::string> texts;
  for (const auto& [round, targets] : rounds) {
    if (texts.size() == kShown) {
      texts.emplace_back("...");
      break;
    }
    texts.push_back(fmt::format("{}", fmt::join(targets, " ")));
  }
  return fmt::format("{}: {}", Plural(rounds.size(), "round"), fmt::join(texts, ", "));
}

std::string AgentsPhrase(const std::vector<AgentView>& agents) {
  constexpr std::size_t kShown = 4;
  std::map<std::string, std::uint32_t> cores;  // by host
  const auto alive = std::count_if(agents.begin(), agents.end(),
                                   [](const AgentView& agent) { return !agent.lost; });
  for (const AgentView& agent : agents) {
    cores[agent.host] = std::max(cores[agent.host], agent.cores);
  }
  std::vector<std::string> hosts;
  for (const auto& [host, count] : cores) {
    if (hosts.size() == kShown) {
      hosts.push_back(fmt::format("{} more hosts", cores.size() - kShown));
      break;
    }
    hosts.push_back(fmt::format("{}, {}", host, Plural(count, "core")));
  }
  return fmt::format("agents {} of {} ({})", alive, agents.size(), fmt::join(hosts, "; "));
}

std::string Headline(const Report& report) {
  const v1::RunStarted& run = report.run->run();
  const v1::Workload& workload = run.workload();
  const std::string time =
      FormatDurationWords(static_cast<Nanos>(report.duration_s * static_cast<double>(kSecond)));
  std::string status(RunStatusName(report.status));
  std::transform(status.begin(), status.end(), status.begin(),
                 [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  std::vector<std::string> parts = {
      report.status == RunStatus::kComplete
          ? fmt::format("{} in {}", status, time)
          : Printable(fmt::format("{} after {}: {}", status, time, report.exit_reason), 500)};
  if (!report.run->agents().empty()) parts.push_back(AgentsPhrase(report.run->agents()));
  parts.push_back(OrderOfRounds(run));
  parts.push_back(fmt::format("seed {}", workload.has_seed() ? workload.seed() : 42));
  std::string text =
      fmt::format("cavalry {} - {}\n", run.version(), Printable(workload.name(), 200));
  std::string line;
  for (const std::string& part : parts) {
    const std::string longer = line.empty() ? part : fmt::format("{} - {}", line, part);
    if (line.empty() || longer.size() <= kTextWidth) {
      line = longer;
      continue;
    }
    text += Folded("", 2, line);
    line = part;
  }
  return text + Folded("", 2, line);
}

std::string ResultLines(const Report& report) {
  std::string text;
  std::size_t width = 0;
  for (const Result& point : report.summary) {
    width = std::max(width, LoadPointLabel(point.step).size());
  }
  const auto add = [&](const v1::Step& step, const std::string& sentence) {
    text += LabelledLine(text.empty() ? "RESULT" : "",
                         fmt::format("{:<{}}  {}", LoadPointLabel(step), width, sentence));
  };
  for (const Comparison& comparison : report.comparison) add(comparison.step, comparison.verdict);
  if (!report.comparison.empty()) return text;
  const std::string unit = UnitName(report.run->run().workload());
  for (const Result& point : report.summary) {
    const auto response = stats::Summarize(point.totals->Response());
    const std::string latency =
        response ? fmt::format(", p50 {} us, p99 {} us", FormatFigure(response->p50),
                               FormatFigure(response->p99))
                 : std::string();
    const std::string rate = point.ops_per_s
                                 ? fmt::format("{} {}/s", FormatFigure(*point.ops_per_s), unit)
                                 : std::string("nothing was measured");
    add(point.step, fmt::format("{}: {}{}", point.step.target(), rate, latency));
  }
  return text;
}

// One sentence on what went wrong in the measured operations, or that nothing did.
std::string AllWell(const Report& report) {
  std::uint64_t failed = 0;
  std::uint64_t missed = 0;
  double busy = 0;
  bool limited = false;
  for (const Result& point : report.summary) {
    const stats::OperationCounters ops = point.totals->TotalOperations();
    failed += ops.failed();
    missed += ops[Outcome::kMiss];
    busy = std::max(busy, point.busy.value_or(0));
    limited = limited || point.generator_limited;
  }
  const std::string failures =
      failed == 0 ? "Nothing failed" : fmt::format("{} failed", Plural(failed, "operation"));
  const std::string misses =
      missed == 0 ? "no row was missing" : fmt::format("{} found no row", FormatCount(missed));
  return LabelledLine(
      "", fmt::format("{}, {}; the generator was {}the limit (workers busy {:.0f} % at most).",
                      failures, misses, limited ? "" : "not ", busy * 100));
}

std::string Cautions(const Report& report) {
  std::string text;
  for (const std::string& warning : report.warnings) {
    text += LabelledLine(text.empty() ? "CAUTION" : "", Printable(warning, 1000));
  }
  return text;
}

std::string ThresholdLines(const Report& report) {
  std::string text;
  std::string last;
  for (const ThresholdResult& result : report.thresholds) {
    if (result.expression == last) continue;  // the worst comes first
    last = result.expression;
    const std::string where =
        result.target.empty() ? std::string() : fmt::format(" ({})", StepLabel(result.step));
    text += LabelledLine(text.empty() ? "checks" : "",
                         fmt::format("{:<6}  {}: {}{}", result.passed ? "ok" : "FAILED",
                                     result.expression, result.shown, where));
  }
  return text;
}

std::string LastLine(const Report& report, const std::string& directory) {
  std::string text;
  if (!directory.empty()) {
    text += LabelledLine("files",
                         fmt::format("{}/ report.txt report.json spec.yaml journal", directory));
  }
  // A report without results is so short that its second line, which says why, is still in sight.
  const bool told = report.summary.empty() && report.status != RunStatus::kComplete;
  const std::string reason =
      report.exit_reason.empty() || told ? std::string() : fmt::format(": {}", report.exit_reason);
  return text + LabelledLine(
                    "exit", fmt::format("status {}{}", report.exit_status, Printable(reason, 500)));
}

}  // namespace

std::string RenderText(const Report& report, const std::string& directory) {
  if (report.run == nullptr || !report.run->started()) return "cavalry: no run\n";
  std::string text = Headline(report) + "\n";
  if (report.summary.empty()) {
    // Nothing was measured: no figures, nothing to check.
    return text + Cautions(report) + ServerLines(report) + LastLine(report, directory);
  }
  text += PublishedText(report) + ResultLines(report) + AllWell(report) + Cautions(report) + "\n";
  text += SummaryTable(report) + "\n" + OperationTable(report) + NodeTable(report);
  text += OutcomeLines(report) + ErrorLines(report) + AuditLines(report) + DiskLines(report) +
          CacheLines(report) + ConnectLines(report) + EqualLines(report) + ClientLines(report) +
          AgentLines(report) + ServerLines(report) + ThresholdLines(report) +
          LastLine(report, directory);
  return text;
}

}  // namespace cavalry::report
