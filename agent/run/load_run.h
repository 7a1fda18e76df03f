// One step's load on this agent: worker threads, their sessions and recorders. Driven by one thread
// (the assignment runner's): Create, then Next for events until Finished; StartAt and Stop at any
// time between. Workers talk to it through a mailbox only. Destroying it stops at once and joins.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "agent/load/ledger.h"
#include "agent/run/load_plan.h"
#include "core/base/status.h"
#include "core/stats/interval_recorder.h"

namespace cavalry::run {

// All sessions are connected, or have failed for good; or the connect phase's deadline passed and
// some are still trying (they go on trying during the step).
struct ArmedEvent {
  std::uint32_t connected = 0;
  std::uint32_t connecting = 0;
  stats::ErrorTable errors;
  Status fatal;  // not ok: wrong password and the like; the step cannot begin
};

enum class Part : std::uint8_t { kWarmup, kMeasure };

// A worker closed an interval. Recorders go back by Recycle(). A worker's intervals come in order:
// all of warm-up, then all of measure. Connects and their errors are in the interval of their end;
// those before the start instant are in measure's first, so that a report is the sum of its
// intervals (ArmedEvent's errors are the same ones, told early).
struct IntervalEvent {
  std::uint32_t worker = 0;
  Part part = Part::kMeasure;
  std::uint32_t index = 0;  // second since the start of the part
  std::unique_ptr<stats::IntervalRecorder> recorder;
};

// One of the first operations, as a person reads it (LoadPlan::trace).
struct TraceEvent {
  std::string text;
};

struct WorkerResult {
  // Counted apart from the intervals, over measure: a check that nothing was lost between.
  std::vector<stats::OperationCounters> operations;
  stats::IterationCounters iterations;
  Nanos last_end = 0;         // monotonic; end of the last measured operation, 0 none
  Nanos stopped_issuing = 0;  // monotonic
  Nanos cpu_user = 0, cpu_system = 0, run_queue_wait = 0;  // over measure, drain included
  Nanos wall = 0;                                          // of the same
  std::uint64_t loop_turns = 0;                            // of the same
  std::uint64_t sessions_never_connected = 0;
  stats::LatencyHistogram loop_lag;  // lateness of timers
  std::string loop;                  // "io_uring" or "epoll"; "threads" of blocking clients
  std::uint64_t largest_number = 0;  // largest iteration number begun
  bool began_any = false;
  std::unique_ptr<load::Ledger> ledger;  // null unless asked for
  Status fatal;
};

// All workers have drained. Every interval of a worker was delivered before.
struct FinishedEvent {
  std::vector<WorkerResult> workers;
  Nanos measure_start = 0;  // monotonic; when measure began on this agent; 0: never
  Nanos start_late = 0;     // begin of issuing after the asked instant
};

using LoadEvent =
    std::variant<std::monostate, ArmedEvent, IntervalEvent, TraceEvent, FinishedEvent>;

enum class StopKind : std::uint8_t { kDrain, kNow };

class LoadRun {
 public:
  // Makes loops, workers and clients, and begins connecting. `plan` must outlive it. Fails when a
  // loop cannot be made (forced io_uring that the kernel refuses) or names cannot be resolved.
  static StatusOr<std::unique_ptr<LoadRun>> Create(const LoadPlan& plan);
  ~LoadRun();

  // Waits for the next event until the monotonic `deadline`; monostate when it passed.
  LoadEvent Next(Nanos deadline);
  // Begin issuing at this monotonic instant (once; at once if it has passed).
  void StartAt(Nanos instant);
  // Drain: no new iterations. Now: those in flight are abandoned. May be called before StartAt.
  void Stop(StopKind kind);
  // Returns a recorder for reuse.
  void Recycle(std::uint32_t worker, std::unique_ptr<stats::IntervalRecorder> recorder);

 private:
  struct Impl;
  explicit LoadRun(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cavalry::run
