// What one worker records in one interval, and the same merged over workers, intervals and agents.
// IntervalRecorder is written by one worker thread, then handed over whole; StatsTotals belongs to
// one thread. Histograms are made on a class's first use and kept over Clear(), so that a worker
// allocates nothing after warm-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/outcome.h"
#include "core/stats/latency_histogram.h"
#include "core/stats/operation_counters.h"

namespace cavalry::stats {

// Histograms of one operation name. A null one has no sample. dropped, not_sent, abandoned and sent
// have none.
template <typename Count>
struct OperationHistograms {
  using Histogram = BasicLatencyHistogram<Count>;
  std::unique_ptr<Histogram> ok, miss, rejected, timeout, broken;

  // The slot of a class, or null for classes without latency.
  std::unique_ptr<Histogram>* Slot(Outcome outcome) {
    switch (outcome) {
      case Outcome::kOk:
        return &ok;
      case Outcome::kMiss:
        return &miss;
      case Outcome::kRejected:
        return &rejected;
      case Outcome::kTimeout:
        return &timeout;
      case Outcome::kBroken:
        return &broken;
      case Outcome::kNotSent:
      case Outcome::kDropped:
      case Outcome::kAbandoned:
      case Outcome::kSent:
        break;
    }
    return nullptr;
  }
  // The histogram of a class, or null when it has no sample.
  const Histogram* Get(Outcome outcome) const;
};

template <typename Count>
struct BasicStats {
  using Histogram = BasicLatencyHistogram<Count>;
  struct PerOperation {
    OperationCounters counters;
    OperationHistograms<Count> histograms;
    ErrorTable errors;
  };

  // The operations that went to one node of a cluster.
  struct PerNode {
    std::string label;
    PerOperation stats;
  };

  // `operations`: number of operation names. When `response_is_service` (a closed loop whose script
  // is one operation, once) RecordResponse does nothing: response equals that operation's ok
  // histogram.
  explicit BasicStats(std::size_t operation_count, bool response_is_service = false);

  // One operation ended. Its class, and its latency (service time) where the class has one. What
  // was attempted is counted by the caller, at issue. REQUIRES: operation < operations.size().
  void RecordOperation(std::size_t operation, Outcome outcome, Nanos latency) {
    PerOperation& entry = operations[operation];
    entry.counters.Count(outcome);
    if (std::unique_ptr<Histogram>* slot = entry.histograms.Slot(outcome)) {
      RecordInto(slot, latency);
    }
  }
  // The same for the node that it went to, with what was attempted. REQUIRES: node < nodes.size().
  void RecordOnNode(std::size_t node, Outcome outcome, Nanos latency, std::uint64_t rows,
                    std::uint64_t bytes) {
    PerOperation& entry = nodes[node].stats;
    ++entry.counters.attempted;
    entry.counters.Count(outcome);
    entry.counters.rows += rows;
    entry.counters.bytes += bytes;
    if (std::unique_ptr<Histogram>* slot = entry.histograms.Slot(outcome)) {
      RecordInto(slot, latency);
    }
  }
  // One iteration ended ok; `response_time` = end - intended start. Counting it is the caller's.
  void RecordResponse(Nanos response_time) {
    if (!response_is_service) RecordInto(&response, response_time);
  }
  void RecordConnect(Nanos latency) { RecordInto(&connect, latency); }
  void Clear();

  // Adds all of another, its nodes by their labels, whose response_is_service may differ: then this
  // one's response gets a histogram of its own. REQUIRES: the same number of operations.
  template <typename Other>
  void Add(const BasicStats<Other>& other);

  // Totals over operations.
  OperationCounters TotalOperations() const;
  // Response times: the response histogram, or the ok histogram of the operation that has samples
  // when response_is_service. Null: no sample.
  const Histogram* Response() const;

  std::vector<PerOperation> operations;
  std::vector<PerNode> nodes;  // of drivers that tell nodes apart; no errors in them
  IterationCounters iterations;
  std::unique_ptr<Histogram> response;  // null without samples
  std::unique_ptr<Histogram> connect;   // null without samples
  ErrorTable connect_errors;
  bool response_is_service = false;
  std::uint64_t reconnects = 0;
  std::uint64_t reprepares = 0;
  std::uint64_t retries = 0;
  std::uint64_t rerouted = 0;              // went to another node, as the best had no connection
  std::uint64_t in_flight = 0;             // at the interval's end; Add() adds
  std::uint64_t iterations_in_flight = 0;  // at the interval's end; Add() adds

 private:
  static void RecordInto(std::unique_ptr<Histogram>* slot, Nanos latency) {
    if (*slot == nullptr) [[unlikely]] {
      *slot = std::make_unique<Histogram>();
    }
    (*slot)->Record(latency);
  }
};

extern template struct BasicStats<std::uint32_t>;
extern template struct BasicStats<std::uint64_t>;

using IntervalRecorder = BasicStats<std::uint32_t>;
using StatsTotals = BasicStats<std::uint64_t>;

}  // namespace cavalry::stats
