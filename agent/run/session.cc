#include "agent/run/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/run/channel.h"
#include "agent/run/pollable_connection.h"
#include "agent/run/worker_context.h"
#include "core/base/check.h"

namespace cavalry::run {

SessionSlot::SessionSlot(WorkerContext* context, Session* session, std::uint32_t ticket)
    : context_(context),
      session_(session),
      ticket_(ticket),
      iteration_(context->plan.operations.size()),
      task_(RunSession(&context->frames, this)) {
  task_.Resume();  // to its first wait
}

bool SessionSlot::NextIssueAwaiter::await_ready() {
  SessionSlot& self = *slot;
  if (!self.ended_within_ && self.session_->ready() &&
      self.context_->issuer.Next(self.context_->now, &self.issue_)) {
    return true;
  }
  self.state_ = State::kIdle;
  if (self.ended_within_) {
    // Operations that end at once, without the server, must not keep the loop from turning.
    self.ended_within_ = false;
    self.context_->yielded.PushBack(slot);
  } else if (self.session_->ready()) {
    self.context_->idle.PushBack(slot);
  }
  return false;
}

bool SessionSlot::ConnectedAwaiter::await_ready() {
  if (slot->session_->ready()) return true;
  slot->state_ = State::kUnconnected;
  return false;
}

bool SessionSlot::ExecuteAwaiter::await_ready() {
  SessionSlot& self = *slot;
  const LoadPlan& plan = self.context_->plan;
  self.which_ = plan.script.steps[step].operation;
  self.prepared_ =
      self.iteration_.Prepare(plan.recipes, plan.script, step, self.issue_.number,
                              self.session_->number(), plan.total_sessions, plan.next_version);
  if (self.prepared_.verify) [[unlikely]] {
    self.checker_.Expect(plan.recipes[self.which_], self.prepared_.key);
    self.prepared_.operation.rows = &self.checker_;
  }
  self.state_ = State::kExecuting;
  self.executing_within_ = true;
  self.session_->ConnectionFor(self.prepared_.operation).Execute(slot);
  self.executing_within_ = false;
  self.ended_within_ = self.state_ == State::kDone;
  return self.ended_within_;
}

void SessionSlot::Begin() {
  start_ = MonotonicNow();
  context_->now = start_;
  if (iteration_start_ == 0) iteration_start_ = start_;
  issue_.part->BeginOperation(which_, start_);
}

void SessionSlot::Complete(const drivers::OpResult& result, Nanos end) {
  CAVALRY_CHECK(state_ == State::kExecuting);
  context_->now = end;
  outcome_ = result.outcome;
  end_ = end;
  issue_.part->EndOperation(which_, result, end - start_, end);
  if (prepared_.verify && result.outcome == Outcome::kOk && !checker_.right()) [[unlikely]] {
    issue_.part->CountWrongAnswer(which_);
  }
  if (context_->ledger != nullptr) {
    load::RecordInLedger(context_->plan.recipes[which_], prepared_, result.outcome,
                         result.outcome_unknown, context_->ledger.get());
  }
  if (result.severity == Severity::kFatal) [[unlikely]] {
    context_->SetFatal(
        fmt::format("{}: {} {}", context_->plan.operations[which_].name, result.code, result.text));
  }
  state_ = State::kDone;
  if (!executing_within_) context_->ready.PushBack(this);
}

void SessionSlot::BeginIteration(const Issue& issue) {
  in_iteration_ = true;
  state_ = State::kRunning;
  iteration_start_ = issue.intended_start;
  issue.part->BeginIteration();
}

void SessionSlot::EndIteration(bool ok) {
  in_iteration_ = false;
  issue_.part->EndIteration(ok, end_ - iteration_start_);
}

std::size_t SessionSlot::steps() const { return context_->plan.script.steps.size(); }

void SessionSlot::Give(const Issue& issue) {
  issue_ = issue;
  state_ = State::kRunning;
  context_->ready.PushBack(this);
}

void SessionSlot::OnYielded() {
  if (session_->ready()) context_->idle.PushBack(this);
}

void SessionSlot::OnSessionReady() {
  if (state_ == State::kIdle && alone()) {
    context_->idle.PushBack(this);
  } else if (state_ == State::kUnconnected) {
    state_ = State::kRunning;
    context_->ready.PushBack(this);
  }
}

void SessionSlot::OnSessionLost() {
  if (state_ == State::kIdle) Unlink();
}

void SessionSlot::Abandon(Nanos now) {
  Unlink();
  if (state_ == State::kExecuting) {
    drivers::OpResult result;
    result.outcome = Outcome::kAbandoned;
    result.outcome_unknown = true;
    Complete(result, now);
    Unlink();
  }
  // A slot that was given an iteration and has not begun it has counted nothing yet.
  if (std::exchange(in_iteration_, false)) issue_.part->AbandonIteration();
  state_ = State::kIdle;
}

Session::Session(WorkerContext* context, std::uint32_t number)
    : context_(context), number_(number) {
  const LoadPlan& plan = context->plan;
  const drivers::ClientFactory& clients = context->shared.clients;
  if (const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&clients)) {
    const drivers::CodecFactory& factory = **codecs;
    by_endpoint_.resize(factory.endpoints().size());
    for (const load::ScriptStep& step : plan.script.steps) {
      drivers::Operation operation;
      operation.plan = &plan.operations[step.operation];
      const std::size_t endpoint = factory.Route(operation);
      CAVALRY_CHECK(endpoint < by_endpoint_.size());
      if (by_endpoint_[endpoint] != nullptr) continue;
      connections_.push_back(
          std::make_unique<Channel>(context, this, factory, endpoint, plan.pipeline));
      by_endpoint_[endpoint] = connections_.back().get();
    }
  } else {
    const auto& pollables = std::get<std::unique_ptr<drivers::PollableFactory>>(clients);
    connections_.push_back(std::make_unique<PollableConnection>(context, this, *pollables));
  }
  for (std::uint32_t ticket = 0; ticket < plan.pipeline; ++ticket) {
    slots_.push_back(std::make_unique<SessionSlot>(context, this, ticket));
  }
}

Session::~Session() = default;

void Session::Start() {
  for (const auto& connection : connections_) connection->Start();
}

std::uint32_t Session::failed_attempts() const {
  std::uint32_t most = 0;
  for (const auto& connection : connections_) {
    most = std::max(most, connection->failed_attempts());
  }
  return most;
}

Connection& Session::ConnectionFor(const drivers::Operation& operation) {
  if (connections_.size() == 1) return *connections_.front();
  const auto& factory = *std::get<std::unique_ptr<drivers::CodecFactory>>(context_->shared.clients);
  Connection* const connection = by_endpoint_[factory.Route(operation)];
  CAVALRY_CHECK(connection != nullptr);
  return *connection;
}

void Session::OnConnectionReady() {
  ++ready_connections_;
  if (!ready()) return;
  ever_ready_ = true;
  ++context_->ready_sessions;
  context_->shared.ready_sessions.fetch_add(1, std::memory_order_relaxed);
  for (const auto& slot : slots_) slot->OnSessionReady();
  context_->Dispatch();
}

void Session::OnConnectionLost() {
  const bool was_ready = ready();
  --ready_connections_;
  if (!was_ready) return;
  for (const auto& slot : slots_) slot->OnSessionLost();
  context_->shared.ready_sessions.fetch_sub(1, std::memory_order_relaxed);
  if (--context_->ready_sessions == 0) context_->issuer.GiveBack();
}

void Session::OnAttemptFailed(const drivers::OpResult& result) {
  last_error_ = fmt::format("{} {}", result.code, result.text);
}

void Session::Abandon(Nanos now) {
  for (const auto& slot : slots_) slot->Abandon(now);
}

void Session::Close(bool farewell) {
  for (const auto& connection : connections_) connection->Close(farewell);
}

bool Session::closed() const {
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->closed(); });
}

}  // namespace cavalry::run
