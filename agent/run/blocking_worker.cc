#include "agent/run/blocking_worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "agent/run/connect_pacer.h"

namespace cavalry::run {
namespace {

const drivers::BlockingFactory& FactoryOf(const SharedRun& shared) {
  return *std::get<std::unique_ptr<drivers::BlockingFactory>>(shared.clients);
}

}  // namespace

void BlockingWorker::Run() {
  PrepareThread(shared_.plan.realtime);
  FactoryOf(shared_).EnterThread();
  Main();
  FactoryOf(shared_).LeaveThread();
}

void BlockingWorker::Main() {
  context_ = std::make_unique<StepContext>(&shared_, index_);
  context_->mutex = &mutex_;
  shared_state_ = std::make_unique<BlockingShared>(context_.get());
  shared_.mailbox.Post(ReadyMail{absl::OkStatus()});
  {
    const std::lock_guard lock(mutex_);
    next_connect_ =
        context_->now + ConnectDistance(shared_.plan, shared_.workers) * index_ / shared_.workers;
    for (std::uint32_t i = 0; i < session_count_; ++i) {
      sessions_.push_back(std::make_unique<BlockingSession>(
          shared_state_.get(), &frames_, first_session_ + i, FactoryOf(shared_).NewClient()));
      if (shared_.plan.connect_per_iteration) {
        ++shared_state_->ready_sessions;
        shared_.ready_sessions.fetch_add(1, std::memory_order_relaxed);
      }
      PutBack(sessions_.back().get());
    }
    BeginArming(context_.get());
  }
  StartThreads();
  for (bool going = true; going;) {
    Wait();
    const std::lock_guard lock(mutex_);
    ReadCommands();
    RingDue(context_->now);
    going = GoOn();
  }
  CloseSessions();
  PostResult("threads", usage_);
  sessions_.clear();
}

void BlockingWorker::StartThreads() {
  std::uint32_t count = session_count_;
  if (shared_.plan.blocking_threads) {
    count = std::min(count, std::max(shared_.Share(*shared_.plan.blocking_threads, index_), 1U));
  }
  for (std::uint32_t i = 0; i < count; ++i) threads_.emplace_back([this] { TakeTurns(); });
}

void BlockingWorker::Wait() {
  pollfd polled{shared_.wake_fds[index_].get(), POLLIN, 0};
  const Nanos next = NextInstant();
  timespec wait{};
  if (next != kNever) {
    const Nanos left = std::max<Nanos>(next - MonotonicNow(), 0);
    wait.tv_sec = left / kSecond;
    wait.tv_nsec = left % kSecond;
  }
  ::ppoll(&polled, 1, next == kNever ? nullptr : &wait, nullptr);
  std::uint64_t count = 0;
  if (polled.revents != 0) {
    [[maybe_unused]] const ssize_t got = ::read(polled.fd, &count, sizeof count);
  }
}

void BlockingWorker::TakeTurns() {
  PrepareThread(shared_.plan.realtime);
  FactoryOf(shared_).EnterThread();
  CpuMeter meter;
  bool metering = false;
  {
    std::unique_lock lock(mutex_);
    while (!shared_state_->ending) {
      Nanos wake_at = kNever;
      if (TakeTurn(lock, &meter, &metering, &wake_at)) continue;
      if (wake_at == kNever) {
        shared_state_->changed.wait(lock);
      } else {
        shared_state_->changed.wait_until(
            lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(wake_at)));
      }
    }
    if (metering) {
      const CpuMeter::Usage used = meter.End();
      usage_.user += used.user;
      usage_.system += used.system;
      usage_.run_queue_wait = std::max(usage_.run_queue_wait, used.run_queue_wait);
    }
  }
  FactoryOf(shared_).LeaveThread();
}

bool BlockingWorker::TakeTurn(std::unique_lock<std::mutex>& lock, CpuMeter* meter, bool* metering,
                              Nanos* wake_at) {
  const Nanos now = MonotonicNow();
  if (!unconnected_.empty() && unconnected_.begin()->first <= now) {
    BlockingSession* const session = unconnected_.begin()->second;
    unconnected_.erase(unconnected_.begin());
    session->Connect(lock);
    PutBack(session);
    shared_state_->changed.notify_all();  // there is one more to take, now or later
    shared_.Wake(index_);                 // it may have been the last that arming waits for
    return true;
  }
  Issue issue;
  if (!idle_.empty() && context_->issuer.Next(now, &issue)) {
    if (!*metering && issue.part == &context_->measure) {
      *metering = true;
      meter->Begin();
    }
    BlockingSession* const session = idle_.PopFront();
    session->RunIteration(lock, issue);
    PutBack(session);
    if (!session->usable()) shared_state_->changed.notify_all();
    if (!context_->issuer.issuing()) shared_.Wake(index_);  // it may have been the last
    return true;
  }
  if (!unconnected_.empty()) *wake_at = unconnected_.begin()->first;
  return false;
}

void BlockingWorker::PutBack(BlockingSession* session) {
  if (session->usable()) {
    idle_.PushBack(session);
    return;
  }
  const bool first = session->due() == 0;
  ScheduleConnect(session, MonotonicNow() + (first ? 0 : session->NextBackOff()));
}

void BlockingWorker::ScheduleConnect(BlockingSession* session, Nanos earliest) {
  session->set_due(std::max(earliest, next_connect_));
  next_connect_ = std::max(next_connect_, MonotonicNow()) +
                  ConnectDistance(shared_.plan, shared_.workers);
  unconnected_.emplace(session->due(), session);
}

void BlockingWorker::AbandonSessions(bool) {
  shared_state_->abandoned = true;
  const Nanos now = MonotonicNow();
  for (const auto& session : sessions_) {
    session->Abandon(now);
    session->Interrupt();
  }
  shared_state_->changed.notify_all();
}

void BlockingWorker::CloseSessions() {
  {
    const std::lock_guard lock(mutex_);
    EndMeasure();
    shared_state_->ending = true;
    for (const auto& session : sessions_) {
      if (session->connecting()) session->Interrupt();
    }
    shared_state_->changed.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  const bool farewell = shared_.stop.load() != StopLevel::kQuit;
  for (const auto& session : sessions_) session->Close(farewell);
}

bool BlockingWorker::Settled() const {
  return std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session->settled(kAttemptsAwaited); });
}

std::uint32_t BlockingWorker::ready_sessions() const { return shared_state_->ready_sessions; }

std::uint64_t BlockingWorker::NeverConnected() const {
  return static_cast<std::uint64_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [](const auto& session) { return session->never_connected(); }));
}

std::string BlockingWorker::LastError() const {
  return sessions_.empty() ? "" : sessions_.front()->last_error();
}

}  // namespace cavalry::run
