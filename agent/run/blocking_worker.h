// A worker of blocking clients: a thread per session, or fewer on which its sessions take turns, an
// iteration each, run to its end, as in a program that serves them one after the other. They record
// into one recorder under one mutex; the worker's own thread keeps the time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/run/blocking_connection.h"
#include "agent/run/blocking_session.h"
#include "agent/run/cpu_meter.h"
#include "agent/run/list_link.h"
#include "agent/run/worker.h"

namespace cavalry::run {

class BlockingWorker final : public Worker {
 public:
  using Worker::Worker;

  void Run() override;

 private:
  void Main();
  void MakeSessions();
  // Waits for the next instant or for another thread's word.
  void Wait();
  void StartThreads();
  // The main function of the threads that run sessions.
  void TakeTurns();
  // Connects what is due, or does an iteration of the session that waits longest; false: there is
  // nothing to do before `wake_at`. `lock` holds the mutex.
  bool TakeTurn(std::unique_lock<std::mutex>& lock, CpuMeter* meter, bool* metering,
                Nanos* wake_at);
  void OnConnected(BlockingConnection* connection);
  // The session had its turn.
  void PutBack(BlockingSession* session);
  void ScheduleConnect(BlockingConnection* connection, Nanos earliest);
  void AddReady(std::uint32_t sessions);
  void CloseSessions();

  void Dispatch() override { shared_state_->changed.notify_all(); }
  void AbandonSessions(bool farewell) override;
  bool Settled() const override;
  std::uint32_t ready_sessions() const override;
  std::uint64_t NeverConnected() const override;
  std::string LastError() const override;

  std::mutex mutex_;
  std::unique_ptr<StepContext> context_;
  std::unique_ptr<BlockingShared> shared_state_;
  FramePool frames_;
  std::vector<std::unique_ptr<BlockingSession>> sessions_;
  std::vector<std::unique_ptr<BlockingConnection>> connections_;
  List<BlockingSession> idle_;                                   // in order of their last turns
  std::set<std::pair<Nanos, BlockingConnection*>> unconnected_;  // by when they may connect
  Nanos next_connect_ = 0;
  CpuMeter::Usage usage_;  // of all threads that ended
  std::vector<std::thread> threads_;
};

}  // namespace cavalry::run
