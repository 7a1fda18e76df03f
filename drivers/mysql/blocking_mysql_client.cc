#include "drivers/mysql/blocking_mysql_client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/base/check.h"

namespace cavalry::drivers::mysql {
namespace {

// A farewell is a few bytes that are not answered; a peer that does not take them is left.
constexpr Nanos kCloseTimeout = kSecond;

}  // namespace

BlockingMysqlClient::BlockingMysqlClient(const SessionPlan& plan, DeadlineWatch* watch)
    : plan_(plan), watch_(watch), session_(plan), interrupted_(eventfd(0, EFD_CLOEXEC)) {
  CAVALRY_CHECK(interrupted_.get() >= 0);
  watch_->Add(this);
}

BlockingMysqlClient::~BlockingMysqlClient() { watch_->Remove(this); }

OpResult BlockingMysqlClient::Connect() {
  SetSocket(-1);
  const OpResult result = Drive(session_->StartConnect(), MonotonicNow() + plan_.connect_timeout);
  SetSocket(session_->socket());
  return result;
}

OpResult BlockingMysqlClient::Run(const Operation& operation) {
  deadline_.store(MonotonicNow() + plan_.operation_timeout, std::memory_order_release);
  const PollStep step = session_->Start(operation);
  if (deadline_.exchange(kNever, std::memory_order_acq_rel) != kLate) [[likely]] {
    return step.result;
  }
  // The watch may still be about to shut the socket down: not before it has may that be closed.
  const std::lock_guard lock(mutex_);
  OpResult late;
  late.outcome = Outcome::kTimeout;
  late.severity = Severity::kReconnect;
  late.outcome_unknown = LeavesTrace(operation.plan->kind);
  return late;
}

void BlockingMysqlClient::EndIfLate(Nanos now) {
  Nanos deadline = deadline_.load(std::memory_order_acquire);
  if (deadline == kLate || deadline > now) return;
  const std::lock_guard lock(mutex_);
  if (!deadline_.compare_exchange_strong(deadline, kLate)) return;
  if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
}

void BlockingMysqlClient::Interrupt() {
  const std::uint64_t one = 1;
  CAVALRY_CHECK(write(interrupted_.get(), &one, sizeof(one)) == sizeof(one));
  const std::lock_guard lock(mutex_);
  is_interrupted_ = true;
  if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
}

void BlockingMysqlClient::Close() {
  SetSocket(-1);
  Drive(session_->StartClose(), MonotonicNow() + kCloseTimeout);
}

void BlockingMysqlClient::SetSocket(int fd) {
  const std::lock_guard lock(mutex_);
  socket_ = fd;
  if (is_interrupted_ && fd >= 0) shutdown(fd, SHUT_RDWR);
}

OpResult BlockingMysqlClient::Drive(PollStep step, Nanos deadline) {
  while (!step.done) {
    const Nanos left = std::max<Nanos>(deadline - MonotonicNow(), 0);
    const bool is_librarys = step.wait.timeout > 0 && step.wait.timeout < left;
    const Nanos wait = is_librarys ? step.wait.timeout : left;
    const timespec timeout = {static_cast<time_t>(wait / kSecond), wait % kSecond};
    pollfd waiting[] = {{step.wait.fd, step.wait.events, 0}, {interrupted_.get(), POLLIN, 0}};
    const int ready = ppoll(waiting, 2, &timeout, nullptr);
    if (waiting[1].revents != 0) return GiveUp(Outcome::kBroken, "interrupted");
    if (ready == 0 && !is_librarys) {
      return GiveUp(Outcome::kTimeout, plan_.address.label + ": no answer within the timeout");
    }
    if (ready < 0) continue;  // a signal
    step = session_->Continue(waiting[0].revents, ready == 0);
  }
  return step.result;
}

OpResult BlockingMysqlClient::GiveUp(Outcome outcome, std::string text) {
  session_.emplace(plan_);
  text_ = std::move(text);
  OpResult result;
  result.outcome = outcome;
  result.severity = Severity::kReconnect;
  result.text = text_;
  return result;
}

}  // namespace cavalry::drivers::mysql
