// A connection of a blocking client, and what the threads of one worker share beside the
// StepContext. Whoever uses a connection has it for itself; all but the calls of its client is
// guarded by the worker's mutex.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "agent/run/back_off.h"
#include "agent/run/list_link.h"
#include "agent/run/step_context.h"
#include "core/base/clock.h"
#include "drivers/core/blocking.h"

namespace cavalry::run {

class BlockingSession;
class BlockingConnection;

struct BlockingShared {
  explicit BlockingShared(StepContext* context_in) : context(*context_in) {}

  StepContext& context;
  std::condition_variable changed;  // of what the mutex guards
  bool abandoned = false;           // nothing is counted any more
  bool ending = false;              // no turn is taken any more, no pause goes on
  std::uint32_t ready_sessions = 0;

  // Of a pool.
  List<BlockingConnection> free;  // connected once; lost ones, behind the others, come back when
                                  // they are taken
  List<BlockingConnection> unopened;  // overflow that is not in use
  List<BlockingSession> waiting;
};

class BlockingConnection final : public ListLink {
 public:
  enum class Use : std::uint8_t { kKept, kOverflow, kPerIteration };

  // `owner`: the only session that uses it; null: it is of the pool.
  BlockingConnection(BlockingShared* shared, BlockingSession* owner, Use use,
                     std::unique_ptr<drivers::BlockingClient> client)
      : shared_(shared), owner_(owner), use_(use), client_(std::move(client)) {}

  BlockingSession* owner() const { return owner_; }
  Use use() const { return use_; }
  bool connected() const { return connected_; }
  bool ever_connected() const { return ever_connected_; }
  std::uint32_t failed_attempts() const { return failed_attempts_; }  // in a row
  const std::string& last_error() const { return last_error_; }
  Nanos NextBackOff() { return back_off_.Next(&shared_->context.jitter); }

  // One attempt. REQUIRES: `lock` holds the mutex; it is let go of meanwhile.
  void Connect(std::unique_lock<std::mutex>& lock);
  // Attempts until it is connected; false: the step is over. The same.
  bool ConnectAgain(std::unique_lock<std::mutex>& lock);
  // An operation ended, and whether its connection with it. REQUIRES: the mutex is held.
  void OnOperation(bool lost);
  // Farewell. REQUIRES: the mutex is not held.
  void Close();
  // Ends a call that a thread waits in.
  void Interrupt() { client_->Interrupt(); }
  bool connecting() const { return connecting_; }
  drivers::BlockingClient& client() { return *client_; }

 private:
  BlockingShared* const shared_;
  BlockingSession* const owner_;
  const Use use_;
  const std::unique_ptr<drivers::BlockingClient> client_;
  bool connected_ = false;
  bool connecting_ = false;
  bool ever_connected_ = false;
  std::uint32_t failed_attempts_ = 0;
  BackOff back_off_{kShortestBackOff, kLongestBackOff};
  std::string last_error_;
};

}  // namespace cavalry::run
