// One load thread: its loop, its share of the sessions, its recorders. Connects, waits for the
// start instant, issues until a stop condition, drains, closes. Talks to the LoadRun through the
// mailbox and is woken through an eventfd; nothing is shared while it measures.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/run/cpu_meter.h"
#include "agent/run/session.h"
#include "agent/run/shared_run.h"
#include "agent/run/worker_context.h"
#include "core/base/clock.h"

namespace cavalry::run {

// A session that failed this often in a row is not waited for any longer before the start.
inline constexpr std::uint32_t kAttemptsAwaited = 6;

class Worker final : private WatchHandler {
 public:
  // `first_session`: among all sessions of the step. `shared` must outlive it.
  Worker(SharedRun* shared, std::uint32_t index, std::uint32_t first_session,
         std::uint32_t sessions);

  // The thread's main function.
  void Run();

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

  void OnEvents(short events) override;  // woken by another thread
  void Main();
  bool TurnOnce();
  void ReadCommands();
  void OnAlarm();
  void OnInstant(Instant instant, Nanos due);
  void Set(Instant instant, Nanos at);
  Nanos NextInstant() const;

  void MaybeArm(bool deadline_passed);
  void BeginIssuing();
  void BeginMeasure(Nanos origin);
  void OnProbe();
  void OnStopped();
  void AbandonAll();
  bool Drained() const;
  void CloseConnections();
  void PostResult();

  SharedRun& shared_;
  const std::uint32_t index_;
  const std::uint32_t first_session_;
  const std::uint32_t session_count_;

  std::unique_ptr<WorkerContext> context_;
  std::vector<std::unique_ptr<Session>> sessions_;
  Loop::WatchId wake_watch_ = 0;
  std::array<Nanos, kInstants> instants_;
  bool armed_ = false;
  bool started_ = false;
  bool measuring_ = false;
  bool stopped_seen_ = false;
  bool abandoned_ = false;
  Nanos began_ = 0;              // to issue
  Nanos unconnected_since_ = 0;  // no session of the agent is; 0: one is
  std::uint64_t turns_ = 0;      // of the loop, since measure began
  stats::LatencyHistogram loop_lag_;
  CpuMeter cpu_;
  CpuMeter::Usage usage_;  // of measure, drain included
};

}  // namespace cavalry::run
