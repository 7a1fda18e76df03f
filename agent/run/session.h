// A simulated user on a worker's loop: its connections, and one slot per iteration that it may have
// in flight (several with pipeline). Worker thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/connection_set.h"
#include "agent/run/list_link.h"
#include "agent/run/script_slot.h"
#include "agent/run/session_task.h"
#include "agent/run/timer_wheel.h"
#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

struct WorkerContext;
class PoolConnection;
class Session;

class SessionSlot final : public ScriptSlot, public ListLink {
 public:
  // `ticket`: its number within the session.
  SessionSlot(WorkerContext* context, Session* session, std::uint32_t ticket);

  // For connections, with operation(), start() and trace().
  std::uint32_t ticket() const { return ticket_; }
  void Begin() { RecordBegin(); }
  std::uint64_t position() const { return position_; }  // the connection's own
  void set_position(std::uint64_t position) { position_ = position; }
  using ScriptSlot::set_node;
  // The operation ended; `end` is a reading of the clock of its own.
  void Complete(const drivers::OpResult& result, Nanos end);

  // For the session and the pool.
  bool takes() const { return state_ == State::kTaking; }
  // The pool's connection that it waited for; null: it could not be opened.
  void OnTaken(PoolConnection* connection);
  // Its session's own connections were opened for the iteration, or could not be.
  void OnOpened(bool reachable);
  void OnGivenBack();
  // An iteration can be begun from now on, or can't any more.
  void OnUsable();
  void OnUnusable();
  // The connections that it uses are there again, or are lost.
  void OnReady();
  void OnLost();

  // For the worker.
  void Resume() { task_.Resume(); }
  void Give(const Issue& issue);
  void OnYielded();  // the next turn has come
  // Gives up the iteration in flight, and its operation.
  void Abandon(Nanos now);

 private:
  enum class State : std::uint8_t {
    kIdle,         // wants an iteration
    kRunning,      // in the coroutine, or about to be
    kTaking,       // waits for connections of its iteration's own
    kUnconnected,  // in an iteration, waits until its connections are there again
    kExecuting,    // an operation is in flight
    kSleeping,
    kGivingBack  // waits for the connections of its iteration to be closed
  };
  // Rings as exactly as the wheel's ticks are, however long the sleep.
  class Alarm final : public Timer {
   public:
    explicit Alarm(SessionSlot* slot) : slot_(slot) {}
    void SetAt(Nanos due, Nanos now);

   private:
    void OnTimer(Nanos now) override;
    SessionSlot* const slot_;
    Nanos due_ = 0;
  };

  bool DoNextIssue() override;
  bool DoTakeConnections() override;
  bool DoGiveBack() override;
  bool DoConnected() override;
  bool DoExecute() override;
  bool DoSleep(Nanos duration) override;
  bool DoRefuse(const drivers::OpResult& result) override;
  void DropConnections() override;

  Connection& ConnectionFor();
  // Whether what the coroutine began in this state is done already when it is about to wait: calls
  // from within one of the Do functions find it so.
  bool Wait(State state);
  // What it waited for came.
  void GoOn();

  WorkerContext* const context_;
  Session* const session_;
  const std::uint32_t ticket_;
  State state_ = State::kIdle;
  bool within_ = false;        // a Do function is on the stack: the coroutine needs no resuming
  bool ended_within_ = false;  // the last operation ended without a turn of the loop
  std::uint64_t position_ = 0;
  ConnectionSet* set_;                // that the iteration uses; null: none, or shared ones
  PoolConnection* pooled_ = nullptr;  // the same of the pool
  Alarm alarm_{this};
  SessionTask task_;
};

class Session final : public ConnectionUser {
 public:
  // `number`: among all sessions of the step.
  Session(WorkerContext* context, std::uint32_t number);
  ~Session();

  void Start();
  // An iteration can be begun.
  bool usable() const { return usable_; }
  // It tried to connect and never could.
  bool never_connected() const;
  // It is usable, or has failed so often.
  bool Settled(std::uint32_t failed_attempts) const;
  // With a pool that is the pool's.
  const std::string& last_error() const;
  std::uint32_t number() const { return number_; }

  void OnUsable();
  void OnUnusable();
  void Abandon(Nanos now);
  void Close(bool farewell);
  bool closed() const { return set_ == nullptr || set_->closed(); }

  // For its slots. Its own connections; null with a pool or shared ones.
  ConnectionSet* set() { return set_.get(); }

 private:
  void OnSetReady() override;
  void OnSetLost() override;
  void OnSetUnreachable() override;
  void OnSetClosed() override;

  WorkerContext* const context_;
  const std::uint32_t number_;
  bool usable_ = false;
  bool ever_usable_ = false;
  std::unique_ptr<ConnectionSet> set_;
  std::vector<std::unique_ptr<SessionSlot>> slots_;
};

}  // namespace cavalry::run
