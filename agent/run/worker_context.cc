#include "agent/run/worker_context.h"

#include <utility>

#include "agent/run/connection.h"
#include "agent/run/session.h"

namespace cavalry::run {
namespace {

Nanos ConnectDistance(const LoadPlan& plan, std::uint32_t workers) {
  const double rate = plan.connect_rate > 0 ? plan.connect_rate : 1;
  return static_cast<Nanos>(static_cast<double>(kSecond) * workers / rate);
}

}  // namespace

WorkerContext::WorkerContext(SharedRun* shared_in, std::uint32_t worker_in,
                             std::unique_ptr<Loop> loop_in)
    : shared(*shared_in),
      plan(shared_in->plan),
      worker(worker_in),
      loop(std::move(loop_in)),
      now(MonotonicNow()),
      wheel(now),
      pacer(&wheel, ConnectDistance(plan, shared_in->workers), now, worker_in, shared_in->workers),
      warmup(Part::kWarmup, worker_in, plan.operations.size(), plan.response_is_service(),
             &shared_in->mailbox),
      measure(Part::kMeasure, worker_in, plan.operations.size(), plan.response_is_service(),
              &shared_in->mailbox),
      issuer(shared_in, &warmup, &measure),
      jitter(static_cast<std::uint64_t>(now), worker_in, 0) {
  if (plan.keep_ledger) ledger = std::make_unique<load::Ledger>(plan.tables.size());
}

void WorkerContext::ResumeReady() {
  while (!ready.empty()) ready.PopFront()->Resume();
}

void WorkerContext::FlushSends() {
  // By index: nothing is added while flushing, but a handler's turn may have grown it before.
  for (std::size_t i = 0; i < unflushed.size(); ++i) unflushed[i]->Flush();
  unflushed.clear();
}

void WorkerContext::Dispatch() {
  Issue issue;
  while (!idle.empty() && issuer.Next(now, &issue)) idle.PopFront()->Give(issue);
}

void WorkerContext::SetFatal(std::string_view text) {
  if (!fatal.ok()) return;
  fatal = Unavailable("{}", text);
  issuer.Stop(now);
  shared.RaiseStop(StopLevel::kDrain);
}

stats::IntervalRecorder& WorkerContext::connect_interval() {
  const bool in_warmup = issuer.measure_start() != kNever && now < issuer.measure_start();
  return in_warmup ? warmup.interval() : measure.interval();
}

}  // namespace cavalry::run
