#include "agent/run/connection_pool.h"

#include <algorithm>
#include <utility>

#include "agent/run/session.h"
#include "agent/run/worker_context.h"

namespace cavalry::run {

ConnectionPool::ConnectionPool(WorkerContext* context, std::uint32_t size, std::uint32_t overflow) {
  for (std::uint32_t i = 0; i < size; ++i) {
    kept_.push_back(std::make_unique<PoolConnection>(context, this, false));
  }
  for (std::uint32_t i = 0; i < overflow; ++i) {
    overflow_.push_back(std::make_unique<PoolConnection>(context, this, true));
    unopened_.PushBack(overflow_.back().get());
  }
}

ConnectionPool::~ConnectionPool() = default;

void ConnectionPool::Start(std::vector<Session*> sessions) {
  sessions_ = std::move(sessions);
  for (const auto& connection : kept_) connection->set().Start();
}

bool ConnectionPool::Settled(std::uint32_t failed_attempts) const {
  return std::all_of(kept_.begin(), kept_.end(), [&](const auto& connection) {
    return connection->set().ready() || connection->set().failed_attempts() >= failed_attempts;
  });
}

std::string ConnectionPool::last_error() const {
  for (const auto& connection : kept_) {
    if (!connection->set().last_error().empty()) return connection->set().last_error();
  }
  return "";
}

void ConnectionPool::Hand(PoolConnection* connection, SessionSlot* slot) {
  connection->holder_ = slot;
  slot->OnTaken(connection);
}

void ConnectionPool::Take(SessionSlot* slot) {
  if (!free_.empty()) {
    Hand(free_.PopFront(), slot);
  } else if (!unopened_.empty()) {
    PoolConnection* const connection = unopened_.PopFront();
    connection->holder_ = slot;
    connection->set().OpenOnce();
  } else {
    waiting_.PushBack(slot);
  }
}

void ConnectionPool::GiveBack(PoolConnection* connection) {
  if (connection->overflow_) {
    connection->set().Close(true);  // goes on in OnClosed
    return;
  }
  SessionSlot* const slot = std::exchange(connection->holder_, nullptr);
  if (connection->set().ready()) {
    if (waiting_.empty()) {
      free_.PushBack(connection);
    } else {
      Hand(connection, waiting_.PopFront());
    }
  }
  slot->OnGivenBack();
}

void ConnectionPool::OnReady(PoolConnection* connection) {
  if (connection->overflow_) {
    // Anew within an iteration, or for it.
    if (connection->holder_->takes()) {
      connection->holder_->OnTaken(connection);
    } else {
      connection->holder_->OnReady();
    }
    return;
  }
  if (++ready_ == 1) {
    ever_usable_ = true;
    for (Session* session : sessions_) session->OnUsable();
  }
  if (connection->holder_ != nullptr) {
    connection->holder_->OnReady();
  } else if (waiting_.empty()) {
    free_.PushBack(connection);
  } else {
    Hand(connection, waiting_.PopFront());
  }
}

void ConnectionPool::OnLost(PoolConnection* connection) {
  if (connection->holder_ != nullptr) {
    connection->holder_->OnLost();
  } else {
    connection->Unlink();
  }
  if (!connection->overflow_ && --ready_ == 0) {
    for (Session* session : sessions_) session->OnUnusable();
  }
}

void ConnectionPool::OnUnreachable(PoolConnection* connection) {
  SessionSlot* const slot = std::exchange(connection->holder_, nullptr);
  unopened_.PushBack(connection);
  slot->OnTaken(nullptr);
}

void ConnectionPool::OnClosed(PoolConnection* connection) {
  SessionSlot* const slot = std::exchange(connection->holder_, nullptr);
  if (slot == nullptr) return;  // the end of the step
  if (waiting_.empty()) {
    unopened_.PushBack(connection);
  } else {
    connection->holder_ = waiting_.PopFront();
    connection->set().OpenOnce();
  }
  slot->OnGivenBack();
}

void ConnectionPool::Close(bool farewell) {
  for (const auto* connections : {&kept_, &overflow_}) {
    for (const auto& connection : *connections) {
      connection->holder_ = nullptr;
      connection->set().Close(farewell);
    }
  }
}

bool ConnectionPool::closed() const {
  return std::all_of(kept_.begin(), kept_.end(),
                     [](const auto& connection) { return connection->set().closed(); }) &&
         std::all_of(overflow_.begin(), overflow_.end(),
                     [](const auto& connection) { return connection->set().closed(); });
}

}  // namespace cavalry::run
