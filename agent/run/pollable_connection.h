// A connection of the pollable model: a client library that owns its socket and tells what to wait
// for. One operation at a time. An operation or attempt that is given up takes its client with it.
#pragma once

#include <memory>

#include "agent/run/connection.h"
#include "agent/run/loop.h"
#include "drivers/core/pollable.h"

namespace cavalry::run {

class PollableConnection final : public Connection, private WatchHandler {
 public:
  PollableConnection(WorkerContext* context, ConnectionOwner* owner,
                     const drivers::PollableFactory& factory);
  ~PollableConnection() override;

  void Execute(SessionSlot* slot) override;

 private:
  // An orderly end takes no longer than this.
  static constexpr Nanos kFarewellTime = kSecond;

  void Open() override;
  void Drop() override;
  bool BeginFarewell() override;
  void OnConnectTimer(Nanos now) override;
  void OnReadyTimer(Nanos now) override;
  void OnEvents(short events) override;

  // Takes what the client says: it is done, or is to be waited for.
  void Take(const drivers::PollStep& step);
  void TakeDone(const drivers::OpResult& result);
  void EndOperation(const drivers::OpResult& result);
  // When the timer has to ring: the library's time-out or the operation's deadline.
  void SetReadyTimer();

  const drivers::PollableFactory& factory_;
  std::unique_ptr<drivers::PollableClient> client_;
  Loop::WatchId watch_ = 0;
  bool watching_ = false;
  SessionSlot* slot_ = nullptr;      // whose operation is in flight
  Nanos library_deadline_ = kNever;  // when the library wants to be called without an event
};

}  // namespace cavalry::run
