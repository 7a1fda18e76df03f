// One iteration in flight, whatever the client model: its steps, its transaction, and what is
// counted and timed of it. The coroutine RunSession calls it from above; how one waits for a
// connection, an answer or a time is for the derived class to say: SessionSlot on a worker's loop,
// BlockingSlot on a thread. One thread at a time; with StepContext::mutex, what records needs it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/load/iteration.h"
#include "agent/run/back_off.h"
#include "agent/run/issuer.h"
#include "agent/run/operation_trace.h"
#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

struct StepContext;

class ScriptSlot {
 public:
  // `session`: number among all sessions of the step.
  ScriptSlot(StepContext* context, std::uint32_t session);
  ScriptSlot(const ScriptSlot&) = delete;
  ScriptSlot& operator=(const ScriptSlot&) = delete;

  // What the coroutine awaits: done already, or it is resumed when it is.
  struct Awaiter {
    bool done;
    bool await_ready() const { return done; }
    void await_suspend(std::coroutine_handle<>) {}
    void await_resume() {}
  };

  struct RollBackAwaiter : Awaiter {
    ScriptSlot* slot;
    void await_resume() { slot->EndRollBack(); }
  };

  // The next iteration to do, begun.
  Awaiter NextIssue() { return {DoNextIssue()}; }
  // Connections for the iteration, where they are not the session's own. If there are none to be
  // had its operations are not_sent.
  Awaiter TakeConnections() { return {!takes_connections_ || TakeAndTime()}; }
  Awaiter GiveBackConnections() { return {!takes_connections_ || DoGiveBack()}; }
  // Goes on when the connections are ready, or will not be any more in this iteration.
  Awaiter Connected() { return {obstacle_ != Obstacle::kNone || DoConnected()}; }
  // Does one step of the script.
  Awaiter Execute(std::size_t step);
  // Does the implied rollback; a connection on which it fails is given up.
  RollBackAwaiter RollBack();
  Awaiter Sleep(Nanos duration) { return {DoSleep(duration)}; }

  std::size_t first_step() const { return first_step_; }
  std::size_t end_step() const { return end_step_; }
  Nanos SleepOf(std::size_t step) const;
  Outcome outcome() const { return outcome_; }
  // The iteration goes on.
  bool succeeded() const { return outcome_ <= Outcome::kMiss || outcome_ == Outcome::kSent; }
  // It has done something: a miss alone does not make it ok.
  bool did() const { return outcome_ == Outcome::kOk || outcome_ == Outcome::kSent; }
  bool retryable() const { return retryable_; }
  bool in_transaction() const { return transaction_ == Transaction::kOpen; }
  std::uint32_t most_retries() const;
  // Counts the iteration's retry of this number, from 1; how long to wait before it.
  Nanos BeginRetry(std::uint32_t retry);
  void EndIteration(bool ok);
  Nanos think_time() const;

  // For who executes.
  const drivers::Operation& operation() const { return prepared_.operation; }
  std::uint32_t session_number() const { return session_number_; }
  Nanos start() const { return start_; }
  // Not null while the operation in flight is to be traced.
  OperationTrace* trace() { return trace_.get(); }

 protected:
  // Never destroyed by this type.
  ~ScriptSlot() = default;

  // Each true: it is done; false: the coroutine is resumed when it is.
  virtual bool DoNextIssue() = 0;
  virtual bool DoTakeConnections() = 0;
  virtual bool DoGiveBack() = 0;
  virtual bool DoConnected() = 0;
  // Does operation(): calls RecordBegin, then RecordEnd.
  virtual bool DoExecute() = 0;
  virtual bool DoSleep(Nanos duration) = 0;
  // The same for an operation that cannot be sent: it ends at once.
  virtual bool DoRefuse(const drivers::OpResult& result) = 0;
  // The connections of the iteration are of no further use.
  virtual void DropConnections() = 0;

  // These record; with StepContext::mutex it must be held.
  void BeginIteration(const Issue& issue);
  // An operation's start is read here, right before it is encoded or handed to its client.
  void RecordBegin();
  // The operation ended; `end` is a reading of the clock of its own.
  void RecordEnd(const drivers::OpResult& result, Nanos end);
  // Gives up the iteration in flight, and its operation. Its transaction, if no operation was in
  // flight, is still to be lost.
  void RecordAbandoned(bool executing, Nanos now);
  // The connection is gone with what was open on it.
  void LoseTransaction();
  void set_node(std::uint32_t node) { node_ = node; }
  // The operation went to another node than the best.
  void CountRerouted() { issue_.part->CountRerouted(); }
  // No connection is to be had in this iteration.
  void NoteUnreachable() { obstacle_ = Obstacle::kNoConnection; }
  bool in_iteration() const { return in_iteration_; }

  StepContext& step_context_;

 private:
  enum class Transaction : std::uint8_t { kNone, kOpen };
  // Why no operation of the iteration can be sent any more.
  enum class Obstacle : std::uint8_t { kNone, kNoConnection, kTransactionLost };
  // A write that its transaction has not committed yet.
  struct OpenWrite {
    std::uint32_t operation;
    load::PreparedOperation prepared;
    std::uint64_t insert_id;
  };

  void RecordResult(const drivers::OpResult& result, Nanos end);
  bool TakeAndTime();
  bool ExecutePrepared();
  void EndRollBack();
  drivers::OpResult Refusal() const;
  void RecordWrite(const drivers::OpResult& result);
  void FollowTransaction(const drivers::OpResult& result);
  // What the transaction wrote became this.
  void EndTransaction(Outcome outcome, bool unknown);

  const std::uint32_t session_number_;
  const bool takes_connections_;
  bool in_iteration_ = false;
  bool retryable_ = false;
  Transaction transaction_ = Transaction::kNone;
  Obstacle obstacle_ = Obstacle::kNone;
  Outcome outcome_ = Outcome::kOk;
  Issue issue_;
  std::size_t first_step_ = 0;
  std::size_t end_step_ = 0;
  Nanos iteration_start_ = 0;
  Nanos start_ = 0;
  Nanos end_ = 0;
  std::uint32_t which_ = 0;       // index of the operation
  std::uint32_t node_ = kNoNode;  // that it went to
  load::PreparedOperation prepared_;
  load::IterationState iteration_;
  load::RowChecker checker_;
  BackOff retry_wait_{kShortestRetryWait, kLongestRetryWait};
  std::vector<OpenWrite> open_writes_;
  std::unique_ptr<OperationTrace> trace_;
};

}  // namespace cavalry::run
