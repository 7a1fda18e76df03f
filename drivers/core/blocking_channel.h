// Runs a codec over a socket of its own and waits for the answers: for administration, and for
// asking a cluster for its nodes. Never part of the load. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers {

class BlockingChannel final : private CompletionSink {
 public:
  // Connects, to each of the name's addresses in turn, and shakes hands, all within
  // `connect_timeout`. Errors begin with the endpoint's label. The codec's factory must outlive it.
  static StatusOr<std::unique_ptr<BlockingChannel>> Open(const Endpoint& endpoint,
                                                         std::unique_ptr<Codec> codec,
                                                         Nanos connect_timeout,
                                                         Nanos operation_timeout);

  // Does one operation. A lost connection is kBroken, a late answer kTimeout; after either
  // usable() is false. The result's views are valid until the next call.
  OpResult Run(const Operation& operation);
  // Does all of them, at most `in_flight` at a time; `done` gets each with its index, in the order
  // of the answers.
  void RunAll(std::span<const Operation> operations, std::uint32_t in_flight,
              const std::function<void(std::size_t, const OpResult&)>& done);
  bool usable() const { return usable_; }

 private:
  BlockingChannel(std::unique_ptr<Codec> codec, Nanos operation_timeout);
  // CompletionSink
  void OnDone(Ticket ticket, const OpResult& result) override;

  static constexpr std::size_t kIdle = static_cast<std::size_t>(-1);

  Status ShakeHands(const Endpoint& endpoint, UniqueFd socket, Nanos deadline);
  // Sends what was encoded. False: given up.
  bool SendAll(Nanos deadline);
  // Feeds the codec what comes next. kFailed: given up, or the codec failed.
  ConnectionState Receive(Nanos deadline);
  bool TimedOut();
  void GiveUp(const OpResult& why);

  const std::unique_ptr<Codec> codec_;
  const Nanos operation_timeout_;
  UniqueFd socket_;
  ByteBuffer out_;
  std::vector<char> in_;
  bool usable_ = false;
  OpResult lost_;  // why the connection was given up
  std::string lost_code_, lost_text_;
  // Of RunAll.
  const std::function<void(std::size_t, const OpResult&)>* done_ = nullptr;
  std::vector<std::size_t> index_of_;  // by ticket
  std::vector<Ticket> free_;
};

}  // namespace cavalry::drivers
