// What a worker's sessions and connections use of it. Made and used on the worker's thread;
// outlives both.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "agent/load/ledger.h"
#include "agent/run/connect_pacer.h"
#include "agent/run/frame_pool.h"
#include "agent/run/issuer.h"
#include "agent/run/list_link.h"
#include "agent/run/loop.h"
#include "agent/run/part_recorder.h"
#include "agent/run/shared_run.h"
#include "agent/run/timer_wheel.h"
#include "core/base/random.h"

namespace cavalry::run {

class SessionSlot;
class Connection;

struct WorkerContext {
  // REQUIRES: on the worker's thread.
  WorkerContext(SharedRun* shared_in, std::uint32_t worker_in, std::unique_ptr<Loop> loop_in);

  // Resumes all sessions whose operation has ended, until none is left.
  void ResumeReady();
  // Sends what this turn's operations encoded.
  void FlushSends();
  // Gives iterations to idle sessions as long as there are any.
  void Dispatch();
  // Ends the step with this text (the first counts); on all workers.
  void SetFatal(std::string_view text);
  // Where connects are recorded: those before the start instant belong to measure.
  stats::IntervalRecorder& connect_interval();

  SharedRun& shared;
  const LoadPlan& plan;
  const std::uint32_t worker;
  std::unique_ptr<Loop> loop;
  Nanos now;  // the last reading of the clock
  TimerWheel wheel;
  ConnectPacer pacer;
  PartRecorder warmup;
  PartRecorder measure;
  Issuer issuer;
  std::unique_ptr<load::Ledger> ledger;  // null: not kept
  FramePool frames;
  RandomStream jitter;
  List<SessionSlot> ready;    // to be resumed in this turn
  List<SessionSlot> yielded;  // to be given an iteration in the next turn
  List<SessionSlot> idle;     // connected, waiting for an iteration
  std::vector<Connection*> unflushed;
  std::uint32_t ready_sessions = 0;
  Status fatal;
};

}  // namespace cavalry::run
