// A scripted agent for tests of the coordinator: a real gRPC client that speaks control.proto and
// loads nothing. By itself it behaves well: it answers probes and phases, arms, and after the start
// sends intervals with invented figures and a report that adds up. A test changes what it wants
// changed by `override`, or takes the messages and answers itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cavalry/v1/control.pb.h"

namespace cavalry::testing {

class FakeAgent {
 public:
  struct Options {
    int port = 0;
    std::string name = "fake";
    std::string version = CAVALRY_VERSION;
    std::uint64_t max_open_files = 1024;
    std::uint32_t intervals = 3;       // of measure, one after another at once
    std::uint64_t per_interval = 100;  // operations in each (of timed steps), all ok
    bool reports = true;               // sends the step report by itself
    // Called on the agent's own thread for every message but probes; true: nothing more is done
    // with it.
    std::function<bool(FakeAgent*, const v1::ToAgent&)> override;
  };

  // Dials and says hello.
  explicit FakeAgent(Options options);
  // Ends the stream in order.
  ~FakeAgent();
  FakeAgent(const FakeAgent&) = delete;
  FakeAgent& operator=(const FakeAgent&) = delete;

  // Any thread. Fills in the run's id unless it is set.
  void Send(v1::FromAgent message);
  void SendPhaseDone(const v1::ToAgent& order, const v1::Status& status);
  void SendArmed(const v1::ToAgent& order);
  // `count` intervals from `first_seq` on, `per_interval` operations in each.
  void SendIntervals(std::uint64_t step_id, std::uint64_t first_seq, std::uint32_t count,
                     std::uint64_t per_interval);
  // A report of `count` such intervals.
  void SendReport(std::uint64_t step_id, std::uint32_t count, std::uint64_t per_interval,
                  const std::function<void(v1::StepReport*)>& change = nullptr);

  // Cuts the stream at once, as a killed process does.
  void Kill();
  // Answers nothing and sends nothing from now on, with the stream open: as a stopped process.
  void Mute();

  // Waits until a message that `is` picks has arrived (one of the past counts); nothing after 10 s.
  std::optional<v1::ToAgent> Await(const std::function<bool(const v1::ToAgent&)>& is);
  // Waits until the stream has ended; false after 10 s.
  bool AwaitEnd();
  std::vector<v1::ToAgent> Received();
  const Options& options() const;

 private:
  struct Impl;
  void Read();
  void Behave(const v1::ToAgent& message);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cavalry::testing
