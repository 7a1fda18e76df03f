#include "coordinator/report/agent_tally.h"

#include <limits>
#include <string_view>

#include "core/base/check.h"
#include "core/base/units.h"

namespace cavalry::report {
namespace {

// Far above any run and far below overflow of sums over all agents and steps.
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 50;

std::uint64_t ErrorTotal(const stats::ErrorTable& errors) {
  std::uint64_t total = 0;
  for (const auto& [key, entry] : errors.entries()) total += entry.count;
  return total;
}

Status Differ(std::string_view what, std::uint64_t report, std::uint64_t intervals) {
  return DataLoss("its step report has {} {}, the sum of its intervals {}", what,
                  FormatCount(report), FormatCount(intervals));
}

// The counters with names, for comparing and checking them in one loop.
struct NamedCount {
  std::string_view name;
  std::uint64_t count;
};

std::vector<NamedCount> CountsOf(const stats::OperationCounters& counters) {
  std::vector<NamedCount> counts = {{"attempted", counters.attempted}};
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    counts.push_back({OutcomeName(static_cast<Outcome>(i)), counters.by_outcome[i]});
  }
  counts.push_back({"rows", counters.rows});
  counts.push_back({"bytes", counters.bytes});
  counts.push_back({"wrong answers", counters.wrong_answers});
  return counts;
}

std::vector<NamedCount> CountsOf(const stats::IterationCounters& counters) {
  return {{"iterations attempted", counters.attempted},
          {"iterations ok", counters.ok},
          {"iterations failed", counters.failed},
          {"iterations dropped", counters.dropped},
          {"iterations abandoned", counters.abandoned}};
}

bool TooLarge(const std::vector<NamedCount>& counts) {
  for (const NamedCount& named : counts) {
    // Bytes are the largest honest figure: 2^50 of them are a PiB.
    if (named.count > kMaxCount) return true;
  }
  return false;
}

std::uint64_t IterationsEnded(const stats::IterationCounters& counters) {
  return counters.ok + counters.failed + counters.dropped + counters.abandoned;
}

}  // namespace

Status AgentTally::Add(const stats::StatsTotals& stats, const std::vector<std::string>& names) {
  CAVALRY_CHECK(stats.operations.size() == operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const stats::OperationCounters& add = stats.operations[i].counters;
    if (TooLarge(CountsOf(add))) return DataLoss("counts of {} beyond any run", names[i]);
    stats::OperationCounters sum = operations[i].counters;
    sum.Add(add);
    if (TooLarge(CountsOf(sum))) return DataLoss("counts of {} beyond any run", names[i]);
    if (sum.ended() > sum.attempted) {
      return DataLoss("{} {} ended, but only {} were issued", FormatCount(sum.ended()), names[i],
                      FormatCount(sum.attempted));
    }
  }
  stats::IterationCounters iteration_sum = iterations;
  if (TooLarge(CountsOf(stats.iterations))) return DataLoss("iterations beyond any run");
  iteration_sum.Add(stats.iterations);
  if (TooLarge(CountsOf(iteration_sum))) return DataLoss("iterations beyond any run");
  if (IterationsEnded(iteration_sum) > iteration_sum.attempted) {
    return DataLoss("{} iterations ended, but only {} were begun",
                    FormatCount(IterationsEnded(iteration_sum)),
                    FormatCount(iteration_sum.attempted));
  }

  iterations = iteration_sum;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto& add = stats.operations[i];
    operations[i].counters.Add(add.counters);
    operations[i].errors += ErrorTotal(add.errors);
    for (std::size_t k = 0; k < kTimedOutcomes.size(); ++k) {
      if (const auto* histogram = add.histograms.Get(kTimedOutcomes[k])) {
        operations[i].histograms[k].Add(*histogram);
      }
    }
  }
  if (stats.response) response.Add(*stats.response);
  reconnects += stats.reconnects;
  reprepares += stats.reprepares;
  retries += stats.retries;
  return Status();
}

Status AgentTally::CheckDrained(const std::vector<std::string>& names) const {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const stats::OperationCounters& counters = operations[i].counters;
    if (!counters.balanced()) {
      return DataLoss("{} {} attempted, but {} ended in one of the nine classes",
                      FormatCount(counters.attempted), names[i], FormatCount(counters.ended()));
    }
  }
  if (!iterations.balanced()) {
    return DataLoss("{} iterations attempted, but {} ended", FormatCount(iterations.attempted),
                    FormatCount(IterationsEnded(iterations)));
  }
  return Status();
}

Status AgentTally::CheckEqual(const AgentTally& report,
                              const std::vector<std::string>& names) const {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& mine = operations[i];
    const Operation& other = report.operations[i];
    const auto sums = CountsOf(mine.counters);
    const auto reported = CountsOf(other.counters);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if (sums[k].count == reported[k].count) continue;
      return Differ(fmt::format("{} {}", names[i], sums[k].name), reported[k].count, sums[k].count);
    }
    for (std::size_t k = 0; k < kTimedOutcomes.size(); ++k) {
      if (mine.histograms[k].SameSamples(other.histograms[k])) continue;
      return DataLoss("latencies of {} {}: its step report and the sum of its intervals differ",
                      names[i], OutcomeName(kTimedOutcomes[k]));
    }
    if (mine.errors != other.errors) {
      return Differ(fmt::format("{} errors", names[i]), other.errors, mine.errors);
    }
  }
  const auto sums = CountsOf(iterations);
  const auto reported = CountsOf(report.iterations);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (sums[k].count != reported[k].count) {
      return Differ(sums[k].name, reported[k].count, sums[k].count);
    }
  }
  if (!response.SameSamples(report.response)) {
    return DataLoss("response times: its step report and the sum of its intervals differ");
  }
  if (reconnects != report.reconnects) return Differ("reconnects", report.reconnects, reconnects);
  if (reprepares != report.reprepares) return Differ("reprepares", report.reprepares, reprepares);
  if (retries != report.retries) return Differ("retries", report.retries, retries);
  return Status();
}

std::uint64_t AgentTally::OperationsOpen() const {
  std::uint64_t open = 0;
  for (const Operation& operation : operations) {
    open += operation.counters.attempted - operation.counters.ended();
  }
  return open;
}

std::uint64_t AgentTally::IterationsOpen() const {
  return iterations.attempted - IterationsEnded(iterations);
}

void AgentTally::ReleaseHistograms() {
  for (Operation& operation : operations) operation.histograms = {};
  response = SparseHistogram();
}

}  // namespace cavalry::report
