// Client model "codec": a sans-I/O state machine of one connection. It owns no socket and no clock
// and, after warm-up, allocates nothing. A channel (agent/run) moves its bytes and keeps its
// tickets. Order of calls: Start once; then Feed until the handshake is done; then Encode and Feed
// in any order. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers {

// Names an operation in flight on one codec. Chosen by the caller, returned with the result.
using Ticket = std::uint32_t;

// Told of every operation that ends, in the order of the answers, from inside Feed.
class CompletionSink {
 public:
  virtual void OnDone(Ticket ticket, const OpResult& result) = 0;

 protected:
  ~CompletionSink() = default;
};

enum class ConnectionState : std::uint8_t {
  kHandshake,  // more bytes of the handshake are awaited
  kReady,      // operations may be encoded
  kFailed,     // of no further use: error() says why
};

class Codec {
 public:
  virtual ~Codec() = default;

  // The connection is there: appends what is to be sent first (authentication, open_index).
  virtual ConnectionState Start(ByteBuffer& out) = 0;

  // Appends one operation's request. False: it cannot be sent (values that the protocol cannot
  // carry, too many in flight); then nothing was appended and `error()` says why. REQUIRES: state
  // is kReady; operation.plan is one of the factory's plans; `operation` lives until it is done.
  virtual bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) = 0;

  // The requests encoded since the last call are about to be sent together: appends what a batch
  // needs at its end (a frame around it, a request that must be answered). Called before each send,
  // the handshake's included.
  virtual void EndBatch(ByteBuffer& /*out*/) {}

  // Takes received bytes, cut anywhere: any number of answers may end in them, also none. What
  // belongs to an unfinished answer is kept inside. May append to `out` (handshake, a statement
  // prepared again, the next page). kFailed: the peer broke the protocol or refused us; operations
  // without an answer are then broken.
  virtual ConnectionState Feed(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) = 0;

  // The operation's deadline has passed: true if the connection can go on, the answer, should it
  // still come, being dropped (the ticket is free at once). False: it must be given up.
  virtual bool Forget(Ticket /*ticket*/) { return false; }

  // After kFailed or a false Encode: class, code, text and severity of what went wrong.
  virtual const OpResult& error() const = 0;
};

// Where a connection goes. Exactly one of host and unix_path is set.
struct Endpoint {
  std::string host;  // name or address; resolved before the step by the agent
  std::uint16_t port = 0;
  std::string unix_path;
  std::string label;  // for messages: "127.0.0.1:9998 (handlersocket read)"
};

// Chooses among a factory's endpoints for one worker's operations. One thread.
class Router {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  virtual ~Router() = default;
  // Where the operation should go.
  virtual std::size_t First(const Operation& operation) = 0;
  // The next best endpoint for the same operation, when those given since First have no connection;
  // kNone: there is none.
  virtual std::size_t Next() { return kNone; }
};

// Made once per step and target; read by all workers.
class CodecFactory {
 public:
  virtual ~CodecFactory() = default;
  virtual const std::vector<Endpoint>& endpoints() const = 0;
  // Which endpoints the operations of this plan go to, whatever their keys: a session (or worker,
  // see below) has connections to those only.
  virtual std::vector<std::size_t> EndpointsOf(const OperationPlan& plan) const = 0;
  virtual std::unique_ptr<Router> NewRouter() const = 0;
  virtual std::unique_ptr<Codec> NewCodec(std::size_t endpoint) const = 0;

  // Connections per endpoint that all sessions of a worker share; 0: each session has its own, one
  // per endpoint. Shared ones serve as long as one endpoint is connected, a session's own only when
  // all are.
  virtual std::uint32_t shared_connections() const { return 0; }
  // Operations in flight on one shared connection, at most.
  virtual std::uint32_t max_in_flight() const { return 1; }
  // Whether endpoints are nodes that the report gives figures of, by their labels.
  virtual bool endpoints_are_nodes() const { return false; }
};

}  // namespace cavalry::drivers
