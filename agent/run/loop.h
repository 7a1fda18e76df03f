// The event loop of one worker: connected stream sockets whose bytes it moves, descriptors that it
// watches for client libraries, and one alarm. Two implementations: io_uring (uring_loop) and epoll
// (epoll_loop), chosen at run time. Made, used and destroyed on one thread. Handlers are called
// from Turn only and may call the loop, but never Turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "agent/run/load_plan.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "drivers/core/byte_buffer.h"

namespace cavalry::run {

// An instant that never comes.
inline constexpr Nanos kNever = INT64_MAX;

// Told what happens to a stream. Must outlive it.
class StreamHandler {
 public:
  // Bytes arrived; the view is valid during the call.
  virtual void OnReceived(std::string_view bytes) = 0;
  // A Send that returned false has been taken whole.
  virtual void OnSent() = 0;
  // Of no further use, called once; the stream is still to be closed. `error`: 0 when the peer
  // closed it, else an errno. `unsent`: bytes of the last Send that the kernel certainly did not
  // take.
  virtual void OnLost(int error, std::size_t unsent) = 0;

 protected:
  ~StreamHandler() = default;
};

// Told of events on a watched descriptor. Must outlive the watch.
class WatchHandler {
 public:
  // `events` as in poll(2). The watch is no longer armed.
  virtual void OnEvents(short events) = 0;

 protected:
  ~WatchHandler() = default;
};

enum class SendMode : std::uint8_t {
  kConfirmed,  // OnSent is called unless Send returned true
  // Success is not reported: it costs no completion. Only for short requests of which nothing is in
  // flight before them: the answer then is the confirmation.
  kSilent,
};

class Loop {
 public:
  using StreamId = std::uint32_t;
  using WatchId = std::uint32_t;

  virtual ~Loop() = default;
  virtual std::string_view name() const = 0;  // "io_uring", "epoll"

  // Takes over a connected, non-blocking socket and begins to receive.
  virtual StreamId OpenStream(UniqueFd socket, StreamHandler* handler) = 0;
  // Sends all of `bytes`, in order, at the latest at the next Turn. The content moves into the
  // loop: `bytes` is left empty with another buffer's capacity. True: nothing is pending, Send may
  // be called again. False: only after OnSent. Never calls the handler from within.
  virtual bool Send(StreamId stream, drivers::ByteBuffer& bytes, SendMode mode) = 0;
  // The handler is not called again. The descriptor is closed once the kernel has let go of it.
  virtual void CloseStream(StreamId stream) = 0;

  // A watch is for one descriptor at a time, one wait at a time.
  virtual WatchId AddWatch(WatchHandler* handler) = 0;
  // Calls the handler once when one of `events` (poll(2)) is there. Edge-triggered where the loop
  // is: whoever waits must have seen EAGAIN before. `fresh`: the descriptor may have been closed
  // and made anew since the last time, as while connecting.
  virtual void ArmWatch(WatchId watch, int fd, short events, bool fresh) = 0;
  // Forgets the wait; on return the kernel no longer polls the descriptor.
  virtual void DisarmWatch(WatchId watch) = 0;
  virtual void RemoveWatch(WatchId watch) = 0;  // disarms and frees

  // One turn: hands over what was sent, waits for an event unless `wait` is false, and calls
  // handlers. True: the alarm at `wake_at` (kNever: none), or an earlier one set before, has rung.
  virtual bool Turn(Nanos wake_at, bool wait) = 0;
};

struct LoopOptions {
  LoopKind kind = LoopKind::kAuto;
  std::uint32_t streams = 1;  // or watches, expected at a time
  bool only_watches = false;  // for a library that reads and writes its descriptors itself
};

// kAuto: io_uring if the kernel allows it; for watches only, epoll, which needs no submission per
// wait (a tenth of a MySQL operation's CPU). Fails when a forced kind cannot be made.
StatusOr<std::unique_ptr<Loop>> NewLoop(const LoopOptions& options);

StatusOr<std::unique_ptr<Loop>> NewUringLoop(const LoopOptions& options);
StatusOr<std::unique_ptr<Loop>> NewEpollLoop();

}  // namespace cavalry::run
