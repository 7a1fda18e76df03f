// A session's way to one server: the state machine that all client models share. It connects when
// the pacer lets it, tries again with jittered back-off when that fails or the connection is lost,
// within one deadline per attempt, and counts and times all that apart from operations. Owned by
// its session; worker thread only.
#pragma once

#include <cstdint>

#include "agent/run/timer_wheel.h"
#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

struct WorkerContext;
class Session;
class SessionSlot;

inline constexpr Nanos kShortestBackOff = 10 * kMillisecond;
inline constexpr Nanos kLongestBackOff = kSecond;

class Connection : protected Timer {
 public:
  Connection(WorkerContext* context, Session* session);
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Begins to connect, as soon as the pacer allows.
  void Start();
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
  // The attempt failed; counts it by code and tries again later, or ends the step when fatal.
  void FailAttempt(const drivers::OpResult& result);
  void FailAttempt(int error);
  // REQUIRES: ready(), and its operations were completed. Reconnects.
  void Lose();
  void SetClosed() { state_ = State::kClosed; }
  // Sets the attempt's timer: at `at`, at the latest at the attempt's deadline.
  void SetConnectTimer(Nanos at);
  // So that back-off starts from its shortest again.
  void NoteProgress() { back_off_ = kShortestBackOff; }

  State state() const { return state_; }
  WorkerContext& context() { return *context_; }
  Session& session() { return *session_; }
  std::uint32_t attempts() const { return attempts_; }

 private:
  void OnTimer(Nanos now) override;
  void BackOff();

  WorkerContext* const context_;
  Session* const session_;
  State state_ = State::kNew;
  bool was_ready_ = false;
  std::uint32_t attempts_ = 0;
  std::uint32_t failed_attempts_ = 0;
  Nanos back_off_ = kShortestBackOff;
  Nanos attempt_began_ = 0;
};

// "ECONNREFUSED" and the like; "local_port_exhausted" for EADDRNOTAVAIL.
std::string_view ErrnoCode(int error);
// The class of a failed connect: not_sent, unless the connection was made before it was lost.
drivers::OpResult ErrnoResult(int error, Outcome outcome);

}  // namespace cavalry::run
