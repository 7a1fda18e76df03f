#include "agent/run/blocking_connection.h"

#include <chrono>

#include <fmt/format.h>

namespace cavalry::run {

void BlockingConnection::Connect(std::unique_lock<std::mutex>& lock) {
  StepContext& context = shared_->context;
  connecting_ = true;
  lock.unlock();
  const Nanos begin = MonotonicNow();
  const drivers::OpResult result = client_->Connect();
  const Nanos end = MonotonicNow();
  lock.lock();
  connecting_ = false;
  if (shared_->abandoned) return;
  context.now = end;
  stats::IntervalRecorder& interval = context.connect_interval();
  if (result.outcome == Outcome::kOk) {
    interval.RecordConnect(end - begin);
    if (ever_connected_ && use_ == Use::kKept) ++interval.reconnects;
    connected_ = true;
    ever_connected_ = true;
    failed_attempts_ = 0;
    return;
  }
  ++failed_attempts_;
  last_error_ = fmt::format("{} {}", result.code, result.text);
  interval.connect_errors.Count(result.code, result.outcome, result.text);
  if (result.severity == Severity::kFatal) {
    context.SetFatal(fmt::format("connect: {}", last_error_));
  }
}

bool BlockingConnection::ConnectAgain(std::unique_lock<std::mutex>& lock) {
  while (!connected_ && !shared_->abandoned) {
    const auto due = std::chrono::steady_clock::time_point(
        std::chrono::nanoseconds(MonotonicNow() + NextBackOff()));
    shared_->changed.wait_until(lock, due, [this] { return shared_->abandoned; });
    if (!shared_->abandoned) Connect(lock);
  }
  return !shared_->abandoned;
}

void BlockingConnection::OnOperation(bool lost) {
  if (lost) {
    connected_ = false;
  } else {
    back_off_.Reset();
  }
}

void BlockingConnection::Close() {
  client_->Close();
  const auto lock = shared_->context.Lock();
  connected_ = false;
}

}  // namespace cavalry::run
