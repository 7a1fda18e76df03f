// One worker's way through a step, whatever its client model: connects its share of the sessions,
// waits for the start instant, issues until a stop condition, drains, closes. Talks to the LoadRun
// through the mailbox and is woken through an eventfd. What it does with its sessions is for the
// derived class to say: LoopWorker, BlockingWorker. All on the thread that runs Run; what touches
// the context needs its mutex, if it has one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "agent/run/cpu_meter.h"
#include "agent/run/loop.h"
#include "agent/run/shared_run.h"
#include "agent/run/step_context.h"
#include "core/base/clock.h"
#include "core/stats/latency_histogram.h"

namespace cavalry::run {

// A session that failed this often in a row is not waited for any longer before the start.
inline constexpr std::uint32_t kAttemptsAwaited = 6;

class Worker {
 public:
  // `first_session`: among all sessions of the step. `shared` must outlive it.
  Worker(SharedRun* shared, std::uint32_t index, std::uint32_t first_session,
         std::uint32_t sessions);
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The thread's main function.
  virtual void Run() = 0;

 protected:
  // Signals are for the main thread; waking exactly costs nothing here.
  static void PrepareThread(bool realtime);

  // Gives iterations to idle sessions.
  virtual void Dispatch() = 0;
  // Ends all iterations in flight now; `farewell` to the servers or not.
  virtual void AbandonSessions(bool farewell) = 0;
  // No connection is still to come.
  virtual bool AllConnected() const { return ready_sessions() == session_count_; }
  // No session is to be waited for before the start.
  virtual bool Settled() const = 0;
  virtual std::uint32_t ready_sessions() const = 0;
  virtual std::uint64_t NeverConnected() const = 0;
  virtual std::string LastError() const = 0;

  // In this order. The context must have been made.
  void BeginArming(StepContext* context);
  Nanos NextInstant() const;
  // Reads what other threads ordered.
  void ReadCommands();
  // Does what is due.
  void RingDue(Nanos now);
  // After each turn; false: the step is over.
  bool GoOn();
  // Delivers the last interval and forgets all instants.
  void EndMeasure();
  void PostResult(std::string loop, const CpuMeter::Usage& of_sessions);

  SharedRun& shared_;
  const std::uint32_t index_;
  const std::uint32_t first_session_;
  const std::uint32_t session_count_;
  std::uint64_t turns_ = 0;  // of the loop, since measure began

 private:
  // Instants that are met exactly, in the order in which they are looked at.
  enum Instant : std::size_t {
    kArmDeadline,
    kStart,
    kMeasure,
    kInterval,
    kStop,
    kDrained,
    kProbe,
    kInstants
  };

  void OnInstant(Instant instant, Nanos due);
  void Set(Instant instant, Nanos at) { instants_[instant] = at; }
  void MaybeArm(bool deadline_passed);
  void BeginIssuing();
  void BeginMeasure(Nanos origin);
  void OnProbe();
  void OnStopped();
  void AbandonAll();
  bool Drained() const;

  StepContext* step_ = nullptr;
  std::array<Nanos, kInstants> instants_;
  bool armed_ = false;
  bool started_ = false;
  bool measuring_ = false;
  bool stopped_seen_ = false;
  bool abandoned_ = false;
  Nanos began_ = 0;              // to issue
  Nanos unconnected_since_ = 0;  // no session of the agent is; 0: one is
  stats::LatencyHistogram loop_lag_;
  CpuMeter cpu_;
  CpuMeter::Usage usage_;  // of this thread in measure, drain included
};

// How long an iteration that is begun last may take: all its operations with their time-outs, its
// waits, and what it may wait for connections.
Nanos LongestIteration(const LoadPlan& plan);

}  // namespace cavalry::run
