#include "agent/run/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "agent/run/worker_context.h"

namespace cavalry::run {

Connection::Connection(WorkerContext* context, ConnectionOwner* owner)
    : context_(context), owner_(owner) {}

void Connection::OpenOnce() {
  once_ = true;
  was_ready_ = false;
  state_ = State::kQueued;
  context_->now = MonotonicNow();
  BeginAttempt(context_->now);
}

void Connection::Start() {
  state_ = State::kQueued;
  context_->pacer.Queue(this, context_->now);
}

void Connection::BeginAttempt(Nanos now) {
  if (state_ != State::kQueued) return;
  state_ = State::kConnecting;
  attempt_began_ = now;
  SetConnectTimer(INT64_MAX);
  Open();
}

void Connection::SetConnectTimer(Nanos at) {
  context_->wheel.Set(this, std::min(at, attempt_began_ + context_->plan.connect_timeout),
                      MonotonicNow());
}

void Connection::BecomeReady() {
  state_ = State::kReady;
  Cancel();
  context_->now = MonotonicNow();
  stats::IntervalRecorder& interval = context_->connect_interval();
  interval.RecordConnect(context_->now - attempt_began_);
  if (was_ready_) ++interval.reconnects;
  was_ready_ = true;
  failed_attempts_ = 0;
  owner_->OnConnectionReady();
}

void Connection::FailAttempt(int error) {
  FailAttempt(drivers::ErrnoResult(error, error == 0 ? Outcome::kBroken : Outcome::kNotSent));
}

void Connection::FailAttempt(const drivers::OpResult& result) {
  ++failed_attempts_;
  context_->connect_interval().connect_errors.Count(result.code, result.outcome, result.text);
  if (result.severity == Severity::kFatal) {
    context_->SetFatal(fmt::format("connect: {} {}", result.code, result.text));
  }
  owner_->NoteFailure(result);
  Drop();
  if (once_) {
    Cancel();
    SetClosed();
    owner_->OnOpenFailed();
  } else {
    TryLater();
  }
}

void Connection::Lose() {
  once_ = false;
  Drop();
  TryLater();
  owner_->OnConnectionLost();
}

void Connection::Reconnect() {
  if (ready()) Lose();
}

void Connection::TryLater() {
  state_ = State::kBackingOff;
  context_->now = MonotonicNow();
  context_->wheel.Set(this, context_->now + back_off_.Next(&context_->jitter), context_->now);
}

void Connection::SetClosed() {
  state_ = State::kClosed;
  owner_->OnConnectionClosed();
}

void Connection::OnTimer(Nanos now) {
  switch (state_) {
    case State::kConnecting:
      if (now < attempt_began_ + context_->plan.connect_timeout) {
        OnConnectTimer(now);
      } else {
        drivers::OpResult result;
        result.outcome = Outcome::kTimeout;
        result.severity = Severity::kReconnect;
        result.code = "connect_timeout";
        result.text = "not connected within connect_timeout";
        FailAttempt(result);
      }
      break;
    case State::kReady:
      OnReadyTimer(now);
      break;
    case State::kBackingOff:
      Start();
      break;
    case State::kClosing:
      Drop();
      SetClosed();
      break;
    case State::kNew:
    case State::kQueued:
    case State::kClosed:
      break;
  }
}

void Connection::Close(bool farewell) {
  if (state_ == State::kClosing || state_ == State::kClosed) return;
  if (state_ == State::kQueued) context_->pacer.Remove(this);
  const bool was_ready = state_ == State::kReady;
  Cancel();
  if (was_ready) owner_->OnReadyConnectionCloses();
  if (farewell && was_ready) {
    state_ = State::kClosing;
    if (BeginFarewell()) return;
  }
  Drop();
  SetClosed();
}

}  // namespace cavalry::run
