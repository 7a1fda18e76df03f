#include "agent/report/result_streamer.h"

#include <algorithm>
#include <set>

#include "agent/report/self_monitor.h"
#include "core/base/check.h"
#include "core/wire/histogram_codec.h"
#include "core/wire/stats_codec.h"
#include "core/wire/status_codec.h"

namespace cavalry::agent {

ResultStreamer::ResultStreamer(const run::LoadPlan& plan, std::uint32_t workers,
                               std::function<void(v1::Interval)> send)
    : plan_(plan),
      send_(std::move(send)),
      closed_by_worker_(workers),
      totals_(plan.operations.size(), plan.response_is_service()) {
  for (const auto& operation : plan.operations) names_.push_back(operation.name);
}

void ResultStreamer::OnInterval(const run::IntervalEvent& event) {
  const Key key{event.part, event.index};
  auto [open, added] = open_.try_emplace(key, plan_.operations.size(), plan_.response_is_service());
  open->second.Add(*event.recorder);
  CAVALRY_CHECK(event.worker < closed_by_worker_.size());
  closed_by_worker_[event.worker] = {true, key};
  while (!open_.empty()) {
    const Key first = open_.begin()->first;
    const bool complete =
        std::all_of(closed_by_worker_.begin(), closed_by_worker_.end(),
                    [&](const auto& closed) { return closed.first && closed.second >= first; });
    if (!complete) break;
    SendFirst();
  }
}

void ResultStreamer::SendFirst() {
  const auto& [key, stats] = *open_.begin();
  v1::Interval interval;
  interval.set_seq(++seq_);
  interval.set_index(key.second);
  const bool measure = key.first == run::Part::kMeasure;
  interval.set_part(measure ? v1::STEP_PART_MEASURE : v1::STEP_PART_WARMUP);
  wire::ToMessage(stats, names_, interval.mutable_stats());
  if (measure) totals_.Add(stats);
  open_.erase(open_.begin());
  send_(std::move(interval));
}

namespace {

void AddNextNumbers(const run::LoadPlan& plan, std::uint64_t numbers, v1::StepReport* report) {
  std::uint64_t update_slots = 0;
  std::set<std::uint32_t> told;
  for (const load::OperationRecipe& recipe : plan.recipes) {
    if (recipe.plan->kind == drivers::OperationKind::kUpdate) update_slots = recipe.update_slots;
    if (recipe.plan->kind != drivers::OperationKind::kInsert) continue;
    // All inserts into one table draw from one sequence.
    if (!told.insert(recipe.table).second) continue;
    v1::TableKey* next = report->add_next_keys();
    next->set_table(recipe.plan->table->name);
    next->set_key(recipe.insert_first + plan.script.BlocksOf(numbers) * recipe.insert_slots);
  }
  report->set_next_version(plan.next_version + numbers * update_slots);
}

}  // namespace

v1::StepReport ResultStreamer::Finish(const run::FinishedEvent& finished) {
  while (!open_.empty()) SendFirst();
  // A step's totals have nothing in flight: each interval's figure was of its own end.
  totals_.in_flight = 0;
  totals_.iterations_in_flight = 0;

  v1::StepReport report;
  report.set_seq(++seq_);
  stats::LatencyHistogram loop_lag;
  std::vector<stats::OperationCounters> counted(plan_.operations.size());
  stats::IterationCounters iterations;
  Nanos last_end = finished.measure_start;
  Nanos stopped = finished.measure_start;
  std::uint64_t numbers = 0;
  std::uint64_t never_connected = 0;
  for (const run::WorkerResult& worker : finished.workers) {
    ToMessage(worker, report.add_workers());
    loop_lag.Add(worker.loop_lag);
    for (std::size_t i = 0; i < worker.operations.size(); ++i) counted[i].Add(worker.operations[i]);
    iterations.Add(worker.iterations);
    last_end = std::max(last_end, worker.last_end);
    stopped = std::max(stopped, worker.stopped_issuing);
    if (worker.began_any) numbers = std::max(numbers, worker.largest_number + 1);
    never_connected += worker.sessions_never_connected;
    if (!worker.loop.empty()) report.set_loop(worker.loop);
    if (!worker.fatal.ok() && report.fatal().code() == 0) {
      wire::ToMessage(worker.fatal, report.mutable_fatal());
    }
  }
  for (std::size_t i = 0; i < counted.size(); ++i) {
    CAVALRY_CHECK(counted[i] == totals_.operations[i].counters);
    CAVALRY_CHECK(counted[i].balanced());
  }
  CAVALRY_CHECK(iterations == totals_.iterations);
  wire::ToMessage(totals_, names_, report.mutable_totals());
  wire::ToMessage(loop_lag, report.mutable_loop_lag());
  if (finished.measure_start != 0) {
    report.set_duration_ns(static_cast<std::uint64_t>(last_end - finished.measure_start));
    report.set_issuing_ns(static_cast<std::uint64_t>(stopped - finished.measure_start));
  }
  report.set_start_late_ns(finished.start_late);
  report.set_max_rss_bytes(PeakResidentBytes());
  report.set_sessions_never_connected(never_connected);
  report.set_pipeline(plan_.pipeline);
  AddNextNumbers(plan_, numbers, &report);
  return report;
}

}  // namespace cavalry::agent
