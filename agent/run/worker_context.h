// What a worker's sessions and connections use of its loop. Made and used on the worker's thread;
// outlives both.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "agent/run/connect_pacer.h"
#include "agent/run/frame_pool.h"
#include "agent/run/list_link.h"
#include "agent/run/loop.h"
#include "agent/run/step_context.h"
#include "agent/run/timer_wheel.h"
#include "drivers/core/codec.h"

namespace cavalry::run {

class SessionSlot;
class Connection;
class ConnectionPool;
class SharedConnections;

struct WorkerContext : StepContext {
  // REQUIRES: on the worker's thread.
  WorkerContext(SharedRun* shared_in, std::uint32_t worker_in, std::unique_ptr<Loop> loop_in);

  // Resumes all sessions whose operation has ended, until none is left.
  void ResumeReady();
  // Sends what this turn's operations encoded.
  void FlushSends();
  // Gives iterations to idle sessions as long as there are any.
  void Dispatch();

  std::unique_ptr<Loop> loop;
  std::unique_ptr<drivers::Router> router;  // null: no codecs
  TimerWheel wheel;
  ConnectPacer pacer;
  FramePool frames;
  List<SessionSlot> ready;    // to be resumed in this turn
  List<SessionSlot> yielded;  // to be given an iteration in the next turn
  List<SessionSlot> idle;     // connected, waiting for an iteration
  std::vector<Connection*> unflushed;
  std::uint32_t ready_sessions = 0;
  // At most one of these; null both: sessions have connections of their own.
  ConnectionPool* pool = nullptr;
  SharedConnections* shared_connections = nullptr;
};

}  // namespace cavalry::run
