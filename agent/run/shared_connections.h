// Connections that all sessions of a worker share, for back-ends that take many operations at a
// time on one: a fixed number to each endpoint. Usable as long as one of them is connected; the
// router says which endpoint an operation should go to, and which are next best. Worker thread
// only; outlives the sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/run/channel.h"
#include "agent/run/connection.h"
#include "drivers/core/codec.h"

namespace cavalry::run {

class ConnectionUser;
struct WorkerContext;

class SharedConnections final : public ConnectionOwner {
 public:
  // `slots`: operations that the worker's sessions have in flight at most.
  SharedConnections(WorkerContext* context, const drivers::CodecFactory& factory,
                    std::uint32_t slots);
  ~SharedConnections();

  // Connects and stays connected. `users` are told when the first is there and when the last is
  // lost.
  void Start(std::vector<ConnectionUser*> users);
  bool usable() const { return ready_ > 0; }
  // All are connected, or have failed so often.
  bool Settled(std::uint32_t failed_attempts) const;
  const std::string& last_error() const { return last_error_; }

  // The best connection that there is; `rerouted`: another endpoint's than the operation should go
  // to. REQUIRES: usable().
  Connection& For(const drivers::Operation& operation, bool* rerouted);

  void Close(bool farewell);
  bool closed() const;

 private:
  // ConnectionOwner
  void OnConnectionReady() override;
  void OnConnectionLost() override;
  void OnReadyConnectionCloses() override { --ready_; }
  void OnConnectionClosed() override {}
  void OnOpenFailed() override {}
  void NoteFailure(const drivers::OpResult& result) override;

  // In turn among those of the endpoint that are connected; null: none is.
  Connection* ReadyOf(std::size_t endpoint);

  struct Endpoint {
    std::vector<std::unique_ptr<Channel>> channels;
    std::size_t next = 0;
  };

  WorkerContext* const context_;
  std::vector<Endpoint> endpoints_;  // by their index in the factory
  std::size_t ready_ = 0;
  std::vector<ConnectionUser*> users_;
  std::string last_error_;
};

}  // namespace cavalry::run
