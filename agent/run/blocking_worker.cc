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
    MakeSessions();
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
  connections_.clear();
}

void BlockingWorker::MakeSessions() {
  using Use = BlockingConnection::Use;
  const LoadPlan& plan = shared_.plan;
  next_connect_ = context_->now + ConnectDistance(plan, shared_.workers) * index_ / shared_.workers;
  const auto add = [this](BlockingSession* owner, Use use) {
    connections_.push_back(std::make_unique<BlockingConnection>(shared_state_.get(), owner, use,
                                                                FactoryOf(shared_).NewClient()));
    if (use == Use::kKept) ScheduleConnect(connections_.back().get(), context_->now);
    return connections_.back().get();
  };
  for (std::uint32_t i = 0; i < session_count_; ++i) {
    sessions_.push_back(
        std::make_unique<BlockingSession>(shared_state_.get(), &frames_, first_session_ + i));
    BlockingSession* const session = sessions_.back().get();
    if (!plan.pool_size) {
      session->set_connection(
          add(session, plan.connect_per_iteration ? Use::kPerIteration : Use::kKept));
    }
    if (plan.takes_connections()) idle_.PushBack(session);
  }
  if (plan.connect_per_iteration) AddReady(session_count_);
  if (!plan.pool_size) return;
  const std::uint32_t size = std::max(shared_.Share(*plan.pool_size, index_), 1U);
  for (std::uint32_t i = 0; i < size; ++i) add(nullptr, Use::kKept);
  for (std::uint32_t i = 0; i < shared_.Share(plan.pool_overflow, index_); ++i) {
    shared_state_->unopened.PushBack(add(nullptr, Use::kOverflow));
  }
}

void BlockingWorker::AddReady(std::uint32_t sessions) {
  shared_state_->ready_sessions += sessions;
  shared_.ready_sessions.fetch_add(sessions, std::memory_order_relaxed);
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
    BlockingConnection* const connection = unconnected_.begin()->second;
    unconnected_.erase(unconnected_.begin());
    connection->Connect(lock);
    if (connection->connected()) {
      OnConnected(connection);
    } else {
      ScheduleConnect(connection, MonotonicNow() + connection->NextBackOff());
    }
    shared_state_->changed.notify_all();  // there is one more to take, now or later
    shared_.Wake(index_);                 // it may have been the last that arming waits for
    return true;
  }
  Issue issue;
  if (shared_state_->ready_sessions > 0 && !idle_.empty() && context_->issuer.Next(now, &issue)) {
    if (!*metering && issue.part == &context_->measure) {
      *metering = true;
      meter->Begin();
    }
    BlockingSession* const session = idle_.PopFront();
    session->RunIteration(lock, issue);
    PutBack(session);
    if (!context_->issuer.issuing()) shared_.Wake(index_);  // it may have been the last
    return true;
  }
  if (!unconnected_.empty()) *wake_at = unconnected_.begin()->first;
  return false;
}

void BlockingWorker::OnConnected(BlockingConnection* connection) {
  if (connection->owner() != nullptr) {
    AddReady(1);
    idle_.PushBack(connection->owner());
    return;
  }
  // The pool's first makes all sessions ready.
  if (shared_state_->ready_sessions == 0) AddReady(session_count_);
  if (shared_state_->waiting.empty()) {
    shared_state_->free.PushBack(connection);
  } else {
    shared_state_->waiting.PopFront()->set_connection(connection);
  }
}

void BlockingWorker::PutBack(BlockingSession* session) {
  BlockingConnection* const connection = session->connection();
  if (shared_.plan.takes_connections() || connection->connected()) {
    idle_.PushBack(session);
    return;
  }
  shared_.ready_sessions.fetch_sub(1, std::memory_order_relaxed);
  if (--shared_state_->ready_sessions == 0) context_->issuer.GiveBack();
  ScheduleConnect(connection, MonotonicNow() + connection->NextBackOff());
  shared_state_->changed.notify_all();
}

void BlockingWorker::ScheduleConnect(BlockingConnection* connection, Nanos earliest) {
  const Nanos due = std::max(earliest, next_connect_);
  next_connect_ =
      std::max(next_connect_, MonotonicNow()) + ConnectDistance(shared_.plan, shared_.workers);
  unconnected_.emplace(due, connection);
}

void BlockingWorker::AbandonSessions(bool) {
  shared_state_->abandoned = true;
  const Nanos now = MonotonicNow();
  for (const auto& session : sessions_) session->Abandon(now);
  for (const auto& connection : connections_) connection->Interrupt();
  shared_state_->changed.notify_all();
}

void BlockingWorker::CloseSessions() {
  {
    const std::lock_guard lock(mutex_);
    EndMeasure();
    shared_state_->ending = true;
    for (const auto& connection : connections_) {
      if (connection->connecting()) connection->Interrupt();
    }
    shared_state_->changed.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  for (const auto& session : sessions_) session->EndAbandoned();
  if (shared_.stop.load() == StopLevel::kQuit) return;
  for (const auto& connection : connections_) connection->Close();
}

bool BlockingWorker::Settled() const {
  return std::all_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->connected() || connection->use() != BlockingConnection::Use::kKept ||
           connection->failed_attempts() >= kAttemptsAwaited;
  });
}

std::uint32_t BlockingWorker::ready_sessions() const { return shared_state_->ready_sessions; }

std::uint64_t BlockingWorker::NeverConnected() const {
  const auto failed = [](const auto& connection) {
    return !connection->ever_connected() && (connection->use() == BlockingConnection::Use::kKept ||
                                             connection->failed_attempts() > 0);
  };
  if (shared_.plan.pool_size) {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return !connection->ever_connected(); })
               ? session_count_
               : 0;
  }
  return static_cast<std::uint64_t>(
      std::count_if(connections_.begin(), connections_.end(), failed));
}

std::string BlockingWorker::LastError() const {
  for (const auto& connection : connections_) {
    if (!connection->last_error().empty()) return connection->last_error();
  }
  return "";
}

}  // namespace cavalry::run
