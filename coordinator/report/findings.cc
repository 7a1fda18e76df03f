#include "coordinator/report/findings.h"

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/report/load_point.h"
#include "core/base/units.h"

namespace cavalry::report {
namespace {

constexpr double kDrainShare = 0.02;
constexpr double kMissShare = 0.01;
// Against steps of seconds, a start spread of this size is in the figures of the first second.
// A worker is the limit beyond either (design: generator_limited).
constexpr double kBusyBound = 0.9;
constexpr double kWaitBound = 0.1;
constexpr Nanos kStartSpread = 50 * kMillisecond;
// A load this slow may well have whole seconds without an answer.
constexpr double kFewPerSecond = 10;
constexpr double kRounding = 1e-6;  // of differences of times in seconds
// No busy host makes a timer as late as this; a stopped process or a paused machine does.
constexpr Nanos kStoodStill = 500 * kMillisecond;

std::uint64_t Attempted(const Result& result) { return result.totals->TotalOperations().attempted; }

std::uint64_t Count(const Result& result, Outcome outcome) {
  return result.totals->TotalOperations()[outcome];
}

std::string Percent(double share) { return fmt::format("{:.3g} %", share * 100); }

// "sql, 16 sessions; hs, 16 sessions" of the summaries that satisfy a predicate; "" if none.
template <typename Predicate>
std::string Where(const std::vector<Result>& summary, Predicate predicate) {
  std::string text;
  for (const Result& point : summary) {
    if (!predicate(point)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", StepLabel(point.step));
  }
  return text;
}

void FromJournal(const Aggregator& run, std::vector<Finding>* findings) {
  // The same sentence of several steps is one line.
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::uint64_t, bool>> texts;
  const auto add = [&](const std::string& text, bool generator) {
    const auto [entry, fresh] = texts.try_emplace(text, 0, false);
    if (fresh) order.push_back(text);
    ++entry->second.first;
    entry->second.second = entry->second.second || generator;
  };
  for (const v1::Warning& warning : run.warnings()) add(warning.text(), warning.generator());
  for (const StepView& step : run.steps()) {
    for (const std::string& warning : step.warnings) add(warning, false);
  }
  for (const std::string& text : order) {
    const auto& [count, generator] = texts.at(text);
    findings->push_back({count > 1 ? fmt::format("{} ({} times)", text, count) : text, generator});
  }
}

void AboutEnd(const Aggregator& run, std::vector<Finding>* findings) {
  if (!run.ended()) {
    findings->push_back(
        {"The coordinator did not end this run: what its journal holds up to there "
         "is reported."});
  }
  for (const AgentView& agent : run.agents()) {
    if (!agent.lost) continue;
    const std::string when = agent.lost_in_step == 0
                                 ? std::string("between steps")
                                 : fmt::format("in step {}", agent.lost_in_step);
    findings->push_back(
        {fmt::format("Agent {} was lost {}: {}. What it had in flight counts as "
                     "abandoned.",
                     agent.name, when, agent.lost_reason)});
  }
  for (const StepView& step : run.steps()) {
    const bool said = step.end_text.empty() || step.complete();
    if (!said) {
      findings->push_back(
          {fmt::format("Step {} ({}): {}", step.step.id(), StepLabel(step.step), step.end_text)});
    }
  }
}

void AboutSessions(const Report& report, std::vector<Finding>* findings) {
  for (const Result& point : report.summary) {
    if (point.sessions_never_connected == 0) continue;
    const std::uint64_t asked = std::uint64_t{point.step.sessions()} * point.rounds;
    findings->push_back({fmt::format(
        "{}: {} of {} sessions never connected{}; the figures are those of the rest. The errors "
        "say "
        "why; on the server look at its limit of connections.",
        StepLabel(point.step), FormatCount(point.sessions_never_connected), FormatCount(asked),
        point.rounds > 1 ? fmt::format(" (over {} rounds)", point.rounds) : std::string())});
  }
  std::map<std::string, std::set<std::string>> idle;  // agent -> load points
  for (const StepView& step : report.run->steps()) {
    for (const AgentStepView& part : step.agents) {
      if (part.sessions == 0) idle[part.agent].insert(LoadPointLabel(step.step));
    }
  }
  for (const auto& [agent, points] : idle) {
    findings->push_back({fmt::format("Agent {} was idle (no session for it) at {}.", agent,
                                     fmt::join(points, "; "))});
  }
  std::uint32_t most = 0;
  for (const Result& point : report.summary) most = std::max(most, point.step.sessions());
  if (most == 1) {
    findings->push_back(
        {"One session compares response time, not capacity: sweep load.sessions for "
         "capacity."});
  }
}

// One line for all points of a cause: who was the limit decides what to do.
void AboutLimits(const Report& report, std::vector<Finding>* findings) {
  std::vector<std::string> busy;
  std::vector<std::string> waited;
  for (const Result& point : report.summary) {
    if (!point.generator_limited) continue;
    // By how much each bound was passed, averaged over workers and rounds.
    const double by_wait = point.waited.value_or(0) / kWaitBound;
    const double by_cpu = point.busy.value_or(0) / kBusyBound;
    if (by_wait > by_cpu) {
      waited.push_back(
          fmt::format("{} ({:.0f} %)", StepLabel(point.step), by_wait * kWaitBound * 100));
    } else {
      busy.push_back(
          fmt::format("{} ({:.0f} %)", StepLabel(point.step), by_cpu * kBusyBound * 100));
    }
  }
  if (!waited.empty()) {
    findings->push_back({fmt::format("Load threads waited for a core: {}. Other programs, such as "
                                     "the server itself, use the generator's cores: these figures "
                                     "are a lower bound. Run the agents on hosts of their own.",
                                     fmt::join(waited, ", ")),
                         true});
  }
  if (!busy.empty()) {
    findings->push_back({fmt::format("Load threads were busy nearly all the time: {}. These "
                                     "figures are a lower bound: add agents or cores.",
                                     fmt::join(busy, ", ")),
                         true});
  }
}

void AboutGenerator(const Report& report, std::vector<Finding>* findings) {
  AboutLimits(report, findings);
  Nanos worst = 0;
  for (const StepView& step : report.run->steps()) {
    Nanos first = 0;
    Nanos last = 0;
    bool any = false;
    for (const AgentStepView& part : step.agents) {
      if (!part.report || part.sessions == 0) continue;
      first = any ? std::min(first, part.start_offset) : part.start_offset;
      last = any ? std::max(last, part.start_offset) : part.start_offset;
      any = true;
    }
    worst = std::max(worst, last - first);
  }
  if (worst > kStartSpread) {
    findings->push_back({fmt::format("The agents did not start together: up to {} apart.",
                                     FormatDurationWords(worst))});
  }
  for (const AgentView& agent : report.run->agents()) {
    if (agent.loop_lag.count() == 0 || agent.loop_lag.max() < kStoodStill) continue;
    findings->push_back({fmt::format("Agent {} stood still for up to {} (its timers were so late): "
                                     "it sent nothing meanwhile, and answers that it was slow to "
                                     "read count as slow.",
                                     agent.name, FormatDurationWords(agent.loop_lag.max())),
                         true});
  }
  const std::string drains = Where(report.summary, [](const Result& point) {
    return point.duration_s > 0 && point.drain_s > kDrainShare * point.duration_s;
  });
  if (!drains.empty()) {
    findings->push_back(
        {fmt::format("Draining took more than 2 % of the measured time, which "
                     "lowers the throughput shown: {}.",
                     drains)});
  }
}

// Whole seconds of issuing in which nothing succeeded, though most had plenty: in a closed loop few
// operations fail in an outage, since few are begun.
void AboutSilence(const Report& report, std::vector<Finding>* findings) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> silent;  // label -> silent, of
  std::vector<std::string> order;
  for (const Result& result : report.results) {
    if (result.seconds == nullptr) continue;
    const double issuing_s = std::max(result.duration_s - result.drain_s, 0.0);
    const auto whole =
        std::min(static_cast<std::size_t>(issuing_s + kRounding), result.seconds->size());
    if (static_cast<double>(Count(result, Outcome::kOk)) < kFewPerSecond * issuing_s) continue;
    const auto none = std::count_if(result.seconds->begin(),
                                    result.seconds->begin() + static_cast<std::ptrdiff_t>(whole),
                                    [](const SecondView& second) { return second.ok == 0; });
    const std::string label = StepLabel(result.step);
    const auto [entry, fresh] = silent.try_emplace(label, 0, 0);
    if (fresh) order.push_back(label);
    entry->second.first += static_cast<std::uint64_t>(none);
    entry->second.second += whole;
  }
  std::string text;
  for (const std::string& label : order) {
    const auto& [none, of] = silent.at(label);
    if (none == 0) continue;
    text += fmt::format("{}{} ({} of {} s)", text.empty() ? "" : "; ", label, none, of);
  }
  if (text.empty()) return;
  findings->push_back({fmt::format(
      "In whole seconds nothing succeeded: {}. A closed loop sends little in an outage, so that "
      "failures and percentiles understate it; the throughput shown includes it.",
      text)});
}

void AboutAnswers(const Report& report, std::vector<Finding>* findings) {
  const auto& summary = report.summary;
  const auto all_missed = [](const Result& point) {
    return Count(point, Outcome::kMiss) > 0 && Count(point, Outcome::kOk) == 0;
  };
  const std::string missed = Where(summary, all_missed);
  if (!missed.empty()) {
    findings->push_back(
        {fmt::format("Every answer was \"no such row\": nothing was loaded, or the "
                     "key range is wrong: {}.",
                     missed)});
  }
  const std::string nothing = Where(summary, [&](const Result& point) {
    return Count(point, Outcome::kOk) == 0 && !all_missed(point);
  });
  if (!nothing.empty()) findings->push_back({fmt::format("Nothing succeeded: {}.", nothing)});
  for (const Result& point : summary) {
    const std::uint64_t misses = Count(point, Outcome::kMiss);
    const double share = Attempted(point) == 0
                             ? 0
                             : static_cast<double>(misses) / static_cast<double>(Attempted(point));
    if (share > kMissShare && !all_missed(point)) {
      findings->push_back(
          {fmt::format("{}: {} of the operations found no row ({} of {}).", StepLabel(point.step),
                       Percent(share), FormatCount(misses), FormatCount(Attempted(point)))});
    }
    for (std::size_t i = 0; i < point.totals->operations.size(); ++i) {
      const std::uint64_t wrong = point.totals->operations[i].counters.wrong_answers;
      if (wrong == 0) continue;
      findings->push_back({fmt::format(
          "{}: {} answers of {} did not match the row that the seed "
          "gives.",
          StepLabel(point.step), FormatCount(wrong), report.run->operation_names()[i])});
    }
    const stats::LatencyHistogram* response = point.totals->Response();
    if (response != nullptr && response->beyond() > 0) {
      findings->push_back({fmt::format("{}: {} response times were beyond 1 h.",
                                       StepLabel(point.step), FormatCount(response->beyond()))});
    }
  }
}

void AboutAudit(const Report& report, std::vector<Finding>* findings) {
  for (const Result& point : report.summary) {
    if (!point.audit) continue;
    const v1::AuditResult& audit = *point.audit;
    const std::uint64_t bad = audit.lost() + audit.stale() + audit.unexpected() + audit.wrong();
    if (bad == 0) continue;
    findings->push_back({fmt::format(
        "{}: of {} acknowledged writes {} are lost and {} stale; {} unexpected, {} wrong.",
        StepLabel(point.step), FormatCount(audit.acknowledged()), FormatCount(audit.lost()),
        FormatCount(audit.stale()), FormatCount(audit.unexpected()), FormatCount(audit.wrong()))});
  }
}

// A deeper pipeline is another concurrency: what is compared should have the same.
void AboutPipelines(const Report& report, std::vector<Finding>* findings) {
  const auto pipeline_of = [&](const std::string& target, const v1::Step& step) {
    for (const Result& point : report.summary) {
      const bool same = LoadPointKey(point.step) == LoadPointKey(step);
      if (same && point.step.target() == target) return point.pipeline;
    }
    return std::uint32_t{0};
  };
  std::map<std::string, std::vector<std::string>> different;  // who had how many -> load points
  for (const Comparison& pair : report.comparison) {
    const std::uint32_t a = pipeline_of(pair.a, pair.step);
    const std::uint32_t b = pipeline_of(pair.b, pair.step);
    if (a == 0 || b == 0 || a == b) continue;
    different[fmt::format("{} up to {}, {} up to {}", pair.a, a, pair.b, b)].push_back(
        LoadPointLabel(pair.step));
  }
  for (const auto& [who, points] : different) {
    findings->push_back(
        {fmt::format("The targets did not have the same number of operations in "
                     "flight per session ({}), so the ratio compares different "
                     "concurrency: {}.",
                     who, fmt::join(points, "; "))});
  }
}

void AboutDrivers(const Report& report, std::vector<Finding>* findings) {
  const auto& steps = report.run->steps();
  const bool handlersocket = std::any_of(steps.begin(), steps.end(), [](const StepView& step) {
    return step.step.driver() == "handlersocket" && step.step.sessions() > 1;
  });
  if (handlersocket) {
    findings->push_back(
        {"HandlerSocket works and answers in batches over connections: its latency "
         "includes its neighbours in a batch."});
  }
}

}  // namespace

std::vector<Finding> FindWarnings(const Report& report) {
  std::vector<Finding> findings;
  AboutEnd(*report.run, &findings);
  FromJournal(*report.run, &findings);
  AboutSessions(report, &findings);
  AboutGenerator(report, &findings);
  AboutSilence(report, &findings);
  AboutAnswers(report, &findings);
  AboutAudit(report, &findings);
  AboutPipelines(report, &findings);
  AboutDrivers(report, &findings);
  return findings;
}

}  // namespace cavalry::report
