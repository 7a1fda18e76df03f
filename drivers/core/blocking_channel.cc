#include "drivers/core/blocking_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/check.h"
#include "drivers/core/connect_error.h"
#include "drivers/core/endpoint_address.h"

namespace cavalry::drivers {
namespace {

constexpr std::size_t kReceiveBytes = 64 * 1024;

// What is left until the deadline, for poll(2): at least 1 ms while any is.
int MillisecondsUntil(Nanos deadline) {
  const Nanos left = deadline - MonotonicNow();
  return left <= 0 ? 0 : static_cast<int>(std::min<Nanos>(left / kMillisecond + 1, 1'000'000));
}

// Waits until poll(2) sees one of `events`, or the deadline has passed (false).
bool Await(int fd, short events, Nanos deadline) {
  while (true) {
    pollfd entry{fd, events, 0};
    const int found = ::poll(&entry, 1, MillisecondsUntil(deadline));
    if (found > 0) return true;
    if (found == 0 && MonotonicNow() >= deadline) return false;
    if (found < 0 && errno != EINTR) return true;  // the next call on it tells
  }
}

// One attempt; `error` is an errno, or ETIMEDOUT at the deadline.
UniqueFd ConnectTo(const EndpointAddress& address, std::size_t attempt, Nanos deadline,
                   int* error) {
  // A Unix listener whose queue is full says EAGAIN and gives nothing to wait on.
  constexpr int kQueueWaitMs = 5;
  while (true) {
    UniqueFd socket = BeginConnect(address, attempt, error);
    if (*error == EAGAIN && MonotonicNow() < deadline) {
      ::poll(nullptr, 0, kQueueWaitMs);
      continue;
    }
    if (*error == EINPROGRESS) {
      *error = Await(socket.get(), POLLOUT, deadline) ? ConnectError(socket.get()) : ETIMEDOUT;
    }
    return socket;
  }
}

}  // namespace

BlockingChannel::BlockingChannel(std::unique_ptr<Codec> codec, Nanos operation_timeout)
    : codec_(std::move(codec)), operation_timeout_(operation_timeout) {}

StatusOr<std::unique_ptr<BlockingChannel>> BlockingChannel::Open(const Endpoint& endpoint,
                                                                 std::unique_ptr<Codec> codec,
                                                                 Nanos connect_timeout,
                                                                 Nanos operation_timeout) {
  const Nanos deadline = MonotonicNow() + connect_timeout;
  CAVALRY_ASSIGN_OR_RETURN(const EndpointAddress address, ResolveEndpoint(endpoint));
  std::unique_ptr<BlockingChannel> channel(
      new BlockingChannel(std::move(codec), operation_timeout));
  int error = 0;
  for (std::size_t i = 0; i < address.addresses.size(); ++i) {
    UniqueFd socket = ConnectTo(address, i, deadline, &error);
    if (error != 0) continue;
    CAVALRY_RETURN_IF_ERROR(channel->ShakeHands(endpoint, std::move(socket), deadline));
    return channel;
  }
  const OpResult result = ErrnoResult(error, Outcome::kNotSent);
  return Unavailable("{}: cannot connect: {} {}", endpoint.label, result.code, result.text);
}

Status BlockingChannel::ShakeHands(const Endpoint& endpoint, UniqueFd socket, Nanos deadline) {
  socket_ = std::move(socket);
  usable_ = true;
  ConnectionState state = codec_->Start(out_);
  while (state == ConnectionState::kHandshake) {
    if (!SendAll(deadline)) break;
    state = Receive(deadline);
  }
  if (state == ConnectionState::kReady && SendAll(deadline)) return absl::OkStatus();
  const OpResult& why = state == ConnectionState::kFailed && usable_ ? codec_->error() : lost_;
  usable_ = false;
  return Unavailable("{}: {} {}", endpoint.label, why.code, why.text);
}

OpResult BlockingChannel::Run(const Operation& operation) {
  OpResult result;
  RunAll({&operation, 1}, 1, [&](std::size_t, const OpResult& one) { result = one; });
  return result;
}

void BlockingChannel::RunAll(std::span<const Operation> operations, std::uint32_t in_flight,
                             const std::function<void(std::size_t, const OpResult&)>& done) {
  done_ = &done;
  index_of_.assign(in_flight, kIdle);
  free_.clear();
  for (Ticket ticket = 0; ticket < in_flight; ++ticket) free_.push_back(ticket);
  std::size_t next = 0;
  while (next < operations.size() || free_.size() < in_flight) {
    while (usable_ && next < operations.size() && !free_.empty()) {
      const std::size_t index = next++;
      const Ticket ticket = free_.back();
      if (!codec_->Encode(operations[index], ticket, out_)) {
        const OpResult refused = codec_->error();
        if (refused.severity != Severity::kNormal) GiveUp(refused);
        done(index, refused);
        continue;
      }
      free_.pop_back();
      index_of_[ticket] = index;
    }
    const Nanos deadline = MonotonicNow() + operation_timeout_;
    if (usable_ && free_.size() < in_flight && SendAll(deadline)) {
      if (Receive(deadline) == ConnectionState::kFailed && usable_) GiveUp(codec_->error());
    }
    if (usable_) continue;
    for (std::size_t& index : index_of_) {
      if (index != kIdle) done(std::exchange(index, kIdle), lost_);
    }
    OpResult unsent = lost_;
    unsent.outcome = Outcome::kNotSent;
    unsent.outcome_unknown = false;
    while (next < operations.size()) done(next++, unsent);
    break;
  }
  done_ = nullptr;
}

void BlockingChannel::OnDone(Ticket ticket, const OpResult& result) {
  CAVALRY_CHECK(ticket < index_of_.size() && index_of_[ticket] != kIdle);
  const std::size_t index = std::exchange(index_of_[ticket], kIdle);
  free_.push_back(ticket);
  if (result.severity != Severity::kNormal) GiveUp(result);
  (*done_)(index, result);
}

bool BlockingChannel::SendAll(Nanos deadline) {
  codec_->EndBatch(out_);
  while (!out_.empty()) {
    const std::string_view bytes = out_.view();
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      out_.Consume(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      // Answers may have to be taken before the server takes more.
      if (!Await(socket_.get(), POLLOUT | POLLIN, deadline)) return TimedOut();
      pollfd entry{socket_.get(), POLLOUT, 0};
      if (::poll(&entry, 1, 0) > 0) continue;
      if (Receive(deadline) == ConnectionState::kFailed) return false;
    } else if (errno != EINTR) {
      GiveUp(ErrnoResult(errno, Outcome::kBroken));
      return false;
    }
  }
  return true;
}

ConnectionState BlockingChannel::Receive(Nanos deadline) {
  in_.resize(kReceiveBytes);
  while (Await(socket_.get(), POLLIN, deadline)) {
    const ssize_t got = ::recv(socket_.get(), in_.data(), in_.size(), 0);
    if (got > 0) return codec_->Feed({in_.data(), static_cast<std::size_t>(got)}, out_, *this);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    GiveUp(ErrnoResult(got == 0 ? 0 : errno, Outcome::kBroken));
    return ConnectionState::kFailed;
  }
  TimedOut();
  return ConnectionState::kFailed;
}

bool BlockingChannel::TimedOut() {
  OpResult late;
  late.outcome = Outcome::kTimeout;
  late.severity = Severity::kReconnect;
  late.outcome_unknown = true;
  late.code = "timeout";
  late.text = "no answer in time";
  GiveUp(late);
  return false;
}

void BlockingChannel::GiveUp(const OpResult& why) {
  if (!usable_) return;
  usable_ = false;
  lost_ = why;
  // The codec's texts need not outlive its next call.
  lost_code_ = std::string(why.code);
  lost_text_ = std::string(why.text);
  lost_.code = lost_code_;
  lost_.text = lost_text_;
  lost_.severity = std::max(why.severity, Severity::kReconnect);
}

}  // namespace cavalry::drivers
