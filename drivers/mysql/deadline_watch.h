// Ends blocking calls that have passed their deadline: Connector/C's own timeouts are whole seconds
// and start anew with every read. One thread looks at all clients, so that an operation costs no
// system call for its deadline. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/clock.h"

namespace cavalry::drivers::mysql {

class DeadlineWatch {
 public:
  class Watched {
   public:
    // Called on the watch's thread.
    virtual void EndIfLate(Nanos now) = 0;

   protected:
    ~Watched() = default;
  };

  // Looks so often that a deadline after `timeout` is kept to a twentieth of it, but no more often
  // than every millisecond.
  explicit DeadlineWatch(Nanos timeout);
  // REQUIRES: nothing is watched any more.
  ~DeadlineWatch();
  DeadlineWatch(const DeadlineWatch&) = delete;
  DeadlineWatch& operator=(const DeadlineWatch&) = delete;

  void Add(Watched* watched);
  // Afterwards it is not called.
  void Remove(Watched* watched);

 private:
  void Look();

  const std::chrono::nanoseconds period_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable stopping_;
  bool stop_ = false;
  std::vector<Watched*> watched_;
  std::thread thread_;
};

}  // namespace cavalry::drivers::mysql
