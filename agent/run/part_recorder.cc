#include "agent/run/part_recorder.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace cavalry::run {
namespace {

// A histogram without samples counts 0.
std::uint64_t CountOf(const stats::IntervalHistogram* histogram) {
  return histogram == nullptr ? 0 : histogram->count();
}

void CheckHistograms(const stats::IntervalRecorder& recorder) {
  for (const auto& operation : recorder.operations) {
    for (const Outcome outcome :
         {Outcome::kOk, Outcome::kMiss, Outcome::kRejected, Outcome::kTimeout, Outcome::kBroken}) {
      CAVALRY_CHECK(CountOf(operation.histograms.Get(outcome)) == operation.counters[outcome]);
    }
  }
}

}  // namespace

PartRecorder::PartRecorder(Part part, std::uint32_t worker, std::vector<std::uint32_t> keys_asked,
                           bool response_is_service, std::vector<std::string> nodes,
                           Mailbox* mailbox)
    : part_(part),
      worker_(worker),
      keys_asked_(std::move(keys_asked)),
      response_is_service_(response_is_service),
      nodes_(std::move(nodes)),
      mailbox_(mailbox),
      recorder_(NewRecorder()),
      operations_(keys_asked_.size()),
      delivered_operations_(keys_asked_.size()) {}

std::unique_ptr<stats::IntervalRecorder> PartRecorder::NewRecorder() const {
  auto recorder =
      std::make_unique<stats::IntervalRecorder>(keys_asked_.size(), response_is_service_);
  for (const std::string& label : nodes_) recorder->nodes.emplace_back().label = label;
  return recorder;
}

void PartRecorder::Open(Nanos origin) { boundary_ = origin + kSecond; }

void PartRecorder::CloseInterval() {
  recorder_->in_flight = in_flight_;
  recorder_->iterations_in_flight = iterations_in_flight_;
  CheckHistograms(*recorder_);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    delivered_operations_[i].Add(recorder_->operations[i].counters);
  }
  delivered_iterations_.Add(recorder_->iterations);
  delivered_responses_ += CountOf(recorder_->Response());
  std::unique_ptr<stats::IntervalRecorder> next = mailbox_->TakeRecorder();
  if (next == nullptr) next = NewRecorder();
  IntervalEvent event;
  event.worker = worker_;
  event.part = part_;
  event.index = index_++;
  event.recorder = std::exchange(recorder_, std::move(next));
  mailbox_->Post(std::move(event));
}

void PartRecorder::Finish(Nanos now) {
  if (finished_) return;
  CloseDue(now);
  CloseInterval();
  boundary_ = INT64_MAX;
  finished_ = true;
}

void PartRecorder::EndIteration(bool ok, Nanos response_time) {
  --iterations_in_flight_;
  if (ok) {
    ++recorder_->iterations.ok;
    ++iterations_.ok;
    recorder_->RecordResponse(response_time);
  } else {
    ++recorder_->iterations.failed;
    ++iterations_.failed;
  }
}

void PartRecorder::AbandonIteration() {
  --iterations_in_flight_;
  ++recorder_->iterations.abandoned;
  ++iterations_.abandoned;
}

void PartRecorder::EndOperation(std::size_t operation, const drivers::OpResult& result,
                                Nanos latency, Nanos end, std::uint32_t node) {
  CloseDue(end);
  last_end_ = std::max(last_end_, end);
  --in_flight_;
  recorder_->RecordOperation(operation, result.outcome, latency);
  stats::BasicStats<std::uint32_t>::PerOperation& interval = recorder_->operations[operation];
  interval.counters.rows += result.rows;
  interval.counters.bytes += result.bytes;
  stats::OperationCounters& total = operations_[operation];
  total.Count(result.outcome);
  total.rows += result.rows;
  total.bytes += result.bytes;
  // Of those that were answered.
  if (const std::uint32_t asked = keys_asked_[operation];
      asked != 0 && result.outcome <= Outcome::kMiss) {
    const std::uint32_t found =
        asked == 1 ? (result.outcome == Outcome::kOk ? 1 : 0) : std::min(result.rows, asked);
    interval.counters.CountKeys(asked, found);
    total.CountKeys(asked, found);
  }
  if (node != kNoNode && result.outcome <= Outcome::kBroken) {
    recorder_->RecordOnNode(node, result.outcome, latency, result.rows, result.bytes);
  }
  if (!result.warning.empty()) [[unlikely]] {
    interval.errors.Count("warning", Outcome::kOk, result.warning);
  }
  if (result.outcome > Outcome::kMiss || result.reprepared) [[unlikely]] {
    if (result.reprepared) ++recorder_->reprepares;
    if (!result.code.empty()) interval.errors.Count(result.code, result.outcome, result.text);
  }
}

void PartRecorder::CheckIdentities() const {
  CAVALRY_CHECK(in_flight_ == 0);
  CAVALRY_CHECK(iterations_in_flight_ == 0);
  CAVALRY_CHECK(iterations_.balanced());
  CAVALRY_CHECK(delivered_iterations_ == iterations_);
  // Not of one interval: an iteration can end in the one after its last operation.
  CAVALRY_CHECK(delivered_responses_ == iterations_.ok);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    CAVALRY_CHECK(operations_[i].balanced());
    CAVALRY_CHECK(delivered_operations_[i] == operations_[i]);
  }
}

}  // namespace cavalry::run
