#include "agent/run/blocking_session.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace cavalry::run {
namespace {

// steady_clock is CLOCK_MONOTONIC.
std::chrono::steady_clock::time_point TimePoint(Nanos instant) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(instant));
}

}  // namespace

BlockingSession::BlockingSession(BlockingShared* shared, FramePool* frames, std::uint32_t number,
                                 std::unique_ptr<drivers::BlockingClient> client)
    : ScriptSlot(&shared->context, number),
      shared_(shared),
      per_iteration_(shared->context.plan.connect_per_iteration),
      client_(std::move(client)),
      task_(RunSession(frames, this)) {
  task_.Resume();  // to its first wait
}

void BlockingSession::SetConnected(bool connected) {
  if (connected_ == connected) return;
  connected_ = connected;
  if (per_iteration_) return;
  StepContext& context = shared_->context;
  if (connected) {
    ++shared_->ready_sessions;
    context.shared.ready_sessions.fetch_add(1, std::memory_order_relaxed);
  } else {
    context.shared.ready_sessions.fetch_sub(1, std::memory_order_relaxed);
    if (--shared_->ready_sessions == 0) context.issuer.GiveBack();
  }
}

void BlockingSession::Connect(std::unique_lock<std::mutex>& lock) {
  StepContext& context = shared_->context;
  connecting_ = true;
  lock.unlock();
  const Nanos begin = MonotonicNow();
  const drivers::OpResult result = client_->Connect();
  const Nanos end = MonotonicNow();
  lock.lock();
  connecting_ = false;
  if (shared_->abandoned) return;
  context.now = end;
  stats::IntervalRecorder& interval = context.connect_interval();
  if (result.outcome == Outcome::kOk) {
    interval.RecordConnect(end - begin);
    if (ever_connected_ && !per_iteration_) ++interval.reconnects;
    ever_connected_ = true;
    failed_attempts_ = 0;
    SetConnected(true);
    return;
  }
  ++failed_attempts_;
  last_error_ = fmt::format("{} {}", result.code, result.text);
  interval.connect_errors.Count(result.code, result.outcome, result.text);
  if (result.severity == Severity::kFatal) {
    context.SetFatal(fmt::format("connect: {}", last_error_));
  }
}

void BlockingSession::RunIteration(std::unique_lock<std::mutex>& lock, const Issue& issue) {
  BeginIteration(issue);
  lock.unlock();
  task_.Resume();
  lock.lock();
}

void BlockingSession::Abandon(Nanos now) {
  if (in_iteration()) RecordAbandoned(std::exchange(executing_, false), now);
}

void BlockingSession::Close(bool farewell) {
  LoseTransaction();
  if (farewell) client_->Close();
}

bool BlockingSession::DoTakeConnections() {
  auto lock = step_context_.Lock();
  if (shared_->abandoned) return false;
  Connect(lock);
  if (shared_->abandoned) return false;
  if (!connected_) NoteUnreachable();
  return true;
}

bool BlockingSession::DoGiveBack() {
  // Also after an attempt that failed: whatever there is of a connection is closed.
  client_->Close();
  const auto lock = step_context_.Lock();
  SetConnected(false);
  return true;
}

bool BlockingSession::DoConnected() {
  auto lock = step_context_.Lock();
  while (!connected_) {
    const Nanos due = MonotonicNow() + NextBackOff();
    shared_->changed.wait_until(lock, TimePoint(due), [this] { return shared_->abandoned; });
    if (!shared_->abandoned) Connect(lock);
    if (shared_->abandoned) return false;
  }
  return !shared_->abandoned;
}

bool BlockingSession::DoExecute() {
  {
    const auto lock = step_context_.Lock();
    if (shared_->abandoned) return false;
    executing_ = true;
    RecordBegin();
  }
  const drivers::OpResult result = client_->Run(operation());
  const Nanos end = MonotonicNow();
  const auto lock = step_context_.Lock();
  if (shared_->abandoned) return false;  // it was counted so
  executing_ = false;
  if (OperationTrace* const traced = trace()) [[unlikely]] {
    traced->AddSent(client_->request_text());
  }
  RecordEnd(result, end);
  if (result.severity != Severity::kNormal) [[unlikely]] {
    LoseTransaction();
    SetConnected(false);
  } else {
    back_off_.Reset();
  }
  return true;
}

bool BlockingSession::DoRefuse(const drivers::OpResult& result) {
  const auto lock = step_context_.Lock();
  if (shared_->abandoned) return false;
  RecordBegin();
  RecordEnd(result, start());
  return true;
}

bool BlockingSession::DoSleep(Nanos duration) {
  auto lock = step_context_.Lock();
  const auto until = TimePoint(MonotonicNow() + duration);
  shared_->changed.wait_until(lock, until,
                              [this] { return shared_->abandoned || shared_->ending; });
  return !shared_->abandoned;
}

void BlockingSession::DropConnections() {
  client_->Close();
  const auto lock = step_context_.Lock();
  SetConnected(false);
}

}  // namespace cavalry::run
