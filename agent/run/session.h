// A simulated user: its connections, and one slot per iteration that it may have in flight (several
// with pipeline). A slot is a coroutine that reads top to bottom, see RunSession in
// session_runner.cc. Worker thread only.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/load/iteration.h"
#include "agent/run/connection.h"
#include "agent/run/frame_pool.h"
#include "agent/run/issuer.h"
#include "agent/run/list_link.h"
#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

struct WorkerContext;
class Session;
class SessionSlot;

// The coroutine of a slot: runs when resumed, never ends by itself, its frame is of the worker's
// pool.
class SessionTask {
 public:
  // The language wants this name.
  struct promise_type {  // NOLINT(readability-identifier-naming)
    // The coroutine's parameters are offered to operator new: it has a pool.
    static void* operator new(std::size_t bytes, FramePool* pool, SessionSlot*);
    static void operator delete(void* frame, std::size_t bytes);

    SessionTask get_return_object() {
      return SessionTask(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception();
  };

  SessionTask() = default;
  explicit SessionTask(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  SessionTask(SessionTask&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SessionTask& operator=(SessionTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SessionTask() {
    if (handle_) handle_.destroy();
  }
  void Resume() { handle_.resume(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

SessionTask RunSession(FramePool* pool, SessionSlot* slot);

class SessionSlot final : public ListLink {
 public:
  // `ticket`: its number within the session.
  SessionSlot(WorkerContext* context, Session* session, std::uint32_t ticket);

  // For the coroutine; each is awaited.
  struct NextIssueAwaiter {
    SessionSlot* slot;
    bool await_ready();
    void await_suspend(std::coroutine_handle<>) {}
    Issue await_resume() { return slot->issue_; }
  };
  struct ConnectedAwaiter {
    SessionSlot* slot;
    bool await_ready();
    void await_suspend(std::coroutine_handle<>) {}
    void await_resume() {}
  };
  struct ExecuteAwaiter {
    SessionSlot* slot;
    std::size_t step;
    bool await_ready();
    void await_suspend(std::coroutine_handle<>) {}
    Outcome await_resume() { return slot->outcome_; }
  };
  // The next iteration to do.
  NextIssueAwaiter NextIssue() { return {this}; }
  // Goes on when the session's connections are ready.
  ConnectedAwaiter Connected() { return {this}; }
  // Does one step of the script.
  ExecuteAwaiter Execute(std::size_t step) { return {this, step}; }
  void BeginIteration(const Issue& issue);
  void EndIteration(bool ok);
  std::size_t steps() const;

  // For connections. An operation's start is read by Begin, right before it is encoded or handed to
  // its client.
  const drivers::Operation& operation() const { return prepared_.operation; }
  std::uint32_t ticket() const { return ticket_; }
  void Begin();
  Nanos start() const { return start_; }
  std::uint64_t position() const { return position_; }  // the connection's own
  void set_position(std::uint64_t position) { position_ = position; }
  // The operation ended; `end` is a reading of the clock of its own.
  void Complete(const drivers::OpResult& result, Nanos end);

  // For the worker.
  void Resume() { task_.Resume(); }
  void Give(const Issue& issue);
  void OnYielded();  // the next turn has come
  void OnSessionReady();
  void OnSessionLost();
  // Gives up the iteration in flight, and its operation.
  void Abandon(Nanos now);

 private:
  enum class State : std::uint8_t {
    kIdle,        // wants an iteration
    kRunning,     // in the coroutine, or about to be
    kExecuting,   // an operation is in flight
    kDone,        // it has ended
    kUnconnected  // in an iteration, waits for the session's connections
  };

  WorkerContext* const context_;
  Session* const session_;
  const std::uint32_t ticket_;
  State state_ = State::kIdle;
  bool in_iteration_ = false;
  bool executing_within_ = false;  // Execute is on the stack
  bool ended_within_ = false;      // the last operation ended before Execute returned
  Outcome outcome_ = Outcome::kOk;
  Issue issue_;
  Nanos iteration_start_ = 0;
  Nanos start_ = 0;
  Nanos end_ = 0;
  std::uint64_t position_ = 0;
  std::uint32_t which_ = 0;  // index of the operation
  load::PreparedOperation prepared_;
  load::IterationState iteration_;
  load::RowChecker checker_;
  SessionTask task_;
};

class Session {
 public:
  // `number`: among all sessions of the step.
  Session(WorkerContext* context, std::uint32_t number);
  ~Session();

  void Start();
  bool ready() const { return ready_connections_ == connections_.size(); }
  bool ever_ready() const { return ever_ready_; }
  std::uint32_t number() const { return number_; }
  // Failed attempts in a row of the connection that has most.
  std::uint32_t failed_attempts() const;
  const std::string& last_error() const { return last_error_; }

  Connection& ConnectionFor(const drivers::Operation& operation);
  void Abandon(Nanos now);
  void Close(bool farewell);
  bool closed() const;

  // For its connections.
  void OnConnectionReady();
  void OnConnectionLost();
  void OnAttemptFailed(const drivers::OpResult& result);

 private:
  WorkerContext* const context_;
  const std::uint32_t number_;
  bool ever_ready_ = false;
  std::size_t ready_connections_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> by_endpoint_;  // of a codec factory; null: not used by the script
  std::vector<std::unique_ptr<SessionSlot>> slots_;
  std::string last_error_;
};

}  // namespace cavalry::run
