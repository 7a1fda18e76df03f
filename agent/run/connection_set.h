// The connections of one session at a time: one to each endpoint that the script uses (codec), or
// the one of a client library. Ready when all are. Owned by a session or by the pool; worker thread
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/connection.h"
#include "agent/run/load_plan.h"
#include "drivers/core/codec.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

// Told what becomes of a set. Must outlive it.
class ConnectionUser {
 public:
  virtual void OnSetReady() = 0;
  // One of its connections is lost; it comes back by itself.
  virtual void OnSetLost() = 0;
  // OpenOnce failed.
  virtual void OnSetUnreachable() = 0;
  // After Close: all are closed.
  virtual void OnSetClosed() = 0;

 protected:
  ~ConnectionUser() = default;
};

// The factory's endpoints that the script's operations go to, each once.
std::vector<std::size_t> EndpointsUsed(const LoadPlan& plan, const drivers::CodecFactory& factory);

class ConnectionSet final : public ConnectionOwner {
 public:
  // `tickets`: operations in flight at most.
  ConnectionSet(WorkerContext* context, ConnectionUser* user, std::uint32_t tickets);
  ~ConnectionSet();

  // Connects and stays connected: paced, tried again.
  void Start();
  // Connects at once, one attempt each; ends in OnSetReady or OnSetUnreachable, from within or
  // later. REQUIRES: nothing before it, or closed().
  void OpenOnce();
  bool ready() const { return ready_ == connections_.size(); }
  bool ever_ready() const { return ever_ready_; }
  // Failed attempts in a row of the connection that has most.
  std::uint32_t failed_attempts() const;
  const std::string& last_error() const { return last_error_; }

  // REQUIRES: the operation is one of the script.
  Connection& For(const drivers::Operation& operation);
  // Gives up connections on which nothing is in flight, and connects anew.
  void Reconnect();
  // Ends in OnSetClosed, from within or later.
  void Close(bool farewell);
  bool closed() const;

 private:
  // ConnectionOwner
  void OnConnectionReady() override;
  void OnConnectionLost() override;
  void OnReadyConnectionCloses() override { --ready_; }
  void OnConnectionClosed() override;
  void OnOpenFailed() override;
  void NoteFailure(const drivers::OpResult& result) override;

  WorkerContext* const context_;
  ConnectionUser* const user_;
  std::size_t ready_ = 0;
  bool ever_ready_ = false;
  bool unreachable_ = false;  // OpenOnce failed
  bool closing_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> by_endpoint_;  // of a codec factory; null: not used by the script
  std::string last_error_;
};

}  // namespace cavalry::run
