// A way to one server: the state machine that the client models on a loop share. It connects when
// the pacer lets it, tries again with jittered back-off when that fails or the connection is lost,
// within one deadline per attempt, and counts and times all that apart from operations; or it is
// opened at once, for one attempt. Owned by its set; worker thread only.
#pragma once

#include <cstdint>

#include "agent/run/back_off.h"
#include "agent/run/timer_wheel.h"
#include "core/base/clock.h"
#include "drivers/core/connect_error.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

struct WorkerContext;
class SessionSlot;

// Told what becomes of a connection that it owns. Must outlive it.
class ConnectionOwner {
 public:
  virtual void OnConnectionReady() = 0;
  // A ready one is lost; it comes back by itself.
  virtual void OnConnectionLost() = 0;
  virtual void OnReadyConnectionCloses() = 0;
  virtual void OnConnectionClosed() = 0;
  // OpenOnce failed.
  virtual void OnOpenFailed() = 0;
  // Why an attempt failed.
  virtual void NoteFailure(const drivers::OpResult& result) = 0;

 protected:
  ~ConnectionOwner() = default;
};

class Connection : protected Timer {
 public:
  Connection(WorkerContext* context, ConnectionOwner* owner);
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Begins to connect, as soon as the pacer allows.
  void Start();
  // Connects at once, whatever the pacer says. A failure ends it: closed(). REQUIRES: not started
  // yet, or closed().
  void OpenOnce();
  bool ready() const { return state_ == State::kReady; }
  // Attempts that failed since it was last ready.
  std::uint32_t failed_attempts() const { return failed_attempts_; }

  // Issues the slot's operation; calls its Complete once, from within or later.
  // REQUIRES: ready().
  virtual void Execute(SessionSlot* slot) = 0;
  // Sends what operations encoded, for those that gather.
  virtual void Flush() {}
  // Ends it for good; operations in flight are forgotten. `farewell`: as the protocol wants it,
  // which may take turns of the loop until closed().
  void Close(bool farewell);
  // Gives a connection up on which nothing is in flight, and connects anew; no-op when not ready().
  void Reconnect();
  bool closed() const { return state_ == State::kClosed; }

  // For the pacer.
  void BeginAttempt(Nanos now);

 protected:
  enum class State : std::uint8_t {
    kNew,
    kQueued,
    kConnecting,
    kReady,
    kBackingOff,
    kClosing,
    kClosed
  };

  // Begins one attempt; ends in BecomeReady or FailAttempt, from within or later.
  virtual void Open() = 0;
  // Lets go of socket and client at once.
  virtual void Drop() = 0;
  // Begins an orderly end; false: there is none, Drop will do. Ends in SetClosed.
  virtual bool BeginFarewell() { return false; }
  // The timer rang in an attempt before its deadline, or while ready.
  virtual void OnConnectTimer(Nanos now) = 0;
  virtual void OnReadyTimer(Nanos now) = 0;

  void BecomeReady();
  // The attempt failed; counts it by code and tries again later (but for OpenOnce), or ends the
  // step when fatal.
  void FailAttempt(const drivers::OpResult& result);
  void FailAttempt(int error);
  // REQUIRES: ready(), and its operations were completed. Reconnects.
  void Lose();
  void SetClosed();
  // Sets the attempt's timer: at `at`, at the latest at the attempt's deadline.
  void SetConnectTimer(Nanos at);
  // So that back-off starts from its shortest again.
  void NoteProgress() { back_off_.Reset(); }

  State state() const { return state_; }
  WorkerContext& context() { return *context_; }

 private:
  void OnTimer(Nanos now) override;
  void TryLater();

  WorkerContext* const context_;
  ConnectionOwner* const owner_;
  State state_ = State::kNew;
  bool once_ = false;  // the attempt is the only one
  bool was_ready_ = false;
  std::uint32_t failed_attempts_ = 0;
  BackOff back_off_{kShortestBackOff, kLongestBackOff};
  Nanos attempt_began_ = 0;
};

}  // namespace cavalry::run
