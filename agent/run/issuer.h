// Gives a worker's sessions their iterations: numbers in blocks from the agent's source, the part
// that each belongs to, and the end of issuing. A closed loop: an issue is there as soon as it is
// asked for. Worker thread only.
#pragma once

#include <cstdint>

#include "agent/load/number_source.h"
#include "agent/run/part_recorder.h"
#include "agent/run/shared_run.h"
#include "core/base/clock.h"

namespace cavalry::run {

// One iteration to do.
struct Issue {
  std::uint64_t number = 0;
  PartRecorder* part = nullptr;
  Nanos intended_start = 0;  // 0 in a closed loop: the start of its first operation
};

class Issuer {
 public:
  Issuer(SharedRun* shared, PartRecorder* warmup, PartRecorder* measure);

  void Start(Nanos start);
  void Stop(Nanos now);
  bool issuing() const { return issuing_; }

  // The next iteration, if there is one now. An iteration is of measure when the clock has passed
  // measure's start. `now`: the last reading of the clock.
  bool Next(Nanos now, Issue* issue);
  // No session of this worker is connected: others may have its numbers.
  void GiveBack();
  // Ends a counted run on all workers when its last number was begun.
  void CheckDone();

  Nanos measure_start() const { return measure_start_; }
  Nanos stop_at() const { return stop_at_; }  // kNever: not by time
  Nanos stopped() const { return stopped_; }
  bool began_any() const { return began_any_; }
  std::uint64_t largest_number() const { return largest_number_; }

 private:
  bool Refill(bool measure);
  void SetDry();

  SharedRun* const shared_;
  PartRecorder* const warmup_;
  PartRecorder* const measure_;
  const bool own_warmup_numbers_;
  bool issuing_ = false;
  bool dry_ = true;
  bool began_any_ = false;
  std::uint64_t largest_number_ = 0;
  Nanos measure_start_;
  Nanos stop_at_;
  Nanos stopped_ = 0;
  load::NumberSource::Block warmup_block_;
  load::NumberSource::Block measure_block_;  // a timed run's warm-up takes from it, too
};

}  // namespace cavalry::run
