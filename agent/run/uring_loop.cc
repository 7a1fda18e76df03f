// The loop over io_uring: a turn is one system call that submits the turn's sends and waits.
// Streams receive by one multishot request each into buffers that all share; a silent send makes no
// completion; the alarm is one timeout request that is moved only to an earlier instant. Needs
// Linux 6.1 (SINGLE_ISSUER, DEFER_TASKRUN).
#include <liburing.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "agent/run/loop.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

constexpr unsigned kSubmissions = 1024;
constexpr unsigned kMinCompletions = 4096;
constexpr unsigned kMaxCompletions = 65536;
constexpr unsigned kBuffers = 256;  // a power of two
constexpr unsigned kBufferBytes = 4096;
// Buffers of one distance would all begin in the same set of the first-level cache.
constexpr unsigned kBufferDistance = kBufferBytes + 64;
constexpr int kBufferGroup = 0;

// What a completion's 64 bits of user data name: kind, generation of the slot, index of the slot.
enum class Kind : std::uint64_t { kReceive, kSend, kCancel, kWatch, kAlarm, kIgnored };

std::uint64_t Tag(Kind kind, std::uint32_t generation, std::uint32_t index) {
  return (static_cast<std::uint64_t>(kind) << 56) |
         (static_cast<std::uint64_t>(generation & 0xffffff) << 32) | index;
}

class UringLoop final : public Loop {
 public:
  static StatusOr<std::unique_ptr<Loop>> Create(const LoopOptions& options);
  ~UringLoop() override;

  std::string_view name() const override { return "io_uring"; }

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
    drivers::ByteBuffer sending;          // the kernel's while a send is under way
    io_uring_sqe* unsubmitted = nullptr;  // the send, as long as it is of turn `sent_in`
    std::uint64_t sent_in = 0;
    bool receiving = false;
    bool sending_confirmed = false;
    bool cancelling = false;
    bool lost = false;
  };
  struct Watch {
    WatchHandler* handler = nullptr;
    std::uint32_t generation = 0;
    short armed = 0;
  };

  UringLoop() = default;
  Status SetUp(const LoopOptions& options);
  void ProvideBuffer(unsigned buffer);
  io_uring_sqe* NextSubmission();
  void Receive(StreamId id, Stream& stream);
  void FreeIfLetGo(StreamId id, Stream& stream);
  void Lose(Stream& stream, int error, std::size_t unsent);
  std::size_t WithdrawSend(Stream& stream);
  void Submit();
  void SetAlarm(Nanos at);
  void OnReceive(std::uint32_t index, std::uint32_t generation, const io_uring_cqe& cqe);
  void OnSend(std::uint32_t index, std::uint32_t generation, int result);
  void OnWatch(std::uint32_t index, std::uint32_t generation, int result);
  // True: the alarm rang.
  bool Dispatch(const io_uring_cqe& cqe);

  io_uring ring_{};
  bool ring_made_ = false;
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::size_t buffer_ring_bytes_ = 0;
  std::unique_ptr<char[]> buffers_;
  __kernel_timespec alarm_time_{};  // read by the kernel at submission
  Nanos alarm_at_ = kNever;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<StreamId> free_streams_;
  std::vector<WatchId> free_watches_;
  std::size_t closing_ = 0;        // closed streams that the kernel still holds
  std::uint64_t submissions_ = 1;  // rises whenever what is queued is handed over
};

StatusOr<std::unique_ptr<Loop>> UringLoop::Create(const LoopOptions& options) {
  std::unique_ptr<UringLoop> loop(new UringLoop);
  CAVALRY_RETURN_IF_ERROR(loop->SetUp(options));
  return std::unique_ptr<Loop>(std::move(loop));
}

Status UringLoop::SetUp(const LoopOptions& options) {
  io_uring_params params{};
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE |
                 IORING_SETUP_CLAMP;
  params.cq_entries =
      std::clamp(std::bit_ceil(options.streams * 4), kMinCompletions, kMaxCompletions);
  int error = -io_uring_queue_init_params(kSubmissions, &ring_, &params);
  if (error != 0) {
    return ErrnoStatus(error, "make an io_uring loop (Linux 6.1 or later, and allowed here)");
  }
  ring_made_ = true;
  io_uring_register_ring_fd(&ring_);  // saves a look-up at each turn; goes without, too

  buffer_ring_bytes_ = kBuffers * sizeof(io_uring_buf);
  void* memory = nullptr;
  if (posix_memalign(&memory, 4096, buffer_ring_bytes_) != 0) {
    return ErrnoStatus(ENOMEM, "make the buffers of an io_uring loop");
  }
  buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
  io_uring_buf_ring_init(buffer_ring_);
  buffers_ = std::make_unique_for_overwrite<char[]>(std::size_t{kBuffers} * kBufferDistance);
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(buffer_ring_);
  registration.ring_entries = kBuffers;
  registration.bgid = kBufferGroup;
  error = -io_uring_register_buf_ring(&ring_, &registration, 0);
  if (error != 0) return ErrnoStatus(error, "give buffers to an io_uring loop");
  for (unsigned i = 0; i < kBuffers; ++i) ProvideBuffer(i);
  return absl::OkStatus();
}

UringLoop::~UringLoop() {
  if (ring_made_) {
    // What the kernel may still write to or read from lives until it has let go.
    for (StreamId id = 0; id < streams_.size(); ++id) {
      if (streams_[id]->handler != nullptr) CloseStream(id);
    }
    for (int turns = 0; closing_ > 0 && turns < 1000; ++turns) {
      Turn(MonotonicNow() + 10 * kMillisecond, true);
    }
    io_uring_queue_exit(&ring_);
  }
  std::free(buffer_ring_);
}

void UringLoop::ProvideBuffer(unsigned buffer) {
  io_uring_buf_ring_add(buffer_ring_, buffers_.get() + std::size_t{buffer} * kBufferDistance,
                        kBufferBytes, static_cast<unsigned short>(buffer),
                        io_uring_buf_ring_mask(kBuffers), 0);
  io_uring_buf_ring_advance(buffer_ring_, 1);
}

io_uring_sqe* UringLoop::NextSubmission() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  if (sqe == nullptr) [[unlikely]] {
    Submit();
    sqe = io_uring_get_sqe(&ring_);
    CAVALRY_CHECK(sqe != nullptr);
  }
  return sqe;
}

void UringLoop::Submit() {
  ++submissions_;
  io_uring_submit(&ring_);
}

// A send that was queued in this turn and has not been handed over becomes nothing. Returns the
// bytes that so were not sent.
std::size_t UringLoop::WithdrawSend(Stream& stream) {
  if (stream.sent_in != submissions_) return 0;
  const auto flags = stream.unsubmitted->flags;
  const std::uint64_t tag = stream.unsubmitted->user_data;
  io_uring_prep_nop(stream.unsubmitted);
  stream.unsubmitted->flags = flags;
  stream.unsubmitted->user_data = tag;
  stream.sent_in = 0;
  return stream.sending.size();
}

Loop::StreamId UringLoop::OpenStream(UniqueFd socket, StreamHandler* handler) {
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
  Receive(id, stream);
  return id;
}

void UringLoop::Receive(StreamId id, Stream& stream) {
  io_uring_sqe* sqe = NextSubmission();
  io_uring_prep_recv_multishot(sqe, stream.fd.get(), nullptr, 0, 0);
  sqe->flags |= IOSQE_BUFFER_SELECT;
  sqe->buf_group = kBufferGroup;
  io_uring_sqe_set_data64(sqe, Tag(Kind::kReceive, stream.generation, id));
  stream.receiving = true;
}

bool UringLoop::Send(StreamId id, drivers::ByteBuffer& bytes, SendMode mode) {
  Stream& stream = *streams_[id];
  bytes.Swap(stream.sending);
  bytes.Clear();
  const std::string_view view = stream.sending.view();
  io_uring_sqe* sqe = NextSubmission();
  stream.unsubmitted = sqe;
  stream.sent_in = submissions_;
  // All or an error: without MSG_WAITALL a short send would pass unseen.
  io_uring_prep_send(sqe, stream.fd.get(), view.data(), view.size(), MSG_WAITALL | MSG_NOSIGNAL);
  io_uring_sqe_set_data64(sqe, Tag(Kind::kSend, stream.generation, id));
  if (mode == SendMode::kSilent) {
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    return true;
  }
  stream.sending_confirmed = true;
  return false;
}

void UringLoop::CloseStream(StreamId id) {
  Stream& stream = *streams_[id];
  CAVALRY_CHECK(stream.handler != nullptr);
  stream.handler = nullptr;
  ++closing_;
  // Also a silent send may be waiting for space: one cancellation ends all there is.
  io_uring_sqe* sqe = NextSubmission();
  io_uring_prep_cancel_fd(sqe, stream.fd.get(), IORING_ASYNC_CANCEL_ALL);
  io_uring_sqe_set_data64(sqe, Tag(Kind::kCancel, stream.generation, id));
  stream.cancelling = true;
}

void UringLoop::FreeIfLetGo(StreamId id, Stream& stream) {
  if (stream.handler != nullptr || stream.receiving || stream.sending_confirmed ||
      stream.cancelling) {
    return;
  }
  stream.fd.Reset();
  stream.sending.Clear();
  ++stream.generation;
  --closing_;
  free_streams_.push_back(id);
}

void UringLoop::Lose(Stream& stream, int error, std::size_t unsent) {
  if (stream.lost || stream.handler == nullptr) return;
  stream.lost = true;
  stream.handler->OnLost(error, unsent);
}

void UringLoop::OnReceive(std::uint32_t index, std::uint32_t generation, const io_uring_cqe& cqe) {
  Stream& stream = *streams_[index];
  const bool current = (stream.generation & 0xffffff) == generation;
  const bool more = (cqe.flags & IORING_CQE_F_MORE) != 0;
  if (current && !more) stream.receiving = false;
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
    const unsigned buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
    if (cqe.res > 0 && current && stream.handler != nullptr && !stream.lost) {
      stream.handler->OnReceived({buffers_.get() + std::size_t{buffer} * kBufferDistance,
                                  static_cast<std::size_t>(cqe.res)});
    }
    ProvideBuffer(buffer);
  }
  if (!current || more) return;
  if (stream.handler != nullptr && !stream.lost) {
    // Out of buffers, or the kernel ended the request for reasons of its own: ask again.
    if (cqe.res > 0 || cqe.res == -ENOBUFS || cqe.res == -EAGAIN || cqe.res == -EINTR) {
      Receive(index, stream);
    } else {
      Lose(stream, -cqe.res, WithdrawSend(stream));
    }
  }
  FreeIfLetGo(index, stream);
}

void UringLoop::OnSend(std::uint32_t index, std::uint32_t generation, int result) {
  Stream& stream = *streams_[index];
  if ((stream.generation & 0xffffff) != generation) return;
  const std::size_t wanted = stream.sending.size();
  const std::size_t sent = result > 0 ? static_cast<std::size_t>(result) : 0;
  const bool confirmed = std::exchange(stream.sending_confirmed, false);
  if (sent < wanted) {
    Lose(stream, result < 0 ? -result : EPIPE, wanted - sent);
  } else if (confirmed && stream.handler != nullptr && !stream.lost) {
    stream.handler->OnSent();
  }
  FreeIfLetGo(index, stream);
}

Loop::WatchId UringLoop::AddWatch(WatchHandler* handler) {
  if (free_watches_.empty()) {
    free_watches_.push_back(static_cast<WatchId>(watches_.size()));
    watches_.push_back(std::make_unique<Watch>());
  }
  const WatchId id = free_watches_.back();
  free_watches_.pop_back();
  watches_[id]->handler = handler;
  return id;
}

void UringLoop::ArmWatch(WatchId id, int fd, short events, bool) {
  Watch& watch = *watches_[id];
  CAVALRY_CHECK(watch.armed == 0);
  watch.armed = events;
  io_uring_sqe* sqe = NextSubmission();
  io_uring_prep_poll_add(sqe, fd, static_cast<unsigned>(events));
  io_uring_sqe_set_data64(sqe, Tag(Kind::kWatch, watch.generation, id));
}

void UringLoop::DisarmWatch(WatchId id) {
  Watch& watch = *watches_[id];
  if (watch.armed == 0) return;
  watch.armed = 0;
  io_uring_sqe* sqe = NextSubmission();
  io_uring_prep_cancel64(sqe, Tag(Kind::kWatch, watch.generation, id), 0);
  io_uring_sqe_set_data64(sqe, Tag(Kind::kIgnored, 0, 0));
  ++watch.generation;
  // At once: the caller is about to close the descriptor. The cancellation of a poll is done when
  // the call returns.
  Submit();
}

void UringLoop::RemoveWatch(WatchId id) {
  DisarmWatch(id);
  ++watches_[id]->generation;
  watches_[id]->handler = nullptr;
  free_watches_.push_back(id);
}

void UringLoop::OnWatch(std::uint32_t index, std::uint32_t generation, int result) {
  Watch& watch = *watches_[index];
  if ((watch.generation & 0xffffff) != generation || watch.armed == 0) return;
  // An error ends any wait: the next read or write meets it.
  const bool error = result < 0 || (result & (POLLERR | POLLHUP | POLLNVAL)) != 0;
  const auto happened = static_cast<short>(error ? watch.armed : (result & watch.armed));
  watch.armed = 0;
  watch.handler->OnEvents(happened);
}

void UringLoop::SetAlarm(Nanos at) {
  if (at >= alarm_at_) return;  // an early alarm does no harm: it is set anew then
  const std::uint64_t tag = Tag(Kind::kAlarm, 0, 0);
  alarm_time_.tv_sec = at / kSecond;
  alarm_time_.tv_nsec = at % kSecond;
  io_uring_sqe* sqe = NextSubmission();
  if (alarm_at_ == kNever) {
    io_uring_prep_timeout(sqe, &alarm_time_, 0, IORING_TIMEOUT_ABS);
    io_uring_sqe_set_data64(sqe, tag);
  } else {
    // When it has just rung this finds nothing, and the ring that is on its way sets it anew.
    io_uring_prep_timeout_update(sqe, &alarm_time_, tag, IORING_TIMEOUT_ABS);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, Tag(Kind::kIgnored, 0, 0));
  }
  alarm_at_ = at;
}

bool UringLoop::Dispatch(const io_uring_cqe& cqe) {
  const std::uint64_t tag = cqe.user_data;
  const auto index = static_cast<std::uint32_t>(tag);
  const auto generation = static_cast<std::uint32_t>(tag >> 32) & 0xffffff;
  switch (static_cast<Kind>(tag >> 56)) {
    case Kind::kReceive:
      OnReceive(index, generation, cqe);
      break;
    case Kind::kSend:
      OnSend(index, generation, cqe.res);
      break;
    case Kind::kCancel: {
      Stream& stream = *streams_[index];
      stream.cancelling = false;
      FreeIfLetGo(index, stream);
      break;
    }
    case Kind::kWatch:
      OnWatch(index, generation, cqe.res);
      break;
    case Kind::kAlarm:
      alarm_at_ = kNever;
      return true;
    case Kind::kIgnored:
      break;
  }
  return false;
}

bool UringLoop::Turn(Nanos wake_at, bool wait) {
  SetAlarm(wake_at);
  ++submissions_;
  if (wait) {
    io_uring_submit_and_wait(&ring_, 1);
  } else {
    io_uring_submit_and_get_events(&ring_);
  }
  bool rung = false;
  unsigned head;
  unsigned count = 0;
  io_uring_cqe* cqe;
  io_uring_for_each_cqe(&ring_, head, cqe) {
    ++count;
    rung = Dispatch(*cqe) || rung;
  }
  io_uring_cq_advance(&ring_, count);
  return rung;
}

}  // namespace

StatusOr<std::unique_ptr<Loop>> NewUringLoop(const LoopOptions& options) {
  return UringLoop::Create(options);
}

}  // namespace cavalry::run
