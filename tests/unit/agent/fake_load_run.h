// A load that does what a test says, in the place of agent/run/load_run.cc: a program that links
// this has no sessions and no loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "agent/run/load_run.h"

namespace cavalry::run {

class FakeLoad {
 public:
  static FakeLoad& Get();
  void Reset();

  // For Next to return, in order.
  void Push(LoadEvent event);
  // Waits until this many orders ("start", "drain", "now", "destroyed") came.
  std::vector<std::string> WaitForOrders(std::size_t count);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<LoadEvent> events;
  std::vector<std::string> orders;
  Nanos start_at = 0;
  Status create_error;
  bool alive = false;
  int recycled = 0;
  bool end_on_stop = true;  // Stop brings a FinishedEvent
};

}  // namespace cavalry::run
