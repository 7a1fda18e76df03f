// A worker of clients that do not block: one thread with a loop and all its sessions on it. Nothing
// is shared while it measures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/connection_pool.h"
#include "agent/run/session.h"
#include "agent/run/shared_connections.h"
#include "agent/run/worker.h"
#include "agent/run/worker_context.h"

namespace cavalry::run {

class LoopWorker final : public Worker, private WatchHandler {
 public:
  using Worker::Worker;

  void Run() override;

 private:
  void OnEvents(short events) override;  // woken by another thread
  void Main();
  void Turn();
  void CloseConnections();
  bool Closed() const;

  void Dispatch() override;
  void AbandonSessions(bool farewell) override;
  bool AllConnected() const override;
  bool Settled() const override;
  std::uint32_t ready_sessions() const override { return context_->ready_sessions; }
  std::uint64_t NeverConnected() const override;
  std::string LastError() const override;

  std::unique_ptr<WorkerContext> context_;
  std::unique_ptr<ConnectionPool> pool_;                   // null: none
  std::unique_ptr<SharedConnections> shared_connections_;  // null: none
  std::vector<std::unique_ptr<Session>> sessions_;
  Loop::WatchId wake_watch_ = 0;
};

}  // namespace cavalry::run
