#include "coordinator/report/comparison.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "coordinator/report/load_point.h"
#include "coordinator/spec/spec_check.h"

namespace cavalry::report {
namespace {

std::string_view MetricName(v1::Metric metric) {
  switch (metric) {
    case v1::METRIC_MEAN:
      return "mean";
    case v1::METRIC_P50:
      return "p50";
    case v1::METRIC_P99:
      return "p99";
    case v1::METRIC_CLIENT_CPU:
      return "client_cpu";
    default:
      return "throughput";
  }
}

// What is compared is work that was done: the time of misses and errors says nothing of it.
bool MostlyFailed(const Result& result) {
  std::uint64_t attempted = 0;
  std::uint64_t ok = 0;
  for (const auto& operation : result.totals->operations) {
    attempted += operation.counters.attempted;
    ok += operation.counters[Outcome::kOk];
  }
  return ok * 2 < attempted;
}

// Why a round takes no part.
std::string WhyNotJudged(const Result& result) {
  const std::string& target = result.step.target();
  if (result.lost_agent) return fmt::format("{} lost an agent", target);
  if (result.generator_limited) return fmt::format("the generator was the limit of {}", target);
  if (!result.complete) return fmt::format("{} is not complete", target);
  if (MostlyFailed(result)) {
    return fmt::format("less than half of what {} was asked ended ok", target);
  }
  return fmt::format("{} has no sample", target);
}

// Rounds of two targets at one load point, paired.
struct Pairs {
  std::vector<double> a, b;
  std::map<std::string, std::vector<std::uint32_t>> left_out;  // why -> rounds
};

using Rounds = std::map<std::uint32_t, const Result*>;

Rounds RoundsOf(const std::vector<Result>& results, const std::string& target,
                const std::string& key) {
  Rounds rounds;
  for (const Result& result : results) {
    if (result.step.target() == target && LoadPointKey(result.step) == key) {
      rounds[result.step.round()] = &result;
    }
  }
  return rounds;
}

Pairs PairUp(const Rounds& a, const Rounds& b, v1::Metric metric, const std::string& name_a,
             const std::string& name_b) {
  Pairs pairs;
  Rounds all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [round, unused] : all) {
    const auto in_a = a.find(round);
    const auto in_b = b.find(round);
    if (in_a == a.end() || in_b == b.end()) {
      const std::string& missing = in_a == a.end() ? name_a : name_b;
      pairs.left_out[fmt::format("{} was not measured", missing)].push_back(round);
      continue;
    }
    const auto figure_a = MetricFigure(*in_a->second, metric);
    const auto figure_b = MetricFigure(*in_b->second, metric);
    const auto usable = [](const Result& result, std::optional<double> figure) {
      return result.judged() && !MostlyFailed(result) && figure.value_or(0) > 0;
    };
    const bool a_usable = usable(*in_a->second, figure_a);
    const bool b_usable = usable(*in_b->second, figure_b);
    if (a_usable && b_usable) {
      pairs.a.push_back(*figure_a);
      pairs.b.push_back(*figure_b);
      continue;
    }
    pairs.left_out[WhyNotJudged(a_usable ? *in_b->second : *in_a->second)].push_back(round);
  }
  return pairs;
}

std::string LeftOut(const Pairs& pairs) {
  std::string text;
  for (const auto& [why, rounds] : pairs.left_out) {
    text += fmt::format("{}{} in round{} {}", text.empty() ? "" : "; ", why,
                        rounds.size() == 1 ? "" : "s", fmt::join(rounds, ", "));
  }
  return text;
}

std::string Statement(const Comparison& comparison, v1::Metric metric,
                      const v1::Workload& workload) {
  const double value = comparison.ratio->value;
  switch (metric) {
    case v1::METRIC_MEAN:
    case v1::METRIC_P50:
    case v1::METRIC_P99:
      return fmt::format("{} of {} is {:.2f} x that of {}", MetricName(metric), comparison.b, value,
                         comparison.a);
    case v1::METRIC_CLIENT_CPU:
      return fmt::format("client CPU per operation of {} is {:.2f} x that of {}", comparison.b,
                         value, comparison.a);
    default:
      return fmt::format("{} does {:.2f} x the {}/s of {}", comparison.b, value, UnitName(workload),
                         comparison.a);
  }
}

std::string Verdict(const Comparison& comparison, const Pairs& pairs, v1::Metric metric,
                    const v1::Workload& workload) {
  const std::string left_out = LeftOut(pairs);
  if (!comparison.ratio) {
    return fmt::format("{} against {}: not judged: {}", comparison.b, comparison.a,
                       left_out.empty() ? "no round was measured" : left_out);
  }
  std::string text = Statement(comparison, metric, workload);
  if (comparison.ratio->ci95) {
    const auto& interval = *comparison.ratio->ci95;
    if (interval.low <= 1 && interval.high >= 1)
      text = fmt::format("no difference shown: {}", text);
    text += fmt::format(" (95 % interval {:.2f} to {:.2f})", interval.low, interval.high);
  } else {
    text += " (one round: no interval)";
  }
  if (!left_out.empty()) text += fmt::format("; left out: {}", left_out);
  return text;
}

}  // namespace

std::optional<double> MetricFigure(const Result& result, v1::Metric metric) {
  const auto latency = [&result](auto figure) -> std::optional<double> {
    const auto summary = stats::Summarize(result.totals->Response());
    if (!summary) return std::nullopt;
    return figure(*summary);
  };
  switch (metric) {
    case v1::METRIC_MEAN:
      return latency([](const auto& summary) { return summary.mean; });
    case v1::METRIC_P50:
      return latency([](const auto& summary) { return summary.p50; });
    case v1::METRIC_P99:
      return latency([](const auto& summary) { return summary.p99; });
    case v1::METRIC_CLIENT_CPU:
      if (!result.cpu_user_us_per_op) return std::nullopt;
      return *result.cpu_user_us_per_op + *result.cpu_system_us_per_op;
    default:
      return result.ops_per_s;
  }
}

std::vector<Comparison> Compare(const v1::Workload& workload, const std::vector<Result>& results,
                                const std::vector<Result>& summary) {
  std::vector<std::string> targets(workload.compare().targets().begin(),
                                   workload.compare().targets().end());
  if (targets.empty()) {
    for (const v1::Target& target : workload.targets()) {
      if (spec::IsLoaded(target)) targets.push_back(target.name());
    }
  }
  std::vector<Comparison> comparisons;
  std::vector<std::string> seen;
  for (const Result& point : summary) {
    const std::string key = LoadPointKey(point.step);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    for (std::size_t i = 1; i < targets.size(); ++i) {
      const v1::Metric metric = workload.compare().metric();
      const Pairs pairs =
          PairUp(RoundsOf(results, targets[0], key), RoundsOf(results, targets[i], key), metric,
                 targets[0], targets[i]);
      Comparison comparison;
      comparison.a = targets[0];
      comparison.b = targets[i];
      comparison.step = point.step;
      comparison.metric = MetricName(metric);
      comparison.ratio = stats::PairedRatio(pairs.a, pairs.b);
      comparison.rounds = static_cast<std::uint32_t>(pairs.a.size());
      comparison.verdict = Verdict(comparison, pairs, metric, workload);
      comparisons.push_back(std::move(comparison));
    }
  }
  return comparisons;
}

}  // namespace cavalry::report
