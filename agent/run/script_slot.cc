#include "agent/run/script_slot.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/run/step_context.h"

namespace cavalry::run {
namespace {

std::size_t CountWrites(const LoadPlan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.script.steps.begin(), plan.script.steps.end(), [&](const auto& step) {
        return step.sleep == 0 && drivers::IsWrite(plan.operations[step.operation].kind);
      }));
}

}  // namespace

ScriptSlot::ScriptSlot(StepContext* context, std::uint32_t session)
    : step_context_(*context),
      session_number_(session),
      takes_connections_(context->plan.takes_connections()),
      iteration_(context->plan.operations.size()) {
  // So that a transaction allocates nothing.
  if (context->transactions && context->ledger != nullptr) {
    open_writes_.reserve(CountWrites(context->plan));
  }
}

ScriptSlot::Awaiter ScriptSlot::Execute(std::size_t step) {
  const LoadPlan& plan = step_context_.plan;
  which_ = plan.script.steps[step].operation;
  prepared_ = iteration_.Prepare(plan.recipes, plan.script, step, issue_.number, session_number_,
                                 plan.total_sessions, plan.next_version);
  if (prepared_.verify) [[unlikely]] {
    checker_.Expect(plan.recipes[which_], prepared_.key);
    prepared_.operation.rows = &checker_;
  }
  return {ExecutePrepared()};
}

bool ScriptSlot::ExecutePrepared() {
  if (obstacle_ != Obstacle::kNone) [[unlikely]] {
    return DoRefuse(Refusal());
  }
  return DoExecute();
}

ScriptSlot::RollBackAwaiter ScriptSlot::RollBack() {
  which_ = *step_context_.plan.script.rollback;
  prepared_ = {};
  prepared_.operation.plan = &step_context_.plan.operations[which_];
  return {{ExecutePrepared()}, this};
}

void ScriptSlot::EndRollBack() {
  if (!in_transaction()) return;
  // It was refused: only the connection's end surely undoes what it has open.
  DropConnections();
  const auto lock = step_context_.Lock();
  EndTransaction(Outcome::kRejected, false);
}

drivers::OpResult ScriptSlot::Refusal() const {
  drivers::OpResult result;
  result.outcome = Outcome::kNotSent;
  // Why there is no connection is told with the errors of connects.
  if (obstacle_ == Obstacle::kTransactionLost) {
    result.code = "transaction_lost";
    result.text = "the connection was lost between begin and commit";
  }
  return result;
}

Nanos ScriptSlot::SleepOf(std::size_t step) const {
  return step_context_.plan.script.steps[step].sleep;
}

std::uint32_t ScriptSlot::most_retries() const { return step_context_.plan.retries; }

Nanos ScriptSlot::think_time() const { return step_context_.plan.think_time; }

bool ScriptSlot::TakeAndTime() {
  // Waiting for a connection is part of the iteration.
  if (iteration_start_ == 0) iteration_start_ = MonotonicNow();
  return DoTakeConnections();
}

void ScriptSlot::BeginIteration(const Issue& issue) {
  issue_ = issue;
  in_iteration_ = true;
  obstacle_ = Obstacle::kNone;
  iteration_start_ = issue.intended_start;
  issue.part->BeginIteration();
  const load::ScriptPlan& script = step_context_.plan.script;
  first_step_ = 0;
  end_step_ = script.steps.size();
  if (const load::ScriptVariant* variant = script.VariantFor(issue.number)) {
    first_step_ = variant->first;
    end_step_ = variant->first + variant->count;
  }
}

void ScriptSlot::EndIteration(bool ok) {
  const auto lock = step_context_.Lock();
  if (!std::exchange(in_iteration_, false)) return;  // it was abandoned
  issue_.part->EndIteration(ok, end_ - iteration_start_);
}

Nanos ScriptSlot::BeginRetry(std::uint32_t retry) {
  const auto lock = step_context_.Lock();
  issue_.part->CountRetry();
  if (retry == 1) retry_wait_.Reset();
  return retry_wait_.Next(&step_context_.jitter);
}

void ScriptSlot::RecordBegin() {
  start_ = MonotonicNow();
  step_context_.now = start_;
  if (iteration_start_ == 0) iteration_start_ = start_;
  issue_.part->BeginOperation(which_, start_);
  if (step_context_.tracing) [[unlikely]] {
    step_context_.tracing = step_context_.shared.TakeTrace();
    if (step_context_.tracing) trace_ = std::make_unique<OperationTrace>();
  }
}

void ScriptSlot::RecordEnd(const drivers::OpResult& result, Nanos end) {
  const bool answered = result.outcome == Outcome::kOk || result.outcome == Outcome::kMiss ||
                        result.outcome == Outcome::kRejected;
  if (answered && end - start_ > step_context_.plan.operation_timeout) [[unlikely]] {
    // The timer is coarse, and an answer may be seen before it: the deadline holds all the same.
    drivers::OpResult late = result;
    late.outcome = Outcome::kTimeout;
    late.retryable = false;
    late.outcome_unknown = true;
    late.code = "timeout";
    late.text = "answered after operation_timeout";
    RecordResult(late, end);
  } else {
    RecordResult(result, end);
  }
}

void ScriptSlot::RecordResult(const drivers::OpResult& result, Nanos end) {
  step_context_.now = end;
  outcome_ = result.outcome;
  retryable_ = result.retryable;
  end_ = end;
  issue_.part->EndOperation(which_, result, end - start_, end, node_);
  if (prepared_.verify && result.outcome == Outcome::kOk && !checker_.right()) [[unlikely]] {
    issue_.part->CountWrongAnswer(which_);
  }
  if (step_context_.ledger != nullptr) RecordWrite(result);
  if (step_context_.transactions) FollowTransaction(result);
  if (trace_ != nullptr) [[unlikely]] {
    step_context_.shared.mailbox.Post(TraceEvent{Describe(
        *trace_, prepared_.operation, session_number_, issue_.number, result, end - start_)});
    trace_.reset();
  }
  if (result.severity == Severity::kFatal) [[unlikely]] {
    step_context_.SetFatal(
        fmt::format("{}: {} {}", prepared_.operation.plan->name, result.code, result.text));
  }
}

void ScriptSlot::RecordWrite(const drivers::OpResult& result) {
  if (!drivers::IsWrite(prepared_.operation.plan->kind)) return;
  const load::OperationRecipe& recipe = step_context_.plan.recipes[which_];
  if (!in_transaction()) {
    load::RecordInLedger(recipe, prepared_, result, step_context_.ledger.get());
  } else if (result.outcome == Outcome::kOk) {
    open_writes_.push_back({which_, prepared_, result.insert_id});
  } else {
    // Whatever became of it, it is undone with its transaction.
    drivers::OpResult undone;
    undone.outcome = Outcome::kRejected;
    load::RecordInLedger(recipe, prepared_, undone, step_context_.ledger.get());
  }
}

void ScriptSlot::FollowTransaction(const drivers::OpResult& result) {
  const bool ok = result.outcome == Outcome::kOk;
  switch (prepared_.operation.plan->kind) {
    case drivers::OperationKind::kBegin:
      // Within another one it commits that first.
      if (ok && in_transaction()) EndTransaction(Outcome::kOk, false);
      // One that may have begun is to be rolled back, too.
      if (ok || load::LeavesOpen(result)) transaction_ = Transaction::kOpen;
      break;
    case drivers::OperationKind::kCommit:
      if (ok) {
        EndTransaction(Outcome::kOk, false);
      } else if (load::LeavesOpen(result)) {
        EndTransaction(Outcome::kBroken, true);
      }
      break;
    case drivers::OperationKind::kRollback:
    case drivers::OperationKind::kResetConnection:
    case drivers::OperationKind::kChangeUser:
      if (ok) EndTransaction(Outcome::kRejected, false);
      break;
    default:
      break;
  }
  // The server undoes what is open on a connection that goes.
  if (result.severity != Severity::kNormal) EndTransaction(Outcome::kRejected, false);
}

void ScriptSlot::EndTransaction(Outcome outcome, bool unknown) {
  transaction_ = Transaction::kNone;
  drivers::OpResult result;
  result.outcome = outcome;
  result.outcome_unknown = unknown;
  for (const OpenWrite& write : open_writes_) {
    result.insert_id = write.insert_id;
    load::RecordInLedger(step_context_.plan.recipes[write.operation], write.prepared, result,
                         step_context_.ledger.get());
  }
  open_writes_.clear();
}

void ScriptSlot::LoseTransaction() {
  if (!in_transaction()) return;
  EndTransaction(Outcome::kRejected, false);
  obstacle_ = Obstacle::kTransactionLost;
}

void ScriptSlot::RecordAbandoned(bool executing, Nanos now) {
  if (executing) {
    drivers::OpResult result;
    result.outcome = Outcome::kAbandoned;
    result.severity = Severity::kReconnect;
    result.outcome_unknown = true;
    RecordEnd(result, now);
  }
  if (std::exchange(in_iteration_, false)) issue_.part->AbandonIteration();
}

}  // namespace cavalry::run
