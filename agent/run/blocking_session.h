// A simulated user of a blocking client: its iteration in flight, which runs to its end on
// whichever of its worker's threads takes its turn. All but the calls of the client is guarded by
// the worker's mutex.
#pragma once

#include <cstdint>
#include <mutex>

#include "agent/run/blocking_connection.h"
#include "agent/run/frame_pool.h"
#include "agent/run/list_link.h"
#include "agent/run/script_slot.h"
#include "agent/run/session_task.h"
#include "core/base/clock.h"

namespace cavalry::run {

class BlockingSession final : public ScriptSlot, public ListLink {
 public:
  // `number`: among all sessions of the step.
  BlockingSession(BlockingShared* shared, FramePool* frames, std::uint32_t number);

  // The connection that it uses: its own, or the pool's during an iteration.
  BlockingConnection* connection() { return connection_; }
  void set_connection(BlockingConnection* connection) { connection_ = connection; }

  // Does an iteration to its end. REQUIRES: `lock` holds the mutex; it is let go of meanwhile.
  void RunIteration(std::unique_lock<std::mutex>& lock, const Issue& issue);
  // Counts what is in flight as abandoned. REQUIRES: the mutex is held.
  void Abandon(Nanos now);
  // The transaction that was given up is undone. When no thread runs it any more.
  void EndAbandoned() { LoseTransaction(); }

 private:
  bool DoNextIssue() override { return false; }
  bool DoTakeConnections() override;
  bool DoGiveBack() override;
  bool DoConnected() override;
  bool DoExecute() override;
  bool DoSleep(Nanos duration) override;
  bool DoRefuse(const drivers::OpResult& result) override;
  void DropConnections() override { connection_->Close(); }

  // Takes a connection of the pool, in order; false: the step is over.
  bool TakeOfPool(std::unique_lock<std::mutex>& lock);
  void GiveBackToPool();

  BlockingShared* const shared_;
  BlockingConnection* connection_ = nullptr;
  bool executing_ = false;
  SessionTask task_;
};

}  // namespace cavalry::run
