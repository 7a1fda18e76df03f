#include "coordinator/report/published.h"

#include <fmt/format.h>

#include "coordinator/report/load_point.h"
#include "coordinator/report/text_layout.h"
#include "core/base/units.h"

namespace cavalry::report {
namespace {

constexpr double kUsPerMs = 1000;

using Figures = std::vector<std::pair<std::string, std::optional<double>>>;

double Rows(const Result& result) {
  return static_cast<double>(result.totals->TotalOperations().rows);
}

Figures RowsRetrieved(const Result& result) {
  return {{"rows", Rows(result)}, {"seconds", result.duration_s}};
}

// The originals' total counts iterations that failed as well; ours stand beside it.
Figures TotalSeconds(const Result& result) {
  const stats::IterationCounters& iterations = result.totals->iterations;
  return {{"total", static_cast<double>(iterations.attempted)},
          {"concurrency", result.step.sessions()},
          {"seconds", result.duration_s},
          {"failed", static_cast<double>(iterations.failed)}};
}

Figures PerRequest(const Result& result) {
  Figures figures = {{"concurrency", result.step.sessions()}};
  const auto summary = stats::Summarize(result.totals->Response());
  const auto add = [&figures](const char* name, std::optional<double> value) {
    figures.emplace_back(name, value);
  };
  add("min_ms", summary ? std::optional(summary->min / kUsPerMs) : std::nullopt);
  add("max_ms", summary ? std::optional(summary->max / kUsPerMs) : std::nullopt);
  add("average_ms", summary ? std::optional(summary->mean / kUsPerMs) : std::nullopt);
  const double time = result.duration_s;
  add("client_us_percent", time > 0 ? std::optional(100 * result.cpu_user_s / time) : std::nullopt);
  add("client_sy_percent",
      time > 0 ? std::optional(100 * result.cpu_system_s / time) : std::nullopt);
  add("seconds", time);
  if (!result.audit) return figures;
  add("lost", static_cast<double>(result.audit->lost()));
  add("unexpected", static_cast<double>(result.audit->unexpected()));
  return figures;
}

Figures CpuSeconds(const Result& result) {
  return {{"user_s", result.cpu_user_s},
          {"system_s", result.cpu_system_s},
          {"user_and_system_s", result.cpu_user_s + result.cpu_system_s},
          {"real_s", result.duration_s}};
}

Figures FiguresOf(const Result& result, v1::PrintAs form) {
  switch (form) {
    case v1::PRINT_AS_ROWS_RETRIEVED:
      return RowsRetrieved(result);
    case v1::PRINT_AS_TOTAL_SECONDS:
      return TotalSeconds(result);
    case v1::PRINT_AS_PER_REQUEST:
      return PerRequest(result);
    case v1::PRINT_AS_CPU_SECONDS:
      return CpuSeconds(result);
    default:
      return {};
  }
}

std::string Cell(const std::string& name, const std::optional<double>& value) {
  if (!value) return "-";
  if (name.ends_with("_s")) return fmt::format("{:.6f}", *value);
  if (name.ends_with("_ms") || name == "seconds") return fmt::format("{:.3f}", *value);
  if (name.ends_with("_percent")) return fmt::format("{:.1f}", *value);
  return FormatCount(static_cast<std::uint64_t>(*value));
}

std::string RowsLines(const std::vector<PublishedLine>& lines) {
  std::string text;
  for (const PublishedLine& line : lines) {
    const std::string condition =
        line.step.condition().empty() ? "" : fmt::format(", {}", line.step.condition());
    text += fmt::format("  {}{}, round {}: {} rows retrieved in {:.1f} s\n", line.step.target(),
                        condition, line.step.round(), Cell("rows", line.figures[0].second),
                        line.figures[1].second.value_or(0));
  }
  return text;
}

// "client_us_percent" -> head "client", unit "us %".
std::string Head(const std::string& name) {
  if (name == "user_and_system_s") return "total";
  if (name.ends_with("_ms")) return name.substr(0, name.size() - 3) + " ms";
  if (name.ends_with("_percent")) return name.substr(7, 2) + " %";
  if (name.ends_with("_s")) return name.substr(0, name.size() - 2);
  return name;
}

std::string Table(const std::vector<PublishedLine>& lines) {
  std::vector<TextTable::Column> columns = {{"", "", true}, {"", "", true}};
  // The line with the most figures: an audit's are not everywhere.
  const PublishedLine* longest = &lines.front();
  for (const PublishedLine& line : lines) {
    if (line.figures.size() > longest->figures.size()) longest = &line;
  }
  for (const auto& [name, value] : longest->figures) columns.push_back({Head(name), ""});
  TextTable table(std::move(columns));
  for (const PublishedLine& line : lines) {
    std::vector<std::string> cells = {LoadPointLabel(line.step), line.step.target()};
    for (const auto& [name, value] : line.figures) cells.push_back(Cell(name, value));
    while (cells.size() < longest->figures.size() + 2) cells.emplace_back("-");
    table.AddRow(std::move(cells));
  }
  return table.Render();
}

}  // namespace

std::vector<PublishedLine> PublishedFigures(const Report& report) {
  std::vector<PublishedLine> lines;
  const v1::PrintAs form = report.run->run().workload().print_as();
  if (form == v1::PRINT_AS_UNSPECIFIED) return lines;
  // Rates and means may be taken over all rounds; counts and seconds are those of one step.
  const bool merged = form == v1::PRINT_AS_PER_REQUEST;
  for (const Result& result : merged ? report.summary : report.results) {
    lines.push_back({result.step, FiguresOf(result, form)});
  }
  return lines;
}

std::string PublishedText(const Report& report) {
  const std::vector<PublishedLine> lines = PublishedFigures(report);
  if (lines.empty()) return "";
  const bool rows = report.run->run().workload().print_as() == v1::PRINT_AS_ROWS_RETRIEVED;
  return "AS PUBLISHED\n" + (rows ? RowsLines(lines) : Table(lines)) + "\n";
}

}  // namespace cavalry::report
