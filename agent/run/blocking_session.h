// A simulated user of a blocking client: its connection, and its iteration in flight, which runs to
// its end on whichever of its worker's threads takes its turn. All but the calls of the client is
// guarded by the worker's mutex.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "agent/run/back_off.h"
#include "agent/run/frame_pool.h"
#include "agent/run/list_link.h"
#include "agent/run/script_slot.h"
#include "agent/run/session_task.h"
#include "agent/run/step_context.h"
#include "core/base/clock.h"
#include "drivers/core/blocking.h"

namespace cavalry::run {

// What the threads of one worker share beside the StepContext.
struct BlockingShared {
  explicit BlockingShared(StepContext* context_in) : context(*context_in) {}

  StepContext& context;
  std::condition_variable changed;  // of what the mutex guards
  bool abandoned = false;           // nothing is counted any more
  bool ending = false;              // no turn is taken any more, no pause goes on
  std::uint32_t ready_sessions = 0;
};

class BlockingSession final : public ScriptSlot, public ListLink {
 public:
  // `number`: among all sessions of the step.
  BlockingSession(BlockingShared* shared, FramePool* frames, std::uint32_t number,
                  std::unique_ptr<drivers::BlockingClient> client);

  // Can begin an iteration: connected, or connects within it.
  bool usable() const { return connected_ || per_iteration_; }
  bool settled(std::uint32_t failed_attempts) const {
    return usable() || failed_attempts_ >= failed_attempts;
  }
  bool never_connected() const {
    return !ever_connected_ && (!per_iteration_ || failed_attempts_ > 0);
  }
  const std::string& last_error() const { return last_error_; }
  // When it may connect, while it is not usable.
  Nanos due() const { return due_; }
  void set_due(Nanos due) { due_ = due; }
  Nanos NextBackOff() { return back_off_.Next(&shared_->context.jitter); }

  // One attempt. REQUIRES: `lock` holds the mutex; it is let go of meanwhile.
  void Connect(std::unique_lock<std::mutex>& lock);
  // Does an iteration to its end. The same.
  void RunIteration(std::unique_lock<std::mutex>& lock, const Issue& issue);
  // Counts what is in flight as abandoned. REQUIRES: the mutex is held.
  void Abandon(Nanos now);
  // Ends a call that a thread waits in. REQUIRES: the mutex is held.
  void Interrupt() { client_->Interrupt(); }
  bool connecting() const { return connecting_; }
  // Farewell, and the end of a transaction that was given up. When no thread runs it any more.
  void Close(bool farewell);

 private:
  bool DoNextIssue() override { return false; }
  bool DoTakeConnections() override;
  bool DoGiveBack() override;
  bool DoConnected() override;
  bool DoExecute() override;
  bool DoSleep(Nanos duration) override;
  bool DoRefuse(const drivers::OpResult& result) override;
  void DropConnections() override;

  void SetConnected(bool connected);

  BlockingShared* const shared_;
  const bool per_iteration_;
  const std::unique_ptr<drivers::BlockingClient> client_;
  bool connected_ = false;
  bool connecting_ = false;
  bool executing_ = false;
  bool ever_connected_ = false;
  std::uint32_t failed_attempts_ = 0;  // in a row
  Nanos due_ = 0;
  BackOff back_off_{kShortestBackOff, kLongestBackOff};
  std::string last_error_;
  SessionTask task_;
};

}  // namespace cavalry::run
