// What one worker counts and times in one part of a step (warm-up or measure): an open interval,
// and the part's cumulative counts beside it. Worker thread only. An operation is counted as
// attempted in the interval of its issue and as ended in the interval of its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/load_run.h"
#include "agent/run/mailbox.h"
#include "core/base/clock.h"
#include "core/stats/interval_recorder.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

// Intervals are whole seconds from the part's origin.
class PartRecorder {
 public:
  // `keys_asked`: by operation, keys that one of it looks up; 0: not a read by keys.
  // `nodes`: labels of a cluster's nodes.
  PartRecorder(Part part, std::uint32_t worker, std::vector<std::uint32_t> keys_asked,
               bool response_is_service, std::vector<std::string> nodes, Mailbox* mailbox);

  // The part begins at this instant; before that nothing but connections is recorded.
  void Open(Nanos origin);
  // Closes all intervals that end at or before `now`.
  void CloseDue(Nanos now) {
    while (now >= boundary_) [[unlikely]] {
        CloseInterval();
        boundary_ += kSecond;
      }
  }
  // Delivers the open interval, unfinished as it is, and takes no more intervals: what ends later
  // is counted in the cumulative counts only.
  void Finish(Nanos now);

  void BeginIteration() {
    ++recorder_->iterations.attempted;
    ++iterations_.attempted;
    ++iterations_in_flight_;
  }
  // `response_time` is recorded when `ok`.
  void EndIteration(bool ok, Nanos response_time);
  void AbandonIteration();
  void BeginOperation(std::size_t operation, Nanos start) {
    CloseDue(start);
    ++recorder_->operations[operation].counters.attempted;
    ++operations_[operation].attempted;
    ++in_flight_;
  }
  // `node`: that it went to, if nodes are told apart; else kNoNode.
  void EndOperation(std::size_t operation, const drivers::OpResult& result, Nanos latency,
                    Nanos end, std::uint32_t node = kNoNode);
  void CountWrongAnswer(std::size_t operation) {
    ++recorder_->operations[operation].counters.wrong_answers;
    ++operations_[operation].wrong_answers;
  }

  void CountRetry() { ++recorder_->retries; }
  void CountRerouted() { ++recorder_->rerouted; }

  stats::IntervalRecorder& interval() { return *recorder_; }
  const std::vector<stats::OperationCounters>& operations() const { return operations_; }
  const stats::IterationCounters& iterations() const { return iterations_; }
  std::uint64_t iterations_in_flight() const { return iterations_in_flight_; }
  Nanos boundary() const { return boundary_; }
  Nanos last_end() const { return last_end_; }
  // The identities of a drained part: classes sum up to attempted, iterations are balanced,
  // intervals sum up to the cumulative counts, histograms hold what their classes count.
  void CheckIdentities() const;

 private:
  void CloseInterval();
  std::unique_ptr<stats::IntervalRecorder> NewRecorder() const;

  const Part part_;
  const std::uint32_t worker_;
  const std::vector<std::uint32_t> keys_asked_;
  const bool response_is_service_;
  const std::vector<std::string> nodes_;
  Mailbox* const mailbox_;
  Nanos boundary_ = INT64_MAX;  // end of the open interval
  std::uint32_t index_ = 0;
  bool finished_ = false;
  std::unique_ptr<stats::IntervalRecorder> recorder_;
  std::uint64_t in_flight_ = 0;
  std::uint64_t iterations_in_flight_ = 0;
  Nanos last_end_ = 0;

  // Counted beside the intervals, so that a loss between them shows.
  std::vector<stats::OperationCounters> operations_;
  stats::IterationCounters iterations_;
  // Sum over the delivered intervals.
  std::vector<stats::OperationCounters> delivered_operations_;
  stats::IterationCounters delivered_iterations_;
  std::uint64_t delivered_responses_ = 0;
};

}  // namespace cavalry::run
