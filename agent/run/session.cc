#include "agent/run/session.h"

#include <utility>

#include "agent/run/connection_pool.h"
#include "agent/run/shared_connections.h"
#include "agent/run/worker_context.h"
#include "core/base/check.h"

namespace cavalry::run {

SessionSlot::SessionSlot(WorkerContext* context, Session* session, std::uint32_t ticket)
    : ScriptSlot(context, session->number()),
      context_(context),
      session_(session),
      ticket_(ticket),
      set_(session->set()),
      task_(RunSession(&context->frames, this)) {
  task_.Resume();  // to its first wait
}

bool SessionSlot::Wait(State state) {
  within_ = false;
  if (state_ != state) return true;  // it came from within
  return false;
}

void SessionSlot::GoOn() {
  state_ = State::kRunning;
  if (!within_) context_->ready.PushBack(this);
}

bool SessionSlot::DoNextIssue() {
  Issue issue;
  if (!ended_within_ && session_->usable() && context_->issuer.Next(context_->now, &issue)) {
    BeginIteration(issue);
    return true;
  }
  state_ = State::kIdle;
  if (ended_within_) {
    // Operations that end at once, without the server, must not keep the loop from turning.
    ended_within_ = false;
    context_->yielded.PushBack(this);
  } else if (session_->usable()) {
    context_->idle.PushBack(this);
  }
  return false;
}

bool SessionSlot::DoTakeConnections() {
  state_ = State::kTaking;
  within_ = true;
  if (context_->pool != nullptr) {
    context_->pool->Take(this);
  } else {
    set_->OpenOnce();
  }
  return Wait(State::kTaking);
}

bool SessionSlot::DoGiveBack() {
  state_ = State::kGivingBack;
  within_ = true;
  if (context_->pool == nullptr) {
    set_->Close(true);
  } else if (PoolConnection* const connection = std::exchange(pooled_, nullptr)) {
    set_ = nullptr;
    context_->pool->GiveBack(connection);
  } else {
    state_ = State::kRunning;  // there was none
  }
  return Wait(State::kGivingBack);
}

bool SessionSlot::DoConnected() {
  if (set_ == nullptr ? context_->shared_connections->usable() : set_->ready()) return true;
  state_ = State::kUnconnected;
  return false;
}

bool SessionSlot::DoExecute() {
  state_ = State::kExecuting;
  within_ = true;
  ConnectionFor().Execute(this);
  ended_within_ = Wait(State::kExecuting);
  return ended_within_;
}

Connection& SessionSlot::ConnectionFor() {
  if (set_ != nullptr) return set_->For(operation());
  bool rerouted = false;
  Connection& connection = context_->shared_connections->For(operation(), &rerouted);
  if (rerouted) [[unlikely]] {
    CountRerouted();
  }
  return connection;
}

bool SessionSlot::DoRefuse(const drivers::OpResult& result) {
  RecordBegin();
  RecordEnd(result, start());
  ended_within_ = true;
  return true;
}

bool SessionSlot::DoSleep(Nanos duration) {
  state_ = State::kSleeping;
  context_->now = MonotonicNow();
  alarm_.SetAt(context_->now + duration, context_->now);
  return false;
}

void SessionSlot::DropConnections() {
  if (set_ != nullptr) set_->Reconnect();
}

void SessionSlot::Complete(const drivers::OpResult& result, Nanos end) {
  CAVALRY_CHECK(state_ == State::kExecuting);
  RecordEnd(result, end);
  GoOn();
}

void SessionSlot::OnTaken(PoolConnection* connection) {
  pooled_ = connection;
  set_ = connection == nullptr ? nullptr : &connection->set();
  OnOpened(connection != nullptr);
}

void SessionSlot::OnOpened(bool reachable) {
  if (state_ != State::kTaking) return;
  if (!reachable) NoteUnreachable();
  GoOn();
}

void SessionSlot::OnGivenBack() {
  if (state_ == State::kGivingBack) GoOn();
}

void SessionSlot::Give(const Issue& issue) {
  BeginIteration(issue);
  GoOn();
}

void SessionSlot::OnYielded() {
  if (session_->usable()) context_->idle.PushBack(this);
}

void SessionSlot::OnUsable() {
  if (state_ == State::kIdle && alone()) context_->idle.PushBack(this);
}

void SessionSlot::OnUnusable() {
  if (state_ == State::kIdle) Unlink();
}

void SessionSlot::OnReady() {
  if (state_ == State::kUnconnected) GoOn();
}

void SessionSlot::OnLost() { LoseTransaction(); }

void SessionSlot::Abandon(Nanos now) {
  Unlink();
  alarm_.Cancel();
  RecordAbandoned(state_ == State::kExecuting, now);
  LoseTransaction();
  state_ = State::kIdle;
}

void SessionSlot::Alarm::SetAt(Nanos due, Nanos now) {
  due_ = due;
  // The wheel may be late by a fifteenth of the distance, but for the nearest ticks: so go up to
  // it.
  constexpr Nanos kNear = 4 * kMillisecond;
  const Nanos left = due - now;
  slot_->context_->wheel.Set(this, left > kNear ? due - left / 15 : due, now);
}

void SessionSlot::Alarm::OnTimer(Nanos now) {
  if (now < due_) {
    SetAt(due_, now);
  } else {
    slot_->GoOn();
  }
}

Session::Session(WorkerContext* context, std::uint32_t number)
    : context_(context), number_(number) {
  const LoadPlan& plan = context->plan;
  if (context->pool == nullptr && context->shared_connections == nullptr) {
    set_ = std::make_unique<ConnectionSet>(context, this, plan.pipeline);
  }
  for (std::uint32_t ticket = 0; ticket < plan.pipeline; ++ticket) {
    slots_.push_back(std::make_unique<SessionSlot>(context, this, ticket));
  }
}

Session::~Session() = default;

void Session::Start() {
  if (context_->plan.connect_per_iteration) {
    OnUsable();
  } else if (set_ != nullptr) {
    set_->Start();
  }
}

bool Session::never_connected() const {
  if (!context_->plan.connect_per_iteration) return !ever_usable_;
  return !set_->ever_ready() && set_->failed_attempts() > 0;
}

bool Session::Settled(std::uint32_t failed_attempts) const {
  return usable_ || set_ == nullptr || set_->failed_attempts() >= failed_attempts;
}

const std::string& Session::last_error() const {
  static const std::string kNone;
  return set_ == nullptr ? kNone : set_->last_error();
}

void Session::OnUsable() {
  usable_ = true;
  ever_usable_ = true;
  ++context_->ready_sessions;
  context_->shared.ready_sessions.fetch_add(1, std::memory_order_relaxed);
  for (const auto& slot : slots_) slot->OnUsable();
  context_->Dispatch();
}

void Session::OnUnusable() {
  usable_ = false;
  for (const auto& slot : slots_) slot->OnUnusable();
  context_->shared.ready_sessions.fetch_sub(1, std::memory_order_relaxed);
  if (--context_->ready_sessions == 0) context_->issuer.GiveBack();
}

void Session::OnSetReady() {
  const bool opened = slots_.front()->takes();
  for (const auto& slot : slots_) {
    if (opened) {
      slot->OnOpened(true);
    } else {
      slot->OnReady();
    }
  }
  if (!context_->plan.connect_per_iteration) OnUsable();
}

void Session::OnSetLost() {
  for (const auto& slot : slots_) slot->OnLost();
  if (!context_->plan.connect_per_iteration) OnUnusable();
}

void Session::OnSetUnreachable() { slots_.front()->OnOpened(false); }

void Session::OnSetClosed() { slots_.front()->OnGivenBack(); }

void Session::Abandon(Nanos now) {
  for (const auto& slot : slots_) slot->Abandon(now);
}

void Session::Close(bool farewell) {
  if (set_ != nullptr) set_->Close(farewell);
}

}  // namespace cavalry::run
