#include "agent/run/step_context.h"

#include <vector>

#include "agent/run/loop.h"

namespace cavalry::run {
namespace {

// Keys that one operation asks for, by operation; 0 for all that look none up.
std::vector<std::uint32_t> KeysAsked(const LoadPlan& plan) {
  std::vector<std::uint32_t> keys;
  for (const drivers::OperationPlan& operation : plan.operations) {
    const bool read = operation.kind == drivers::OperationKind::kRead;
    const bool multi_read = operation.kind == drivers::OperationKind::kMultiRead;
    keys.push_back(read ? 1 : multi_read ? operation.batch : 0);
  }
  return keys;
}

// Labels of the endpoints, where they are nodes.
std::vector<std::string> NodesOf(const drivers::ClientFactory& clients) {
  std::vector<std::string> labels;
  const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&clients);
  if (codecs == nullptr || !(*codecs)->endpoints_are_nodes()) return labels;
  for (const drivers::Endpoint& endpoint : (*codecs)->endpoints()) labels.push_back(endpoint.label);
  return labels;
}

}  // namespace

StepContext::StepContext(SharedRun* shared_in, std::uint32_t worker_in)
    : shared(*shared_in),
      plan(shared_in->plan),
      worker(worker_in),
      now(MonotonicNow()),
      warmup(Part::kWarmup, worker_in, KeysAsked(plan), plan.response_is_service(),
             NodesOf(shared_in->clients), &shared_in->mailbox),
      measure(Part::kMeasure, worker_in, KeysAsked(plan), plan.response_is_service(),
              NodesOf(shared_in->clients), &shared_in->mailbox),
      issuer(shared_in, &warmup, &measure),
      jitter(static_cast<std::uint64_t>(now), worker_in, 0),
      transactions(plan.script.rollback.has_value()),
      tracing(plan.trace > 0) {
  if (plan.keep_ledger) ledger = std::make_unique<load::Ledger>(plan.tables.size());
}

void StepContext::SetFatal(std::string_view text) {
  if (!fatal.ok()) return;
  fatal = Unavailable("{}", text);
  issuer.Stop(now);
  shared.RaiseStop(StopLevel::kDrain);
}

stats::IntervalRecorder& StepContext::connect_interval() {
  // Without a warm-up its recorder is delivered nowhere, and a thread may have read the clock right
  // before the start instant was known.
  const bool in_warmup =
      plan.warmup > 0 && issuer.measure_start() != kNever && now < issuer.measure_start();
  return in_warmup ? warmup.interval() : measure.interval();
}

}  // namespace cavalry::run
