// From the workers to the thread that drives a LoadRun, and recorders back to their workers. Any
// thread; a worker comes here about once a second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "agent/run/load_run.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::run {

// A worker's loop is made, or could not be.
struct ReadyMail {
  Status status;
};

// As ArmedEvent, of one worker.
struct ArmedMail {
  std::uint32_t connected = 0;
  std::uint32_t connecting = 0;
  stats::ErrorTable errors;
  Status fatal;
};

struct FinishedMail {
  std::uint32_t worker = 0;
  WorkerResult result;
  Nanos started = 0;      // when it began to issue; 0: never
  bool measured = false;  // it came to measure
};

using Mail = std::variant<ReadyMail, ArmedMail, IntervalEvent, TraceEvent, FinishedMail>;

class Mailbox {
 public:
  // `workers`: how many post here.
  explicit Mailbox(std::uint32_t workers);

  void Post(Mail mail);
  // Nothing when the monotonic `deadline` passes first.
  std::optional<Mail> Take(Nanos deadline);

  // A cleared recorder, or null.
  std::unique_ptr<stats::IntervalRecorder> TakeRecorder();
  // Clears it and keeps it for reuse.
  void ReturnRecorder(std::unique_ptr<stats::IntervalRecorder> recorder);

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Mail> mails_;  // guarded by mutex_; the first taken_ are gone
  std::size_t taken_ = 0;    // guarded by mutex_
  std::vector<std::unique_ptr<stats::IntervalRecorder>> recorders_;  // guarded by mutex_
};

}  // namespace cavalry::run
