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
  // is kReady; operation.plan is one of the factory's plans.
  virtual bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) = 0;

  // Takes received bytes, cut anywhere: any number of answers may end in them, also none. What
  // belongs to an unfinished answer is kept inside. May append to `out` (handshake). kFailed: the
  // peer broke the protocol or refused us; operations without an answer are then broken.
  virtual ConnectionState Feed(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) = 0;

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

// Made once per step and target; read by all workers.
class CodecFactory {
 public:
  virtual ~CodecFactory() = default;
  virtual const std::vector<Endpoint>& endpoints() const = 0;
  // Which endpoint an operation goes to; a session has one channel to each endpoint its script
  // uses.
  virtual std::size_t Route(const Operation& operation) const = 0;
  virtual std::unique_ptr<Codec> NewCodec(std::size_t endpoint) const = 0;
};

}  // namespace cavalry::drivers
