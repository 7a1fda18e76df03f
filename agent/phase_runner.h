// Runs one phase at a time on a thread of its own, so that the control thread stays free for
// heartbeats and Stop. Owned by the agent; called from the control thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "agent/phases/audit.h"
#include "cavalry/v1/control.pb.h"

namespace cavalry::agent {

class PhaseRunner {
 public:
  // Takes messages without run and step id; called from the phase thread.
  using Send = std::function<void(v1::FromAgent)>;

  explicit PhaseRunner(std::uint32_t threads) : threads_(threads) {}
  ~PhaseRunner();

  // `ledger`: of the last step, for the audit; may be null; must outlive the phase. REQUIRES: no
  // phase runs. PhaseDone is the last message sent.
  void Start(v1::RunPhase order, const StepLedger* ledger, Send send);
  void Stop() { stop_ = true; }
  // Whether PhaseDone was sent (or nothing was started).
  bool idle() const { return !running_; }

 private:
  void Run(const v1::RunPhase& order, const StepLedger* ledger, const Send& send);

  std::uint32_t threads_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{false};
  std::thread thread_;
};

}  // namespace cavalry::agent
