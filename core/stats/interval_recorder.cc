#include "core/stats/interval_recorder.h"

#include <algorithm>

#include "core/base/check.h"

namespace cavalry::stats {
namespace {

template <typename Count, typename Other>
void AddHistogram(const std::unique_ptr<BasicLatencyHistogram<Other>>& from,
                  std::unique_ptr<BasicLatencyHistogram<Count>>* to) {
  if (from == nullptr || from->count() == 0) return;
  if (*to == nullptr) *to = std::make_unique<BasicLatencyHistogram<Count>>();
  (*to)->Add(*from);
}

template <typename Count>
void ClearHistogram(const std::unique_ptr<BasicLatencyHistogram<Count>>& histogram) {
  if (histogram != nullptr) histogram->Clear();
}

template <typename Count>
void ClearOperation(typename BasicStats<Count>::PerOperation* operation) {
  operation->counters = {};
  OperationHistograms<Count>& histograms = operation->histograms;
  for (const auto* histogram : {&histograms.ok, &histograms.miss, &histograms.rejected,
                                &histograms.timeout, &histograms.broken}) {
    ClearHistogram(*histogram);
  }
  operation->errors.Clear();
}

template <typename Count, typename Other>
void AddOperation(const typename BasicStats<Other>::PerOperation& from,
                  typename BasicStats<Count>::PerOperation* to) {
  to->counters.Add(from.counters);
  AddHistogram(from.histograms.ok, &to->histograms.ok);
  AddHistogram(from.histograms.miss, &to->histograms.miss);
  AddHistogram(from.histograms.rejected, &to->histograms.rejected);
  AddHistogram(from.histograms.timeout, &to->histograms.timeout);
  AddHistogram(from.histograms.broken, &to->histograms.broken);
  to->errors.Add(from.errors);
}

}  // namespace

template <typename Count>
const BasicLatencyHistogram<Count>* OperationHistograms<Count>::Get(Outcome outcome) const {
  const std::unique_ptr<Histogram>* slot =
      const_cast<OperationHistograms*>(this)->Slot(outcome);  // only looked at
  if (slot == nullptr || *slot == nullptr || (*slot)->count() == 0) return nullptr;
  return slot->get();
}

template <typename Count>
BasicStats<Count>::BasicStats(std::size_t operation_count, bool response_is_service_in)
    : operations(operation_count), response_is_service(response_is_service_in) {}

template <typename Count>
void BasicStats<Count>::Clear() {
  for (PerOperation& operation : operations) ClearOperation<Count>(&operation);
  for (PerNode& node : nodes) ClearOperation<Count>(&node.stats);
  iterations = {};
  ClearHistogram(response);
  ClearHistogram(connect);
  connect_errors.Clear();
  reconnects = 0;
  reprepares = 0;
  retries = 0;
  rerouted = 0;
  in_flight = 0;
  iterations_in_flight = 0;
}

template <typename Count>
template <typename Other>
void BasicStats<Count>::Add(const BasicStats<Other>& other) {
  CAVALRY_CHECK(operations.size() == other.operations.size());
  if (response_is_service && !other.response_is_service) {
    const Histogram* so_far = Response();
    if (so_far != nullptr) response = std::make_unique<Histogram>(*so_far);
    response_is_service = false;
  }
  if (!response_is_service && other.response_is_service) {
    if (const auto* responses = other.Response()) {
      if (response == nullptr) response = std::make_unique<Histogram>();
      response->Add(*responses);
    }
  }
  AddHistogram(other.response, &response);
  AddHistogram(other.connect, &connect);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    AddOperation<Count, Other>(other.operations[i], &operations[i]);
  }
  for (const auto& node : other.nodes) {
    auto to = std::find_if(nodes.begin(), nodes.end(),
                           [&](const PerNode& known) { return known.label == node.label; });
    if (to == nodes.end()) {
      nodes.emplace_back();
      to = nodes.end() - 1;
      to->label = node.label;
    }
    AddOperation<Count, Other>(node.stats, &to->stats);
  }
  iterations.Add(other.iterations);
  connect_errors.Add(other.connect_errors);
  reconnects += other.reconnects;
  reprepares += other.reprepares;
  retries += other.retries;
  rerouted += other.rerouted;
  in_flight += other.in_flight;
  iterations_in_flight += other.iterations_in_flight;
}

template <typename Count>
OperationCounters BasicStats<Count>::TotalOperations() const {
  OperationCounters total;
  for (const PerOperation& operation : operations) total.Add(operation.counters);
  return total;
}

template <typename Count>
const BasicLatencyHistogram<Count>* BasicStats<Count>::Response() const {
  if (!response_is_service) {
    return response != nullptr && response->count() > 0 ? response.get() : nullptr;
  }
  // A spec may name operations that this script does not use.
  for (const PerOperation& operation : operations) {
    if (const Histogram* ok = operation.histograms.Get(Outcome::kOk)) return ok;
  }
  return nullptr;
}

template struct OperationHistograms<std::uint32_t>;
template struct OperationHistograms<std::uint64_t>;
template struct BasicStats<std::uint32_t>;
template struct BasicStats<std::uint64_t>;
template void BasicStats<std::uint32_t>::Add(const BasicStats<std::uint32_t>& other);
template void BasicStats<std::uint64_t>::Add(const BasicStats<std::uint32_t>& other);
template void BasicStats<std::uint64_t>::Add(const BasicStats<std::uint64_t>& other);

}  // namespace cavalry::stats
