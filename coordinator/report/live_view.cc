#include "coordinator/report/live_view.h"

#include <algorithm>
#include <vector>

#include "coordinator/report/load_point.h"
#include "coordinator/report/text_layout.h"
#include "core/base/units.h"

namespace cavalry::report {
namespace {

constexpr double kPerMicrosecond = kMicrosecond;

// "0:12", "1:02:05".
std::string ClockText(Nanos time) {
  const Nanos seconds = std::max<Nanos>(time, 0) / kSecond;
  if (seconds >= 3600) {
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string Microseconds(Nanos time) {
  return FormatFigure(static_cast<double>(time) / kPerMicrosecond);
}

// Whole seconds of a value of the sweep or of the load; the step's own value wins.
std::uint64_t SecondsOf(const v1::Step& step, std::string_view path, std::uint64_t load_ns) {
  for (const v1::NameValue& value : step.set()) {
    if (value.name() != path) continue;
    if (const auto parsed = ParseDuration(value.value()); parsed.ok()) {
      return static_cast<std::uint64_t>(*parsed / kSecond);
    }
  }
  return load_ns / static_cast<std::uint64_t>(kSecond);
}

// Where the step that is under way stands.
struct Progress {
  const StepView* step = nullptr;
  bool measuring = false;
  std::uint64_t done_s = 0;
  std::uint64_t of_s = 0;              // 0: it ends by count
  const SecondView* second = nullptr;  // the last one that all agents have reported; may be null
};

Progress ProgressOf(const Aggregator& run) {
  Progress progress;
  progress.step = run.current_step();
  if (progress.step == nullptr) return progress;
  const StepView& step = *progress.step;
  const v1::Load& load = run.run().workload().load();
  progress.measuring = !step.seconds.empty();
  const std::vector<SecondView>& seconds = progress.measuring ? step.seconds : step.warmup_seconds;
  progress.of_s = progress.measuring ? SecondsOf(step.step, "load.stop_after.duration",
                                                 load.stop_after().duration())
                                     : SecondsOf(step.step, "load.warmup", load.warmup());
  progress.done_s = seconds.size();
  if (progress.of_s > 0) progress.done_s = std::min(progress.done_s, progress.of_s);
  // What comes after the last whole second (drains, late answers) is no second to show a rate of.
  const std::size_t shown = progress.of_s > 0 ? progress.done_s : seconds.size();
  const auto live = static_cast<std::size_t>(std::count_if(
      step.agents.begin(), step.agents.end(),
      [](const AgentStepView& part) { return !part.lost && !part.faulty && part.sessions > 0; }));
  for (std::size_t i = shown; i > 0; --i) {
    if (seconds[i - 1].reports < std::max<std::size_t>(live, 1)) continue;
    progress.second = &seconds[i - 1];
    break;
  }
  return progress;
}

std::size_t StepNumber(const Aggregator& run) { return run.steps().size(); }

std::string PhaseText(const Progress& progress) {
  const char* name = progress.measuring ? "measure" : "warm-up";
  if (progress.of_s == 0) return fmt::format("{} {} s", name, progress.done_s);
  return fmt::format("{} {}/{} s", name, progress.done_s, progress.of_s);
}

std::string Bar(std::uint64_t done, std::uint64_t whole) {
  constexpr std::uint64_t kWidth = 20;
  if (whole == 0) return "";
  const std::uint64_t full = std::min(kWidth, done * kWidth / whole);
  return fmt::format("  [{}{}]", std::string(full, '#'), std::string(kWidth - full, '.'));
}

std::string LatencyLine(std::string_view name, const SparseHistogram* last,
                        const stats::LatencyHistogram* so_far) {
  const auto line = [name](auto& histogram) {
    std::string text = fmt::format("{:<20}", name);
    for (const double percent : {50.0, 95.0, 99.0, 99.9, 100.0}) {
      text += fmt::format("{:>9}", Microseconds(histogram.Percentile(percent)));
    }
    return text + " us";
  };
  if (last != nullptr && last->count() > 0) return line(*last);
  if (so_far != nullptr && so_far->count() > 0) return line(*so_far);
  return fmt::format("{:<20}{:>9}{:>9}{:>9}{:>9}{:>9}", name, "-", "-", "-", "-", "-");
}

// "12 x 1213 (rejected), 3 x 2013 (broken)": the most frequent first.
std::string ErrorsText(const StepView& step) {
  constexpr std::size_t kShown = 4;
  stats::ErrorTable errors;
  errors.Add(step.connect_errors);
  for (const auto& operation : step.totals.operations) errors.Add(operation.errors);
  std::vector<std::pair<std::uint64_t, std::string>> list;
  for (const auto& [key, entry] : errors.entries()) {
    list.emplace_back(
        entry.count, fmt::format("{} x {} ({})", FormatCount(entry.count), Printable(key.first, 40),
                                 OutcomeName(entry.outcome)));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, list.size()); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", list[i].second);
  }
  if (list.size() > kShown) text += fmt::format(", {} more kinds", list.size() - kShown);
  return text;
}

std::string TitleLine(const Aggregator& run, const LiveOptions& options) {
  const Nanos expected = static_cast<Nanos>(run.run().expected_ns());
  const std::string ends =
      expected > options.elapsed
          ? fmt::format("   ends in about {}",
                        FormatDurationWords((expected - options.elapsed) / kSecond * kSecond))
          : std::string();
  return fmt::format("{}   step {} of {}   {}{}", Printable(run.run().workload().name(), 60),
                     StepNumber(run), run.run().steps_size(), ClockText(options.elapsed), ends);
}

std::string AgentsLine(const Aggregator& run, const StepView* step) {
  std::size_t alive = 0;
  std::string lost;
  for (const AgentView& agent : run.agents()) {
    alive += agent.lost ? 0 : 1;
    if (agent.lost) lost += fmt::format("   LOST {}", agent.name);
  }
  std::uint64_t in_flight = 0;
  if (step != nullptr) {
    for (const AgentStepView& part : step->agents) in_flight += part.tally.OperationsOpen();
  }
  return fmt::format("agents {} of {}   in flight {}{}", alive, run.agents().size(),
                     FormatCount(in_flight), lost);
}

void AddStepLines(const Aggregator& run, const Progress& progress,
                  std::vector<std::string>* lines) {
  const StepView& step = *progress.step;
  const v1::Workload& workload = run.run().workload();
  lines->push_back(fmt::format("{}   round {}   {}{}", StepLabel(step.step), step.step.round(),
                               PhaseText(progress), Bar(progress.done_s, progress.of_s)));
  lines->push_back(AgentsLine(run, &step));
  const stats::OperationCounters ops = step.totals.TotalOperations();
  lines->push_back(fmt::format(
      "{}/s last second {}   failed {}   so far ok {}, miss {}, failed {}", UnitName(workload),
      progress.second ? FormatCount(progress.second->ok) : "-",
      progress.second ? FormatCount(progress.second->failed) : "-", FormatCount(ops[Outcome::kOk]),
      FormatCount(ops[Outcome::kMiss]), FormatCount(ops.failed())));
  lines->push_back(
      fmt::format("{:<20}{:>9}{:>9}{:>9}{:>9}{:>9}", "", "p50", "p95", "p99", "p99.9", "max"));
  lines->push_back(LatencyLine("response last 1 s",
                               progress.second ? &progress.second->response : nullptr, nullptr));
  lines->push_back(LatencyLine("response so far", nullptr, step.totals.Response()));
  if (const std::string errors = ErrorsText(step); !errors.empty()) {
    lines->push_back(fmt::format("failed   {}", errors));
  }
}

}  // namespace

std::string RenderLive(const Aggregator& run, const LiveOptions& options) {
  if (!run.started()) return "";
  std::vector<std::string> lines = {TitleLine(run, options)};
  const Progress progress = ProgressOf(run);
  if (!options.phase.empty() || progress.step == nullptr) {
    lines.push_back(options.phase);
    if (!run.agents().empty()) lines.push_back(AgentsLine(run, nullptr));
  } else {
    AddStepLines(run, progress, &lines);
  }
  lines.push_back("Ctrl-C: stop and report   again: quit");
  std::string screen;
  for (const std::string& line : lines) screen += line.substr(0, options.width) + "\n";
  return screen;
}

std::string RenderPlainLine(const Aggregator& run, const LiveOptions& options) {
  if (!run.started()) return "";
  const Progress progress = ProgressOf(run);
  const std::string start = fmt::format("{} step {}/{}", ClockText(options.elapsed),
                                        StepNumber(run), run.run().steps_size());
  if (progress.step == nullptr || !options.phase.empty()) {
    const std::string label =
        progress.step == nullptr ? std::string() : " " + StepLabel(progress.step->step);
    return fmt::format("{}{}  {}", progress.step == nullptr ? ClockText(options.elapsed) : start,
                       label, options.phase);
  }
  std::string line =
      fmt::format("{} {}  {}", start, StepLabel(progress.step->step), PhaseText(progress));
  if (progress.second == nullptr) return line;
  const SecondView& second = *progress.second;
  line += fmt::format("  {} {}/s", FormatCount(second.ok), UnitName(run.run().workload()));
  if (second.response.count() > 0) {
    line += fmt::format("  p50 {} p99 {} us", Microseconds(second.response.Percentile(50)),
                        Microseconds(second.response.Percentile(99)));
  }
  line += fmt::format("  failed {}", FormatCount(second.failed));
  if (const std::string errors = ErrorsText(*progress.step); !errors.empty()) {
    line += fmt::format(" ({})", errors);
  }
  return line;
}

}  // namespace cavalry::report
