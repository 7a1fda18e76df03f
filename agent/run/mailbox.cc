#include "agent/run/mailbox.h"

#include <chrono>
#include <utility>

namespace cavalry::run {

Mailbox::Mailbox(std::uint32_t workers) {
  // So that a worker does not allocate when it posts.
  mails_.reserve(std::size_t{workers} * 8);
  recorders_.reserve(std::size_t{workers} * 8);
}

void Mailbox::Post(Mail mail) {
  {
    std::lock_guard lock(mutex_);
    mails_.push_back(std::move(mail));
  }
  arrived_.notify_one();
}

std::optional<Mail> Mailbox::Take(Nanos deadline) {
  std::unique_lock lock(mutex_);
  // steady_clock is CLOCK_MONOTONIC.
  const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(deadline)};
  if (!arrived_.wait_until(lock, until, [this] { return taken_ < mails_.size(); })) {
    return std::nullopt;
  }
  std::optional<Mail> mail(std::move(mails_[taken_++]));
  if (taken_ == mails_.size()) {
    mails_.clear();
    taken_ = 0;
  }
  return mail;
}

std::unique_ptr<stats::IntervalRecorder> Mailbox::TakeRecorder() {
  std::lock_guard lock(mutex_);
  if (recorders_.empty()) return nullptr;
  std::unique_ptr<stats::IntervalRecorder> recorder = std::move(recorders_.back());
  recorders_.pop_back();
  return recorder;
}

void Mailbox::ReturnRecorder(std::unique_ptr<stats::IntervalRecorder> recorder) {
  recorder->Clear();
  std::lock_guard lock(mutex_);
  recorders_.push_back(std::move(recorder));
}

}  // namespace cavalry::run
