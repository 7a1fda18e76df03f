#include "agent/run/worker.h"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/run/back_off.h"
#include "agent/run/thread_priority.h"

namespace cavalry::run {
namespace {

// How often the loop's lag is probed.
constexpr Nanos kProbeDistance = 20 * kMillisecond;
// Timers are late by at most so much.
constexpr Nanos kTimerMargin = kMillisecond;

Nanos LongestPass(const LoadPlan& plan, std::size_t first, std::size_t end) {
  Nanos longest = 0;
  for (std::size_t step = first; step < end; ++step) {
    const Nanos sleep = plan.script.steps[step].sleep;
    longest += sleep > 0 ? sleep : plan.operation_timeout * 17 / 16 + kTimerMargin;
  }
  return longest;
}

}  // namespace

Nanos LongestIteration(const LoadPlan& plan) {
  Nanos longest = 0;
  if (plan.script.variants.empty()) longest = LongestPass(plan, 0, plan.script.steps.size());
  for (const load::ScriptVariant& variant : plan.script.variants) {
    longest = std::max(longest, LongestPass(plan, variant.first, variant.first + variant.count));
  }
  // Each retry may follow a rollback and a wait.
  if (plan.script.rollback) longest += plan.operation_timeout * 17 / 16;
  longest = longest * (Nanos{plan.retries} + 1) + kLongestRetryWait * plan.retries;
  if (plan.connect_per_iteration) longest += plan.connect_timeout;
  if (!plan.pool_size) return longest;
  // Its last sessions wait until all others had the connections.
  const Nanos rounds = (Nanos{plan.sessions} + *plan.pool_size) / std::max(*plan.pool_size, 1U);
  return (longest + plan.connect_timeout) * rounds;
}

Worker::Worker(SharedRun* shared, std::uint32_t index, std::uint32_t first_session,
               std::uint32_t sessions)
    : shared_(*shared), index_(index), first_session_(first_session), session_count_(sessions) {
  instants_.fill(kNever);
}

void Worker::PrepareThread(bool realtime) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_TIMERSLACK, 1);
  if (realtime) TakeRealtimePriority();
}

void Worker::BeginArming(StepContext* context) {
  step_ = context;
  // Pacing, one whole attempt and what it takes to try again.
  const double rate = std::max(shared_.plan.connect_rate, 1.0);
  const auto pacing = static_cast<Nanos>(
      static_cast<double>(kSecond) * static_cast<double>(session_count_) * shared_.workers / rate);
  Set(kArmDeadline, context->now + pacing + shared_.plan.connect_timeout + kSecond);
  ReadCommands();
  MaybeArm(false);  // an agent without a share has nothing to wait for
}

Nanos Worker::NextInstant() const { return *std::min_element(instants_.begin(), instants_.end()); }

bool Worker::GoOn() {
  if (!armed_) MaybeArm(false);
  if (!step_->issuer.issuing()) [[unlikely]] {
    OnStopped();
    return !Drained();
  }
  return true;
}

void Worker::ReadCommands() {
  step_->now = MonotonicNow();
  const StopLevel stop = shared_.stop.load();
  if (stop != StopLevel::kNone) {
    step_->issuer.Stop(step_->now);
    if (stop >= StopLevel::kNow) AbandonAll();
    return;
  }
  if (!started_) {
    const Nanos start_at = shared_.start_at.load();
    if (start_at != 0) Set(kStart, start_at);
  } else if (shared_.numbers_done.load()) {
    step_->issuer.Stop(step_->now);
  } else {
    Dispatch();  // numbers may have come back
  }
}

void Worker::RingDue(Nanos now) {
  step_->now = now;
  for (std::size_t i = 0; i < kInstants; ++i) {
    const Nanos due = instants_[i];
    if (due > now) continue;
    instants_[i] = kNever;
    if (started_) loop_lag_.Record(now - due);
    OnInstant(static_cast<Instant>(i), due);
  }
}

void Worker::OnInstant(Instant instant, Nanos due) {
  StepContext& context = *step_;
  switch (instant) {
    case kArmDeadline:
      MaybeArm(true);
      break;
    case kStart:
      BeginIssuing();
      break;
    case kMeasure:
      context.warmup.Finish(context.now);
      BeginMeasure(due);
      break;
    case kInterval: {
      PartRecorder& part = measuring_ ? context.measure : context.warmup;
      part.CloseDue(context.now);
      Set(kInterval, part.boundary());
      break;
    }
    case kStop:
      context.issuer.Stop(context.now);
      break;
    case kDrained:
      AbandonAll();
      break;
    case kProbe:
      OnProbe();
      break;
    case kInstants:
      break;
  }
}

void Worker::MaybeArm(bool deadline_passed) {
  if (armed_) return;
  StepContext& context = *step_;
  // Looked at once a turn, while connecting only.
  if (!deadline_passed && context.fatal.ok() && !AllConnected() && !Settled()) return;
  armed_ = true;
  Set(kArmDeadline, kNever);
  ArmedMail mail;
  mail.connected = ready_sessions();
  mail.connecting = session_count_ - ready_sessions();
  mail.errors = context.measure.interval().connect_errors;
  mail.fatal = context.fatal;
  shared_.mailbox.Post(std::move(mail));
}

void Worker::BeginIssuing() {
  StepContext& context = *step_;
  if (started_ || shared_.stop.load() != StopLevel::kNone) return;
  started_ = true;
  began_ = context.now;
  const Nanos start = shared_.start_at.load();
  context.issuer.Start(start);
  if (session_count_ == 0) {
    context.issuer.Stop(context.now);  // an agent without a share: no part begins
    return;
  }
  Set(kProbe, context.now + kProbeDistance);
  Set(kStop, context.issuer.stop_at());
  if (shared_.plan.warmup > 0) {
    context.warmup.Open(start);
    Set(kInterval, context.warmup.boundary());
    Set(kMeasure, context.issuer.measure_start());
  } else {
    BeginMeasure(start);
  }
  Dispatch();
  // Others may have been faster, or there is nothing to do.
  context.issuer.CheckDone();
  if (shared_.numbers_done.load()) context.issuer.Stop(context.now);
}

void Worker::BeginMeasure(Nanos origin) {
  measuring_ = true;
  turns_ = 0;
  cpu_.Begin();
  step_->measure.Open(origin);
  Set(kInterval, step_->measure.boundary());
}

void Worker::OnProbe() {
  Set(kProbe, step_->now + kProbeDistance);
  if (shared_.plan.duration || !step_->issuer.issuing() ||
      shared_.ready_sessions.load(std::memory_order_relaxed) > 0) {
    unconnected_since_ = 0;
    return;
  }
  if (unconnected_since_ == 0) unconnected_since_ = step_->now;
  if (step_->now - unconnected_since_ < shared_.plan.give_up_unconnected) return;
  step_->SetFatal(fmt::format("no session has been connected for {} s, last: {}",
                              static_cast<double>(shared_.plan.give_up_unconnected) / kSecond,
                              LastError()));
}

void Worker::OnStopped() {
  const bool stop = started_ || shared_.stop.load() != StopLevel::kNone;
  if (stopped_seen_ || !stop) return;
  stopped_seen_ = true;
  if (started_ && !measuring_) {
    // Sessions go by the clock: some may have begun to measure before the alarm that says so.
    if (step_->measure.iterations().attempted > 0) {
      OnInstant(kMeasure, step_->issuer.measure_start());
    }
    Set(kMeasure, kNever);
  }
  Set(kStart, kNever);
  Set(kStop, kNever);
  Nanos drain = shared_.plan.drain_timeout;
  // A counted run waits for all its operations.
  if (shared_.numbers_done.load()) drain = std::max(drain, LongestIteration(shared_.plan));
  Set(kDrained, step_->now + drain);
}

bool Worker::Drained() const {
  if (!stopped_seen_) return false;
  return abandoned_ ||
         step_->warmup.iterations_in_flight() + step_->measure.iterations_in_flight() == 0;
}

void Worker::AbandonAll() {
  if (abandoned_) return;
  abandoned_ = true;
  step_->issuer.Stop(step_->now);
  AbandonSessions(shared_.stop.load() != StopLevel::kQuit);
}

void Worker::EndMeasure() {
  step_->now = MonotonicNow();
  if (measuring_) {
    step_->measure.Finish(step_->now);
    usage_ = cpu_.End();
  } else if (started_ && session_count_ > 0) {
    step_->warmup.Finish(step_->now);
  }
  instants_.fill(kNever);
}

void Worker::PostResult(std::string loop, const CpuMeter::Usage& of_sessions) {
  StepContext& context = *step_;
  if (measuring_) context.measure.CheckIdentities();
  FinishedMail mail;
  mail.worker = index_;
  mail.started = began_;
  mail.measured = measuring_;
  WorkerResult& result = mail.result;
  result.operations = context.measure.operations();
  result.iterations = context.measure.iterations();
  result.last_end = context.measure.last_end();
  result.stopped_issuing = context.issuer.stopped();
  result.cpu_user = usage_.user + of_sessions.user;
  result.cpu_system = usage_.system + of_sessions.system;
  result.run_queue_wait = std::max(usage_.run_queue_wait, of_sessions.run_queue_wait);
  result.wall = usage_.wall;
  result.loop_turns = turns_;
  result.sessions_never_connected = NeverConnected();
  result.loop_lag = std::move(loop_lag_);
  result.loop = std::move(loop);
  result.largest_number = context.issuer.largest_number();
  result.began_any = context.issuer.began_any();
  result.ledger = std::move(context.ledger);
  result.fatal = context.fatal;
  shared_.mailbox.Post(std::move(mail));
}

}  // namespace cavalry::run
