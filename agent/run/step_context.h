// What one worker's sessions record into and take their iterations from, whatever their client
// model. Made on the worker's thread; outlives the sessions. Where several threads run sessions
// (blocking clients) all of it is guarded by `mutex`; elsewhere there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "agent/load/ledger.h"
#include "agent/run/issuer.h"
#include "agent/run/part_recorder.h"
#include "agent/run/shared_run.h"
#include "core/base/clock.h"
#include "core/base/random.h"

namespace cavalry::run {

struct StepContext {
  StepContext(SharedRun* shared_in, std::uint32_t worker_in);

  // Ends the step with this text (the first counts); on all workers.
  void SetFatal(std::string_view text);
  // Where connects are recorded: those before the start instant belong to measure.
  stats::IntervalRecorder& connect_interval();
  // Holds the mutex, if there is one.
  std::unique_lock<std::mutex> Lock() {
    return mutex == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*mutex);
  }

  SharedRun& shared;
  const LoadPlan& plan;
  const std::uint32_t worker;
  std::mutex* mutex = nullptr;
  Nanos now;  // the last reading of the clock
  PartRecorder warmup;
  PartRecorder measure;
  Issuer issuer;
  std::unique_ptr<load::Ledger> ledger;  // null: not kept
  RandomStream jitter;
  Status fatal;
  const bool transactions;  // the script has some
  bool tracing;             // some of the agent's operations are still to be traced
};

}  // namespace cavalry::run
