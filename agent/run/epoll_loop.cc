// The loop over epoll: every descriptor is registered once, edge-triggered. A send is tried
// directly, a receive goes on until the socket is drained, the alarm is a timerfd.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "agent/run/loop.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

constexpr std::size_t kReceiveBytes = std::size_t{64} * 1024;
constexpr int kMaxEvents = 256;

// What an event's 64 bits of data name: kind, generation of the slot, index of the slot.
enum class Kind : std::uint64_t { kStream = 0, kWatch = 1, kAlarm = 2 };

std::uint64_t Tag(Kind kind, std::uint32_t generation, std::uint32_t index) {
  return (static_cast<std::uint64_t>(kind) << 56) |
         (static_cast<std::uint64_t>(generation & 0xffffff) << 32) | index;
}

class EpollLoop final : public Loop {
 public:
  EpollLoop(UniqueFd epoll, UniqueFd alarm)
      : epoll_(std::move(epoll)),
        alarm_(std::move(alarm)),
        received_(std::make_unique_for_overwrite<char[]>(kReceiveBytes)) {}

  std::string_view name() const override { return "epoll"; }

  StreamId OpenStream(UniqueFd socket, StreamHandler* handler) override;
  bool Send(StreamId stream, drivers::ByteBuffer& bytes, SendMode mode) override;
  void CloseStream(StreamId stream) override;
  WatchId AddWatch(WatchHandler* handler) override;
  void ArmWatch(WatchId watch, int fd, short events, bool fresh) override;
  void DisarmWatch(WatchId watch) override;
  void RemoveWatch(WatchId watch) override;
  bool Turn(Nanos wake_at, bool wait) override;

 private:
  struct Stream {
    UniqueFd fd;
    StreamHandler* handler = nullptr;  // null: closed
    std::uint32_t generation = 0;
    drivers::ByteBuffer unsent;
    bool lost = false;   // OnLost was called or is in losses_
    bool ended = false;  // the peer has closed; OnLost comes after the last bytes
  };
  struct Watch {
    WatchHandler* handler = nullptr;
    std::uint32_t generation = 0;
    int fd = -1;  // as registered
    short armed = 0;
  };
  struct Loss {
    StreamId stream;
    std::uint32_t generation;
    int error;
  };

  bool Register(int fd, std::uint64_t tag);
  void Receive(Stream& stream, std::uint32_t events);
  bool SendUnsent(StreamId id, Stream& stream);
  void Lose(StreamId id, Stream& stream, int error);
  void ReportLosses();
  void SetAlarm(Nanos at);

  UniqueFd epoll_;
  UniqueFd alarm_;
  Nanos alarm_at_ = kNever;
  std::unique_ptr<char[]> received_;
  std::array<epoll_event, kMaxEvents> events_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<StreamId> free_streams_;
  std::vector<WatchId> free_watches_;
  std::vector<Loss> losses_;  // of sends: told from Turn, never from within Send
};

Loop::StreamId EpollLoop::OpenStream(UniqueFd socket, StreamHandler* handler) {
  if (free_streams_.empty()) {
    free_streams_.push_back(static_cast<StreamId>(streams_.size()));
    streams_.push_back(std::make_unique<Stream>());
  }
  const StreamId id = free_streams_.back();
  free_streams_.pop_back();
  Stream& stream = *streams_[id];
  stream.fd = std::move(socket);
  stream.handler = handler;
  stream.lost = false;
  stream.ended = false;
  if (!Register(stream.fd.get(), Tag(Kind::kStream, stream.generation, id))) {
    Lose(id, stream, errno);
  }
  return id;
}

bool EpollLoop::Send(StreamId id, drivers::ByteBuffer& bytes, SendMode) {
  Stream& stream = *streams_[id];
  bytes.Swap(stream.unsent);
  bytes.Clear();
  if (stream.lost || stream.ended) return false;  // OnLost is on its way
  return SendUnsent(id, stream);
}

bool EpollLoop::SendUnsent(StreamId id, Stream& stream) {
  while (!stream.unsent.empty()) {
    const std::string_view rest = stream.unsent.view();
    const ssize_t sent = ::send(stream.fd.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      stream.unsent.Consume(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      // Answers that came before the loss are read first: it is told at the end of the next turn.
      Lose(id, stream, errno);
      return false;
    }
  }
  return true;
}

void EpollLoop::CloseStream(StreamId id) {
  Stream& stream = *streams_[id];
  CAVALRY_CHECK(stream.handler != nullptr);
  stream.handler = nullptr;
  stream.fd.Reset();
  stream.unsent.Clear();
  ++stream.generation;
  free_streams_.push_back(id);
}

void EpollLoop::Lose(StreamId id, Stream& stream, int error) {
  if (stream.lost) return;
  stream.lost = true;
  losses_.push_back({id, stream.generation, error});
}

void EpollLoop::Receive(Stream& stream, std::uint32_t events) {
  const std::uint32_t generation = stream.generation;
  for (;;) {
    const ssize_t got = ::recv(stream.fd.get(), received_.get(), kReceiveBytes, 0);
    if (got > 0) {
      stream.handler->OnReceived({received_.get(), static_cast<std::size_t>(got)});
      if (stream.generation != generation) return;  // closed by the handler
      // A short read has drained the socket: later bytes make a new edge. An end of stream that is
      // already there does not.
      if (static_cast<std::size_t>(got) < kReceiveBytes &&
          (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) {
        return;
      }
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    const int error = got == 0 ? 0 : errno;
    if (!stream.lost) {
      stream.lost = true;
      stream.handler->OnLost(error, stream.unsent.size());
    }
    return;
  }
}

void EpollLoop::ReportLosses() {
  // By index: a handler's next Send may add one.
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    const Loss loss = losses_[i];
    Stream& stream = *streams_[loss.stream];
    if (stream.generation == loss.generation && stream.handler != nullptr) {
      stream.handler->OnLost(loss.error, stream.unsent.size());
    }
  }
  losses_.clear();
}

Loop::WatchId EpollLoop::AddWatch(WatchHandler* handler) {
  if (free_watches_.empty()) {
    free_watches_.push_back(static_cast<WatchId>(watches_.size()));
    watches_.push_back(std::make_unique<Watch>());
  }
  const WatchId id = free_watches_.back();
  free_watches_.pop_back();
  watches_[id]->handler = handler;
  return id;
}

void EpollLoop::ArmWatch(WatchId id, int fd, short events, bool fresh) {
  Watch& watch = *watches_[id];
  watch.armed = events;
  if (watch.fd == fd && !fresh) return;
  watch.fd = fd;
  Register(fd, Tag(Kind::kWatch, watch.generation, id));
}

bool EpollLoop::Register(int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
  event.data.u64 = tag;
  // A descriptor that is registered takes the new tag, and reports again what is already there.
  // None is ever taken out: it may have been closed by a library and belong to somebody else by
  // now. Closing takes it out, and until then its events name a generation that is gone.
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0 ||
         (errno == EEXIST && epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0);
}

void EpollLoop::DisarmWatch(WatchId id) {
  Watch& watch = *watches_[id];
  watch.armed = 0;
  watch.fd = -1;
  ++watch.generation;
}

void EpollLoop::RemoveWatch(WatchId id) {
  DisarmWatch(id);
  watches_[id]->handler = nullptr;
  free_watches_.push_back(id);
}

void EpollLoop::SetAlarm(Nanos at) {
  if (at >= alarm_at_) return;  // an early alarm does no harm: it is set anew then
  alarm_at_ = at;
  itimerspec time{};
  const Nanos instant = at > 0 ? at : 1;  // zero would disarm it
  time.it_value.tv_sec = instant / kSecond;
  time.it_value.tv_nsec = instant % kSecond;
  timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
}

bool EpollLoop::Turn(Nanos wake_at, bool wait) {
  SetAlarm(wake_at);
  if (!losses_.empty()) wait = false;
  const int count = epoll_wait(epoll_.get(), events_.data(), kMaxEvents, wait ? -1 : 0);
  bool rung = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    const auto kind = static_cast<Kind>(event.data.u64 >> 56);
    const auto generation = static_cast<std::uint32_t>(event.data.u64 >> 32) & 0xffffff;
    const auto index = static_cast<std::uint32_t>(event.data.u64);
    if (kind == Kind::kStream) {
      Stream& stream = *streams_[index];
      if ((stream.generation & 0xffffff) != generation || stream.handler == nullptr) continue;
      if ((event.events & EPOLLOUT) != 0 && !stream.unsent.empty() && !stream.lost &&
          SendUnsent(index, stream)) {
        stream.handler->OnSent();
        if ((stream.generation & 0xffffff) != generation) continue;
      }
      if ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) stream.ended = true;
      if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
        Receive(stream, event.events);
      }
    } else if (kind == Kind::kWatch) {
      Watch& watch = *watches_[index];
      if ((watch.generation & 0xffffff) != generation || watch.handler == nullptr) continue;
      // EPOLLIN and the like have poll(2)'s values. An error ends any wait: the next read or write
      // meets it.
      const bool error = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
      const auto happened =
          static_cast<short>(error ? watch.armed : (static_cast<int>(event.events) & watch.armed));
      if (happened == 0) continue;
      watch.armed = 0;
      watch.handler->OnEvents(happened);
    } else {
      alarm_at_ = kNever;
      rung = true;
    }
  }
  ReportLosses();
  return rung;
}

}  // namespace

StatusOr<std::unique_ptr<Loop>> NewEpollLoop() {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return ErrnoStatus(errno, "make an epoll loop");
  UniqueFd alarm(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!alarm.valid()) return ErrnoStatus(errno, "make a timer");
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // never read: setting it anew makes the next edge
  event.data.u64 = Tag(Kind::kAlarm, 0, 0);
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, alarm.get(), &event) != 0) {
    return ErrnoStatus(errno, "make an epoll loop");
  }
  return std::make_unique<EpollLoop>(std::move(epoll), std::move(alarm));
}

}  // namespace cavalry::run
