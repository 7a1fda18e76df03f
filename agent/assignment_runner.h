// Runs one step's load on a thread of its own: connects, reports armed, starts at the instant,
// streams intervals, drains, reports. Owned by the agent; called from the control thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "agent/phases/audit.h"
#include "agent/run/load_run.h"
#include "cavalry/v1/control.pb.h"
#include "core/base/clock.h"

namespace cavalry::agent {

struct AssignmentOptions {
  std::uint32_t workers = 1;
  run::LoopKind loop = run::LoopKind::kAuto;
  std::uint64_t max_open_files = 1024;
  bool realtime = false;  // ask for real-time priority of load threads
};

class AssignmentRunner {
 public:
  // Takes messages without run and step id; called from the runner's thread.
  using Send = std::function<void(v1::FromAgent)>;

  explicit AssignmentRunner(AssignmentOptions options) : options_(options) {}
  // Stops at once and joins. A step that this cuts off sends no report: to the coordinator it would
  // look like one that ended as planned.
  ~AssignmentRunner();

  // REQUIRES: idle(). Forgets the ledger of the step before.
  void Start(v1::Assignment assignment, Send send);
  void StartAt(Nanos instant);
  void Stop(run::StopKind kind);
  // The coordinator has this message.
  void Acknowledge(std::uint64_t seq) { acknowledged_ = seq; }
  bool idle() const { return !running_; }

  // Of the last step. REQUIRES: idle().
  const StepLedger* ledger() const { return &ledger_; }

 private:
  void Run(const v1::Assignment& assignment, const Send& send);
  Status RunLoad(const v1::Assignment& assignment, const Send& send);
  Status CheckOpenFiles(const run::LoadPlan& plan) const;
  // Before the step's last message: whoever reads that may order the next thing at once.
  void End(std::unique_ptr<run::LoadRun> load);
  // Hands a StartAt or Stop that came to the load run.
  void PassOrders(run::LoadRun* load);

  const AssignmentOptions options_;
  std::thread thread_;
  std::atomic<bool> running_{false};
  std::atomic<bool> leaving_{false};
  std::atomic<std::uint64_t> acknowledged_{0};
  std::atomic<Nanos> start_at_{0};
  std::atomic<int> stop_{0};  // 0 none, 1 drain, 2 now
  Nanos start_passed_ = 0;    // runner's thread only, as the next
  int stop_passed_ = 0;
  StepLedger ledger_;
};

}  // namespace cavalry::agent
