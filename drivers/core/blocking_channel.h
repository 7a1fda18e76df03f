// Runs a codec over a socket of its own and waits for the answers: for administration, and for
// asking a cluster for its nodes. Never part of the load. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

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

  Status ShakeHands(const Endpoint& endpoint, UniqueFd socket, Nanos deadline);
  // Sends what is in out_, and feeds the codec once; false: `lost_` says why not.
  bool Exchange(Nanos deadline);
  bool SendAll(Nanos deadline);
  bool WaitFor(short events, Nanos deadline);
  void GiveUp(Outcome outcome, std::string_view code, std::string_view text);

  const std::unique_ptr<Codec> codec_;
  const Nanos operation_timeout_;
  UniqueFd socket_;
  ByteBuffer out_;
  ByteBuffer in_;
  bool usable_ = false;
  OpResult lost_;  // what became of the operations in flight when the connection was given up
  // Of RunAll.
  const std::function<void(std::size_t, const OpResult&)>* done_ = nullptr;
  std::vector<std::size_t> index_of_;  // by ticket
  std::vector<Ticket> free_;
};

}  // namespace cavalry::drivers
