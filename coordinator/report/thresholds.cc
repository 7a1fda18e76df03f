#include "coordinator/report/thresholds.h"

#include <array>

#include "core/base/units.h"

namespace cavalry::report {
namespace {

using Comparator = Threshold::Comparator;
using Metric = Threshold::Metric;

constexpr std::string_view kExample = "write it like 'p99(find) < 5ms' or 'failed < 0.1%'";

struct NamedMetric {
  std::string_view name;
  Metric metric;
};
constexpr std::array<NamedMetric, 7> kMetrics = {{{"throughput", Metric::kThroughput},
                                                  {"reached", Metric::kReached},
                                                  {"failed", Metric::kFailed},
                                                  {"miss", Metric::kMiss},
                                                  {"lost", Metric::kLost},
                                                  {"mean", Metric::kMean},
                                                  {"max", Metric::kMax}}};

struct NamedComparator {
  std::string_view text;
  Comparator comparator;
};
// Longer ones first: "<" is the beginning of "<=".
constexpr std::array<NamedComparator, 6> kComparators = {{{"<=", Comparator::kLessEqual},
                                                          {">=", Comparator::kGreaterEqual},
                                                          {"==", Comparator::kEqual},
                                                          {"!=", Comparator::kNotEqual},
                                                          {"<", Comparator::kLess},
                                                          {">", Comparator::kGreater}}};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// "p99", "p99.9", "p99_9": the point may be written as in report.json's field names.
Status ParseMetric(std::string_view name, Threshold* threshold) {
  std::vector<std::string> known = {"p50", "p95", "p99", "p99.9"};
  for (const NamedMetric& candidate : kMetrics) {
    known.emplace_back(candidate.name);
    if (candidate.name != name) continue;
    threshold->metric = candidate.metric;
    return absl::OkStatus();
  }
  if (name.size() > 1 && name[0] == 'p' && name[1] >= '0' && name[1] <= '9') {
    std::string digits(name.substr(1));
    if (const std::size_t point = digits.find('_'); point != std::string::npos) digits[point] = '.';
    const StatusOr<double> percentile = ParseNumber(digits);
    if (percentile.ok() && *percentile > 0 && *percentile < 100) {
      threshold->metric = Metric::kPercentile;
      threshold->percentile = *percentile;
      return absl::OkStatus();
    }
    return InvalidArgument("'{}' is no percentile above 0 and below 100, such as p99 or p99.9",
                           name);
  }
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty())
    return InvalidArgument("'{}' is unknown; did you mean '{}'?", name, nearest);
  return InvalidArgument(
      "'{}' is unknown; known: throughput, reached, failed, miss, lost, mean, max, p50, p99, p99.9",
      name);
}

// "metric", "metric(subject)" or "metric(subject, target)".
Status ParseLeft(std::string_view text, Threshold* threshold) {
  const std::size_t open = text.find('(');
  CAVALRY_RETURN_IF_ERROR(ParseMetric(Trim(text.substr(0, open)), threshold));
  if (open == std::string_view::npos) return absl::OkStatus();
  std::string_view inner = text.substr(open + 1);
  if (!inner.ends_with(')')) return InvalidArgument("a ')' is missing; {}", kExample);
  inner.remove_suffix(1);
  const std::size_t comma = inner.find(',');
  threshold->subject = std::string(Trim(inner.substr(0, comma)));
  if (threshold->subject.empty()) {
    return InvalidArgument("no operation or script between the parentheses; {}", kExample);
  }
  if (comma == std::string_view::npos) return absl::OkStatus();
  threshold->target = std::string(Trim(inner.substr(comma + 1)));
  if (threshold->target.empty()) return InvalidArgument("no target after the comma; {}", kExample);
  return absl::OkStatus();
}

StatusOr<double> ParseRate(std::string_view text) {
  if (text.ends_with("/s")) text.remove_suffix(2);
  const StatusOr<std::uint64_t> count = ParseCount(text);
  if (count.ok()) return static_cast<double>(*count);
  const StatusOr<double> number = ParseNumber(text);
  if (number.ok() && *number >= 0) return *number;
  return InvalidArgument("'{}' is no rate such as 20k/s or 1500/s", text);
}

StatusOr<double> ParseBound(std::string_view text, Metric metric) {
  switch (metric) {
    case Metric::kThroughput:
      return ParseRate(text);
    case Metric::kReached:
    case Metric::kFailed:
    case Metric::kMiss:
      return ParseShare(text);
    case Metric::kLost: {
      CAVALRY_ASSIGN_OR_RETURN(const std::uint64_t count, ParseCount(text));
      return static_cast<double>(count);
    }
    case Metric::kMean:
    case Metric::kMax:
    case Metric::kPercentile:
      break;
  }
  CAVALRY_ASSIGN_OR_RETURN(const Nanos duration, ParseDuration(text));
  return static_cast<double>(duration) / kMicrosecond;
}

Status ParseInto(std::string_view text, Threshold* threshold) {
  const std::size_t at = text.find_first_of("<>=!");
  if (at == std::string_view::npos) {
    return InvalidArgument("no comparison (<, <=, >, >=, ==, !=); {}", kExample);
  }
  CAVALRY_RETURN_IF_ERROR(ParseLeft(Trim(text.substr(0, at)), threshold));
  std::string_view right = text.substr(at);
  for (const NamedComparator& candidate : kComparators) {
    if (!right.starts_with(candidate.text)) continue;
    threshold->comparator = candidate.comparator;
    right = Trim(right.substr(candidate.text.size()));
    if (right.empty()) {
      return InvalidArgument("no bound after '{}'; {}", candidate.text, kExample);
    }
    CAVALRY_ASSIGN_OR_RETURN(threshold->bound, ParseBound(right, threshold->metric));
    return absl::OkStatus();
  }
  return InvalidArgument("'{}' is no comparison; known: <, <=, >, >=, ==, !=", right.substr(0, 1));
}

}  // namespace

StatusOr<Threshold> ParseThreshold(std::string_view text) {
  Threshold threshold;
  threshold.expression = std::string(text);
  const Status status = ParseInto(Trim(text), &threshold);
  if (!status.ok()) return Annotate(status, fmt::format("threshold '{}'", text));
  return threshold;
}

bool Holds(const Threshold& threshold, double value) {
  switch (threshold.comparator) {
    case Comparator::kLess:
      return value < threshold.bound;
    case Comparator::kLessEqual:
      return value <= threshold.bound;
    case Comparator::kGreater:
      return value > threshold.bound;
    case Comparator::kGreaterEqual:
      return value >= threshold.bound;
    case Comparator::kEqual:
      return value == threshold.bound;
    case Comparator::kNotEqual:
      return value != threshold.bound;
  }
  return false;
}

}  // namespace cavalry::report
