#include "agent/run/pollable_connection.h"

#include <algorithm>
#include <utility>

#include "agent/run/session.h"
#include "agent/run/worker_context.h"

namespace cavalry::run {

PollableConnection::PollableConnection(WorkerContext* context, ConnectionOwner* owner,
                                       const drivers::PollableFactory& factory)
    : Connection(context, owner), factory_(factory), watch_(context->loop->AddWatch(this)) {}

PollableConnection::~PollableConnection() { Drop(); }

void PollableConnection::Open() {
  client_ = factory_.NewClient();
  Take(client_->StartConnect());
}

void PollableConnection::Drop() {
  // First the poll, then the descriptor. Also without a poll: the next descriptor may have the
  // number of this one.
  watching_ = false;
  context().loop->DisarmWatch(watch_);
  library_deadline_ = kNever;
  client_.reset();
}

void PollableConnection::Take(const drivers::PollStep& step) {
  library_deadline_ = kNever;
  if (step.done) {
    TakeDone(step.result);
    return;
  }
  if (step.wait.timeout > 0) {
    library_deadline_ = MonotonicNow() + step.wait.timeout;
    if (state() == State::kConnecting) SetConnectTimer(library_deadline_);
    if (state() == State::kReady) SetReadyTimer();
  }
  if (step.wait.events != 0) {
    watching_ = true;
    context().loop->ArmWatch(watch_, step.wait.fd, step.wait.events, state() == State::kConnecting);
  }
}

void PollableConnection::TakeDone(const drivers::OpResult& result) {
  switch (state()) {
    case State::kConnecting:
      if (result.outcome == Outcome::kOk) {
        BecomeReady();
      } else {
        FailAttempt(result);
      }
      break;
    case State::kReady:
      EndOperation(result);
      break;
    default:
      Drop();
      SetClosed();
      break;
  }
}

void PollableConnection::EndOperation(const drivers::OpResult& result) {
  const Nanos end = MonotonicNow();
  const bool lost = result.severity != Severity::kNormal;
  if (OperationTrace* trace = slot_->trace()) [[unlikely]] {
    trace->AddSent(client_->request_text());
  }
  std::exchange(slot_, nullptr)->Complete(result, end);
  if (lost) [[unlikely]] {
    Lose();
  } else {
    NoteProgress();
  }
}

void PollableConnection::Execute(SessionSlot* slot) {
  slot->Begin();
  slot_ = slot;
  if (!set()) {
    context().wheel.Set(this, slot->start() + context().plan.operation_timeout, slot->start());
  }
  Take(client_->Start(slot->operation()));
}

void PollableConnection::SetReadyTimer() {
  const Nanos deadline = slot_->start() + context().plan.operation_timeout;
  context().wheel.Set(this, std::min(deadline, library_deadline_), context().now);
}

void PollableConnection::OnEvents(short events) {
  watching_ = false;
  Take(client_->Continue(events, false));
  context().ResumeReady();
}

void PollableConnection::OnConnectTimer(Nanos now) {
  if (now < library_deadline_) return;
  if (std::exchange(watching_, false)) context().loop->DisarmWatch(watch_);
  SetConnectTimer(kNever);
  Take(client_->Continue(0, true));
}

void PollableConnection::OnReadyTimer(Nanos now) {
  // Set by an operation that may have ended long ago.
  if (slot_ == nullptr) return;
  if (now >= slot_->start() + context().plan.operation_timeout) {
    drivers::OpResult result;
    result.outcome = Outcome::kTimeout;
    result.severity = Severity::kReconnect;
    result.outcome_unknown = true;
    result.code = "timeout";
    result.text = "no answer within operation_timeout";
    EndOperation(result);
    return;
  }
  if (now >= library_deadline_) {
    if (std::exchange(watching_, false)) context().loop->DisarmWatch(watch_);
    Take(client_->Continue(0, true));
  }
  if (slot_ != nullptr && !set()) SetReadyTimer();
}

bool PollableConnection::BeginFarewell() {
  slot_ = nullptr;
  if (watching_) return false;  // in the middle of an operation that was abandoned
  context().wheel.Set(this, context().now + kFarewellTime, context().now);
  Take(client_->StartClose());
  return true;
}

}  // namespace cavalry::run
