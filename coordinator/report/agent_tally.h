// The sum of what one agent sent of one step, kept small, to be held against the agent's own step
// report. Plain data; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/report/sparse_histogram.h"
#include "core/base/status.h"
#include "core/stats/interval_recorder.h"

namespace cavalry::report {

// The classes that have a latency, in the order of AgentTally::Operation::histograms.
inline constexpr std::array kTimedOutcomes = {Outcome::kOk, Outcome::kMiss, Outcome::kRejected,
                                              Outcome::kTimeout, Outcome::kBroken};

struct AgentTally {
  struct Operation {
    stats::OperationCounters counters;
    std::array<SparseHistogram, kTimedOutcomes.size()> histograms;
    std::uint64_t errors = 0;  // counts of its error table, all codes
  };

  explicit AgentTally(std::size_t operation_count) : operations(operation_count) {}

  // Adds an interval, or returns what cannot be right and changes nothing: more operations ended
  // than were issued, counters that overflow. `names`: the operations' names, for the message.
  Status Add(const stats::StatsTotals& stats, const std::vector<std::string>& names);

  // What a step report must satisfy once its step has drained: attempted = the sum of the nine
  // classes, iterations balanced.
  Status CheckDrained(const std::vector<std::string>& names) const;

  // Whether the two are sums of the same samples; the error names the first figure that differs.
  Status CheckEqual(const AgentTally& report, const std::vector<std::string>& names) const;

  // Issued and not ended.
  std::uint64_t OperationsOpen() const;
  std::uint64_t IterationsOpen() const;

  // Frees what only CheckEqual needs.
  void ReleaseHistograms();

  std::vector<Operation> operations;
  stats::IterationCounters iterations;
  SparseHistogram response;
  std::uint64_t reconnects = 0;
  std::uint64_t reprepares = 0;
  std::uint64_t retries = 0;
};

}  // namespace cavalry::report
