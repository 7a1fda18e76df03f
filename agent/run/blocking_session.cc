#include "agent/run/blocking_session.h"

#include <chrono>
#include <utility>

namespace cavalry::run {

using Use = BlockingConnection::Use;

BlockingSession::BlockingSession(BlockingShared* shared, FramePool* frames, std::uint32_t number)
    : ScriptSlot(&shared->context, number), shared_(shared), task_(RunSession(frames, this)) {
  task_.Resume();  // to its first wait
}

void BlockingSession::RunIteration(std::unique_lock<std::mutex>& lock, const Issue& issue) {
  BeginIteration(issue);
  lock.unlock();
  task_.Resume();
  lock.lock();
}

void BlockingSession::Abandon(Nanos now) {
  if (in_iteration()) RecordAbandoned(std::exchange(executing_, false), now);
}

bool BlockingSession::DoTakeConnections() {
  auto lock = step_context_.Lock();
  if (connection_ == nullptr && !TakeOfPool(lock)) return false;
  if (shared_->abandoned) return false;
  if (connection_->use() == Use::kKept) return connection_->ConnectAgain(lock);
  connection_->Connect(lock);
  if (!connection_->connected()) NoteUnreachable();
  return !shared_->abandoned;
}

bool BlockingSession::TakeOfPool(std::unique_lock<std::mutex>& lock) {
  if (!shared_->free.empty()) {
    connection_ = shared_->free.PopFront();
  } else if (!shared_->unopened.empty()) {
    connection_ = shared_->unopened.PopFront();
  } else {
    shared_->waiting.PushBack(this);
    shared_->changed.wait(lock, [this] { return connection_ != nullptr || shared_->abandoned; });
    Unlink();
  }
  return connection_ != nullptr;
}

bool BlockingSession::DoGiveBack() {
  // Also after an attempt that failed: whatever there is of a connection is closed.
  if (connection_->use() != Use::kKept) connection_->Close();
  if (connection_->owner() == nullptr) GiveBackToPool();
  return true;
}

void BlockingSession::GiveBackToPool() {
  const auto lock = step_context_.Lock();
  BlockingConnection* const connection = std::exchange(connection_, nullptr);
  if (!shared_->waiting.empty()) {
    shared_->waiting.PopFront()->set_connection(connection);
    shared_->changed.notify_all();
  } else if (connection->use() == Use::kOverflow) {
    shared_->unopened.PushBack(connection);
  } else {
    shared_->free.PushBack(connection);
  }
}

bool BlockingSession::DoConnected() {
  if (connection_->connected()) return true;  // changed by whoever has it only
  auto lock = step_context_.Lock();
  return connection_->ConnectAgain(lock);
}

bool BlockingSession::DoExecute() {
  {
    const auto lock = step_context_.Lock();
    if (shared_->abandoned) return false;
    executing_ = true;
    RecordBegin();
  }
  drivers::BlockingClient& client = connection_->client();
  const drivers::OpResult result = client.Run(operation());
  const Nanos end = MonotonicNow();
  const auto lock = step_context_.Lock();
  if (shared_->abandoned) return false;  // it was counted so
  executing_ = false;
  if (OperationTrace* const traced = trace()) [[unlikely]] {
    traced->AddSent(client.request_text());
  }
  RecordEnd(result, end);
  const bool lost = result.severity != Severity::kNormal;
  connection_->OnOperation(lost);
  if (lost) LoseTransaction();
  return true;
}

bool BlockingSession::DoRefuse(const drivers::OpResult& result) {
  const auto lock = step_context_.Lock();
  if (shared_->abandoned) return false;
  RecordBegin();
  RecordEnd(result, start());
  return true;
}

bool BlockingSession::DoSleep(Nanos duration) {
  auto lock = step_context_.Lock();
  const auto until =
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(MonotonicNow() + duration));
  shared_->changed.wait_until(lock, until,
                              [this] { return shared_->abandoned || shared_->ending; });
  return !shared_->abandoned;
}

}  // namespace cavalry::run
