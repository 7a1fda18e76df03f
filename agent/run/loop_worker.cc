#include "agent/run/worker.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/run/thread_priority.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

// How often the loop's lag is probed.
constexpr Nanos kProbeDistance = 20 * kMillisecond;
// The slot of an operation that began right before the end of issuing must be able to time out: a
// counted run waits for all its operations. The margin is that of the timers.
constexpr Nanos kTimerMargin = kMillisecond;
// A farewell has its own, shorter deadline; this one only bounds the loop.
constexpr Nanos kCloseBound = 3 * kSecond;

}  // namespace

Worker::Worker(SharedRun* shared, std::uint32_t index, std::uint32_t first_session,
               std::uint32_t sessions)
    : shared_(*shared), index_(index), first_session_(first_session), session_count_(sessions) {
  instants_.fill(kNever);
}

void Worker::Run() {
  // Signals are for the main thread. Waking exactly costs nothing here.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_TIMERSLACK, 1);
  if (shared_.plan.realtime) TakeRealtimePriority();

  LoopOptions options;
  options.kind = shared_.plan.loop;
  options.streams = session_count_ * 2;
  StatusOr<std::unique_ptr<Loop>> loop = NewLoop(options);
  if (!loop.ok()) {
    shared_.mailbox.Post(ReadyMail{loop.status()});
    return;
  }
  const auto* pollable = std::get_if<std::unique_ptr<drivers::PollableFactory>>(&shared_.clients);
  if (pollable != nullptr) (*pollable)->EnterThread();
  context_ = std::make_unique<WorkerContext>(&shared_, index_, *std::move(loop));
  shared_.mailbox.Post(ReadyMail{absl::OkStatus()});
  Main();
  sessions_.clear();
  context_->loop->RemoveWatch(wake_watch_);
  context_.reset();
  if (pollable != nullptr) (*pollable)->LeaveThread();
}

void Worker::Main() {
  WorkerContext& context = *context_;
  wake_watch_ = context.loop->AddWatch(this);
  context.loop->ArmWatch(wake_watch_, shared_.wake_fds[index_].get(), POLLIN, true);
  for (std::uint32_t i = 0; i < session_count_; ++i) {
    sessions_.push_back(std::make_unique<Session>(&context, first_session_ + i));
    sessions_.back()->Start();
  }
  // Pacing, one whole attempt and what it takes to try again.
  const double rate = std::max(shared_.plan.connect_rate, 1.0);
  const auto pacing = static_cast<Nanos>(
      static_cast<double>(kSecond) * static_cast<double>(session_count_) * shared_.workers / rate);
  Set(kArmDeadline, context.now + pacing + shared_.plan.connect_timeout + kSecond);
  ReadCommands();
  MaybeArm(false);  // an agent without a share has nothing to wait for
  while (TurnOnce()) {
  }
  CloseConnections();
  PostResult();
}

bool Worker::TurnOnce() {
  WorkerContext& context = *context_;
  const Nanos wake_at = std::min(NextInstant(), context.wheel.next());
  if (context.loop->Turn(wake_at, context.yielded.empty())) OnAlarm();
  ++turns_;
  if (!context.yielded.empty()) {
    context.now = MonotonicNow();
    // Only those that are there now: they may yield again.
    List<SessionSlot> yielded;
    while (!context.yielded.empty()) yielded.PushBack(context.yielded.PopFront());
    while (!yielded.empty()) yielded.PopFront()->OnYielded();
    context.Dispatch();
  }
  context.ResumeReady();
  context.FlushSends();
  if (!armed_) MaybeArm(false);
  if (!context.issuer.issuing()) [[unlikely]] {
    OnStopped();
    return !Drained();
  }
  return true;
}

void Worker::OnEvents(short) {
  std::uint64_t count = 0;
  const int fd = shared_.wake_fds[index_].get();
  [[maybe_unused]] const ssize_t got = ::read(fd, &count, sizeof count);
  context_->loop->ArmWatch(wake_watch_, fd, POLLIN, false);
  ReadCommands();
}

void Worker::ReadCommands() {
  WorkerContext& context = *context_;
  context.now = MonotonicNow();
  const StopLevel stop = shared_.stop.load();
  if (stop != StopLevel::kNone) {
    context.issuer.Stop(context.now);
    if (stop >= StopLevel::kNow) AbandonAll();
    return;
  }
  if (!started_) {
    const Nanos start_at = shared_.start_at.load();
    if (start_at != 0) Set(kStart, start_at);
  } else if (shared_.numbers_done.load()) {
    context.issuer.Stop(context.now);
  } else {
    context.Dispatch();  // numbers may have come back
  }
}

void Worker::Set(Instant instant, Nanos at) { instants_[instant] = at; }

Nanos Worker::NextInstant() const { return *std::min_element(instants_.begin(), instants_.end()); }

void Worker::OnAlarm() {
  const Nanos now = MonotonicNow();
  context_->now = now;
  for (std::size_t i = 0; i < kInstants; ++i) {
    const Nanos due = instants_[i];
    if (due > now) continue;
    instants_[i] = kNever;
    if (started_) loop_lag_.Record(now - due);
    OnInstant(static_cast<Instant>(i), due);
  }
  context_->wheel.Advance(now);
}

void Worker::OnInstant(Instant instant, Nanos due) {
  WorkerContext& context = *context_;
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
  WorkerContext& context = *context_;
  if (!deadline_passed && context.fatal.ok() && context.ready_sessions < session_count_) {
    // Looked at once a turn, while connecting only.
    for (const auto& session : sessions_) {
      if (!session->ready() && session->failed_attempts() < kAttemptsAwaited) return;
    }
  }
  armed_ = true;
  Set(kArmDeadline, kNever);
  ArmedMail mail;
  mail.connected = context.ready_sessions;
  mail.connecting = session_count_ - context.ready_sessions;
  mail.errors = context.measure.interval().connect_errors;
  mail.fatal = context.fatal;
  shared_.mailbox.Post(std::move(mail));
}

void Worker::BeginIssuing() {
  WorkerContext& context = *context_;
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
  context.Dispatch();
  // Others may have been faster, or there is nothing to do.
  context.issuer.CheckDone();
  if (shared_.numbers_done.load()) context.issuer.Stop(context.now);
}

void Worker::BeginMeasure(Nanos origin) {
  measuring_ = true;
  turns_ = 0;
  cpu_.Begin();
  context_->measure.Open(origin);
  Set(kInterval, context_->measure.boundary());
}

void Worker::OnProbe() {
  Set(kProbe, context_->now + kProbeDistance);
  if (shared_.plan.duration || !context_->issuer.issuing() ||
      shared_.ready_sessions.load(std::memory_order_relaxed) > 0) {
    unconnected_since_ = 0;
    return;
  }
  if (unconnected_since_ == 0) unconnected_since_ = context_->now;
  if (context_->now - unconnected_since_ < shared_.plan.give_up_unconnected) return;
  context_->SetFatal(fmt::format("no session has been connected for {} s, last: {}",
                                 static_cast<double>(shared_.plan.give_up_unconnected) / kSecond,
                                 sessions_.empty() ? "" : sessions_.front()->last_error()));
}

void Worker::OnStopped() {
  const bool stop = started_ || shared_.stop.load() != StopLevel::kNone;
  if (stopped_seen_ || !stop) return;
  stopped_seen_ = true;
  if (started_ && !measuring_) {
    // Sessions go by the clock: some may have begun to measure before the alarm that says so.
    if (context_->measure.iterations().attempted > 0) {
      OnInstant(kMeasure, context_->issuer.measure_start());
    }
    Set(kMeasure, kNever);
  }
  Set(kStart, kNever);
  Set(kStop, kNever);
  Nanos drain = shared_.plan.drain_timeout;
  if (shared_.numbers_done.load()) {
    drain = std::max(drain, shared_.plan.operation_timeout * 17 / 16 + kTimerMargin);
  }
  Set(kDrained, context_->now + drain);
}

bool Worker::Drained() const {
  if (!stopped_seen_) return false;
  return abandoned_ ||
         context_->warmup.iterations_in_flight() + context_->measure.iterations_in_flight() == 0;
}

void Worker::AbandonAll() {
  if (abandoned_) return;
  abandoned_ = true;
  context_->issuer.Stop(context_->now);
  const bool farewell = shared_.stop.load() != StopLevel::kQuit;
  for (const auto& session : sessions_) {
    session->Abandon(MonotonicNow());
    session->Close(farewell);  // so that no answer comes any more
  }
}

void Worker::CloseConnections() {
  WorkerContext& context = *context_;
  context.now = MonotonicNow();
  if (measuring_) {
    context.measure.Finish(context.now);
  } else if (started_ && session_count_ > 0) {
    context.warmup.Finish(context.now);
  }
  if (measuring_) usage_ = cpu_.End();
  instants_.fill(kNever);
  const bool farewell = shared_.stop.load() != StopLevel::kQuit;
  for (const auto& session : sessions_) session->Close(farewell);
  const Nanos bound = context.now + kCloseBound;
  while (!std::all_of(sessions_.begin(), sessions_.end(), [](const auto& session) {
    return session->closed();
  }) && context.now < bound) {
    if (context.loop->Turn(std::min(bound, context.wheel.next()), true)) {
      context.now = MonotonicNow();
      context.wheel.Advance(context.now);
    }
  }
}

void Worker::PostResult() {
  WorkerContext& context = *context_;
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
  result.cpu_user = usage_.user;
  result.cpu_system = usage_.system;
  result.run_queue_wait = usage_.run_queue_wait;
  result.wall = usage_.wall;
  result.loop_turns = turns_;
  for (const auto& session : sessions_) {
    if (!session->ever_ready()) ++result.sessions_never_connected;
  }
  result.loop_lag = std::move(loop_lag_);
  result.loop = context.loop->name();
  result.largest_number = context.issuer.largest_number();
  result.began_any = context.issuer.began_any();
  result.ledger = std::move(context.ledger);
  result.fatal = context.fatal;
  shared_.mailbox.Post(std::move(mail));
}

}  // namespace cavalry::run
