#include "agent/run/channel.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/run/session.h"
#include "agent/run/worker_context.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

// A longer request may have to wait for space in the socket, so it is always confirmed.
constexpr std::size_t kSilentBytes = 4096;
// A Unix listener whose queue is full is asked again after 1, 2, 4, … ms.
constexpr Nanos kShortestBacklogWait = kMillisecond;
constexpr Nanos kLongestBacklogWait = 50 * kMillisecond;

}  // namespace

Channel::Channel(WorkerContext* context, ConnectionOwner* owner,
                 const drivers::CodecFactory& factory, std::size_t endpoint, Tickets tickets,
                 std::uint32_t count)
    : Connection(context, owner),
      factory_(factory),
      endpoint_(endpoint),
      tickets_(tickets),
      node_(factory.endpoints_are_nodes() ? static_cast<std::uint32_t>(endpoint) : kNoNode),
      in_flight_(count) {
  if (tickets_ == Tickets::kOfSlots) return;
  free_tickets_.reserve(count);
  for (std::uint32_t ticket = count; ticket > 0; --ticket) free_tickets_.push_back(ticket - 1);
}

void Channel::Open() {
  codec_ = factory_.NewCodec(endpoint_);
  backlog_wait_ = 0;
  addresses_tried_ = 0;
  handed_over_ = 0;
  sending_ = false;
  given_up_ = false;
  Connect();
}

void Channel::Connect() {
  int error = 0;
  const drivers::EndpointAddress& address = context().shared.addresses[endpoint_];
  UniqueFd fd = drivers::BeginConnect(address, address_, &error);
  if (error == 0) {
    OnConnected(std::move(fd));
  } else if (error == EINPROGRESS) {
    connecting_ = std::move(fd);
    socket_ = Socket::kConnecting;
    watch_ = context().loop->AddWatch(this);
    context().loop->ArmWatch(watch_, connecting_.get(), POLLOUT, true);
  } else if (error == EAGAIN && address.is_unix) {
    backlog_wait_ = std::clamp(backlog_wait_ * 2, kShortestBacklogWait, kLongestBacklogWait);
    SetConnectTimer(MonotonicNow() + backlog_wait_);
  } else {
    ConnectElsewhere(error);
  }
}

void Channel::ConnectElsewhere(int error) {
  ++address_;
  if (++addresses_tried_ < context().shared.addresses[endpoint_].addresses.size()) {
    Connect();
  } else {
    FailAttempt(error);
  }
}

void Channel::OnConnectTimer(Nanos) {
  // Only when a Unix listener's queue was full; else the attempt has its deadline only.
  if (socket_ == Socket::kNone) Connect();
}

void Channel::OnEvents(short) {
  context().loop->RemoveWatch(watch_);
  UniqueFd socket = std::move(connecting_);
  socket_ = Socket::kNone;
  const int error = drivers::ConnectError(socket.get());
  if (error == 0) {
    OnConnected(std::move(socket));
  } else {
    socket.Reset();
    ConnectElsewhere(error);
  }
}

void Channel::OnConnected(UniqueFd socket) {
  stream_ = context().loop->OpenStream(std::move(socket), this);
  socket_ = Socket::kOpen;
  SetConnectTimer(kNever);
  const drivers::ConnectionState state = codec_->Start(out_);
  if (state == drivers::ConnectionState::kFailed) {
    FailAttempt(codec_->error());
    return;
  }
  Flush();
  if (state == drivers::ConnectionState::kReady) BecomeReady();
}

void Channel::Drop() {
  if (socket_ == Socket::kConnecting) {
    context().loop->RemoveWatch(watch_);
    connecting_.Reset();
  } else if (socket_ == Socket::kOpen) {
    context().loop->CloseStream(stream_);
  }
  socket_ = Socket::kNone;
  out_.Clear();
  sending_ = false;
}

void Channel::Execute(SessionSlot* slot) {
  slot->Begin();
  const std::size_t before = out_.size();
  slot->set_position(handed_over_ + before);
  slot->set_node(node_);
  const drivers::Ticket ticket = TicketFor(*slot);
  if (!codec_->Encode(slot->operation(), ticket, out_)) [[unlikely]] {
    const bool lost = codec_->error().severity != Severity::kNormal;
    slot->Complete(codec_->error(), MonotonicNow());
    if (lost) {
      EndInFlight(drivers::ErrnoResult(ECONNABORTED, Outcome::kBroken), handed_over_);
      Lose();
    }
    return;
  }
  if (OperationTrace* trace = slot->trace()) [[unlikely]] {
    tracing_ = true;
    trace->AddSent(out_.view().substr(before));
  }
  in_flight_[ticket] = slot;
  if (tickets_ == Tickets::kOwn) free_tickets_.pop_back();
  if (!set()) {
    context().wheel.Set(this, slot->start() + context().plan.operation_timeout, slot->start());
  }
  if (!unflushed_) {
    unflushed_ = true;
    context().unflushed.push_back(this);
  }
}

drivers::Ticket Channel::TicketFor(const SessionSlot& slot) {
  if (tickets_ == Tickets::kOfSlots) return slot.ticket();
  CAVALRY_CHECK(!free_tickets_.empty());
  return free_tickets_.back();
}

SessionSlot* Channel::Release(drivers::Ticket ticket) {
  CAVALRY_CHECK(ticket < in_flight_.size());
  SessionSlot* const slot = std::exchange(in_flight_[ticket], nullptr);
  CAVALRY_CHECK(slot != nullptr);
  if (tickets_ == Tickets::kOwn) free_tickets_.push_back(ticket);
  return slot;
}

void Channel::Flush() {
  unflushed_ = false;
  if (sending_ || socket_ != Socket::kOpen) return;
  codec_->EndBatch(out_);
  if (out_.empty()) return;
  handed_over_ += out_.size();
  const bool alone = ready() && in_flight_.size() == 1 && out_.size() <= kSilentBytes;
  sending_ = !context().loop->Send(stream_, out_, alone ? SendMode::kSilent : SendMode::kConfirmed);
}

void Channel::OnSent() {
  sending_ = false;
  Flush();
}

void Channel::OnReceived(std::string_view bytes) {
  unflushed_ = true;  // what is encoded meanwhile goes out at the end
  if (tracing_) [[unlikely]] {
    Trace(bytes);
  }
  const drivers::ConnectionState state = codec_->Feed(bytes, out_, *this);
  if (this->state() == State::kConnecting) {
    if (state == drivers::ConnectionState::kFailed) {
      FailAttempt(codec_->error());
      return;
    }
    if (state == drivers::ConnectionState::kReady) BecomeReady();
  } else if (state == drivers::ConnectionState::kFailed) [[unlikely]] {
    EndInFlight(codec_->error(), handed_over_);
    Lose();
  } else if (given_up_) [[unlikely]] {
    EndInFlight(drivers::ErrnoResult(ECONNABORTED, Outcome::kBroken), handed_over_);
    Lose();
  }
  context().ResumeReady();
  Flush();
}

// Of several operations in flight each is told all that came since it was sent.
void Channel::Trace(std::string_view received) {
  tracing_ = false;
  for (SessionSlot* slot : in_flight_) {
    OperationTrace* const trace = slot == nullptr ? nullptr : slot->trace();
    if (trace == nullptr) continue;
    tracing_ = true;
    trace->AddReceived(received);
  }
}

void Channel::OnDone(drivers::Ticket ticket, const drivers::OpResult& result) {
  const Nanos end = MonotonicNow();
  SessionSlot* const slot = Release(ticket);
  if (result.severity != Severity::kNormal) [[unlikely]] {
    given_up_ = true;
  } else {
    NoteProgress();
  }
  slot->Complete(result, end);
}

void Channel::OnLost(int error, std::size_t unsent) {
  if (state() == State::kConnecting) {
    // Connected, and lost before it was ready.
    FailAttempt(drivers::ErrnoResult(error, Outcome::kBroken));
    return;
  }
  EndInFlight(drivers::ErrnoResult(error, Outcome::kBroken), handed_over_ - unsent);
  Lose();
  context().ResumeReady();
}

void Channel::EndInFlight(const drivers::OpResult& result, std::uint64_t written) {
  drivers::OpResult unsent = result;
  unsent.outcome = Outcome::kNotSent;
  unsent.outcome_unknown = false;
  for (drivers::Ticket ticket = 0; ticket < in_flight_.size(); ++ticket) {
    if (in_flight_[ticket] == nullptr) continue;
    SessionSlot* const slot = Release(ticket);
    slot->Complete(slot->position() >= written ? unsent : result, MonotonicNow());
  }
}

void Channel::OnReadyTimer(Nanos now) {
  // Set by the first of the operations since, not by each: look who is due.
  const Nanos timeout = context().plan.operation_timeout;
  Nanos next = kNever;
  bool expired = false;
  for (const SessionSlot* slot : in_flight_) {
    if (slot == nullptr) continue;
    const Nanos deadline = slot->start() + timeout;
    if (deadline <= now) {
      expired = true;
    } else {
      next = std::min(next, deadline);
    }
  }
  if (expired && EndExpired(now)) {
    drivers::OpResult neighbour = drivers::ErrnoResult(ECONNABORTED, Outcome::kBroken);
    neighbour.text = "given up with its connection after another operation's time-out";
    EndInFlight(neighbour, handed_over_);
    Lose();
    return;
  }
  if (next != kNever) context().wheel.Set(this, next, now);
}

bool Channel::EndExpired(Nanos now) {
  drivers::OpResult result;
  result.outcome = Outcome::kTimeout;
  result.code = "timeout";
  result.text = "no answer within operation_timeout";
  bool give_up = false;
  for (drivers::Ticket ticket = 0; ticket < in_flight_.size(); ++ticket) {
    const SessionSlot* const due = in_flight_[ticket];
    if (due == nullptr || due->start() + context().plan.operation_timeout > now) continue;
    const bool goes_on = codec_->Forget(ticket);
    give_up |= !goes_on;
    SessionSlot* const slot = Release(ticket);
    result.severity = goes_on ? Severity::kNormal : Severity::kReconnect;
    result.outcome_unknown = slot->position() < handed_over_;
    slot->Complete(result, MonotonicNow());
  }
  return give_up;
}

}  // namespace cavalry::run
