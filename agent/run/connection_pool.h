// A worker's share of the pool: connections that its sessions take for one iteration each and give
// back. Whoever finds none waits, in order. Beyond those that are kept, `overflow` more are opened
// on demand and closed when given back. Worker thread only; outlives the sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/connection_set.h"
#include "agent/run/list_link.h"

namespace cavalry::run {

class PoolConnection;
class Session;
class SessionSlot;
struct WorkerContext;

class ConnectionPool {
 public:
  ConnectionPool(WorkerContext* context, std::uint32_t size, std::uint32_t overflow);
  ~ConnectionPool();

  // Connects those that are kept. `sessions` are told when the first is there and when the last is
  // lost.
  void Start(std::vector<Session*> sessions);
  // Any of those that are kept is connected.
  bool usable() const { return ready_ > 0; }
  bool ever_usable() const { return ever_usable_; }
  // All that are kept are connected, or have failed so often.
  bool Settled(std::uint32_t failed_attempts) const;
  std::string last_error() const;

  // Gives the slot a connection by SessionSlot::OnTaken, from within or later.
  void Take(SessionSlot* slot);
  // Tells the slot by SessionSlot::OnGivenBack when it may go on, from within or later.
  void GiveBack(PoolConnection* connection);

  void Close(bool farewell);
  bool closed() const;

 private:
  friend class PoolConnection;

  void OnReady(PoolConnection* connection);
  void OnLost(PoolConnection* connection);
  void OnUnreachable(PoolConnection* connection);
  void OnClosed(PoolConnection* connection);
  void Hand(PoolConnection* connection, SessionSlot* slot);

  std::uint32_t ready_ = 0;  // of those that are kept, taken ones included
  bool ever_usable_ = false;
  std::vector<Session*> sessions_;
  std::vector<std::unique_ptr<PoolConnection>> kept_;
  std::vector<std::unique_ptr<PoolConnection>> overflow_;
  List<PoolConnection> free_;      // kept, connected, not taken
  List<PoolConnection> unopened_;  // overflow that is not in use
  List<SessionSlot> waiting_;
};

// One of the pool's.
class PoolConnection final : public ListLink, private ConnectionUser {
 public:
  PoolConnection(WorkerContext* context, ConnectionPool* pool, bool overflow)
      : pool_(pool), overflow_(overflow), set_(context, this, 1) {}

  ConnectionSet& set() { return set_; }
  const ConnectionSet& set() const { return set_; }

 private:
  friend class ConnectionPool;

  void OnSetReady() override { pool_->OnReady(this); }
  void OnSetLost() override { pool_->OnLost(this); }
  void OnSetUnreachable() override { pool_->OnUnreachable(this); }
  void OnSetClosed() override { pool_->OnClosed(this); }

  ConnectionPool* const pool_;
  const bool overflow_;
  SessionSlot* holder_ = nullptr;  // null: not taken
  ConnectionSet set_;
};

}  // namespace cavalry::run
