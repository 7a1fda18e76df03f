#include "agent/run/issuer.h"

#include <algorithm>

#include "agent/run/loop.h"

namespace cavalry::run {

Issuer::Issuer(SharedRun* shared, PartRecorder* warmup, PartRecorder* measure)
    : shared_(shared),
      warmup_(warmup),
      measure_(measure),
      own_warmup_numbers_(shared->plan.numbers.warmup_stride != 0),
      measure_start_(kNever),
      stop_at_(kNever) {}

void Issuer::Start(Nanos start) {
  issuing_ = true;
  measure_start_ = start + shared_->plan.warmup;
  if (shared_->plan.duration) stop_at_ = measure_start_ + *shared_->plan.duration;
}

void Issuer::Stop(Nanos now) {
  if (!issuing_) return;
  issuing_ = false;
  stopped_ = now;
}

bool Issuer::Next(Nanos now, Issue* issue) {
  if (!issuing_ || now >= stop_at_) return false;
  const bool measure = now >= measure_start_;
  load::NumberSource::Block& block =
      measure || !own_warmup_numbers_ ? measure_block_ : warmup_block_;
  if (block.count == 0 && !Refill(measure || !own_warmup_numbers_)) return false;
  issue->number = block.first;
  issue->part = measure ? measure_ : warmup_;
  issue->intended_start = 0;
  block.first += block.stride;
  --block.count;
  // Told now: whoever would ask in vain may be asleep.
  if (block.count == 0 && &block == &measure_block_ && shared_->numbers.exhausted()) SetDry();
  began_any_ = true;
  largest_number_ = std::max(largest_number_, issue->number);
  return true;
}

bool Issuer::Refill(bool measure) {
  if (!measure) {
    warmup_block_ = shared_->numbers.TakeWarmup();
    return true;
  }
  // Not dry before it takes, so that nobody can see all workers dry while it holds numbers.
  if (dry_) {
    dry_ = false;
    shared_->dry_workers.fetch_sub(1);
  }
  measure_block_ = shared_->numbers.TakeMeasure();
  if (measure_block_.count > 0) return true;
  SetDry();
  return false;
}

void Issuer::GiveBack() {
  if (measure_block_.count == 0) return;
  shared_->numbers.GiveBackMeasure(measure_block_);
  measure_block_ = {};
  SetDry();
  shared_->WakeAll();
}

void Issuer::SetDry() {
  dry_ = true;
  shared_->dry_workers.fetch_add(1);
  CheckDone();
}

void Issuer::CheckDone() {
  // In this order: whoever took the last numbers had left the dry ones before.
  if (!shared_->numbers.exhausted() || shared_->dry_workers.load() != shared_->workers) return;
  shared_->numbers_done.store(true);
  shared_->WakeAll();
}

}  // namespace cavalry::run
