// What an agent is doing and which messages it obeys now: a pure state machine, no clock and no
// I/O. Times are passed in. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "cavalry/v1/control.pb.h"
#include "core/base/clock.h"

namespace cavalry::agent {

class AgentState {
 public:
  enum class Activity : std::uint8_t {
    kJoining,  // Hello sent, not yet welcome
    kIdle,
    kPhase,  // a phase runs
    kStep,   // a step's load is connecting, armed, running or draining
    kLeft,   // refused or dismissed
  };
  enum class Verdict : std::uint8_t {
    kAct,
    kStale,       // of another run or step: dropped and counted
    kOutOfPlace,  // of this run and step, but not possible now: dropped and logged
  };

  explicit AgentState(Nanos now) : last_heard_(now) {}

  // Judges a message and, for kAct, moves to the state it leads to.
  Verdict OnMessage(const v1::ToAgent& message, Nanos now);
  void OnPhaseDone();
  void OnStepDone();

  Activity activity() const { return activity_; }
  const std::string& run_id() const { return run_id_; }
  std::uint64_t step_id() const { return step_id_; }
  std::uint64_t stale_count() const { return stale_; }
  // No message for longer than the lease: the load must stop.
  bool LeaseExpired(Nanos now) const { return now - last_heard_ > lease_; }

 private:
  Verdict Judge(const v1::ToAgent& message);

  Activity activity_ = Activity::kJoining;
  std::string run_id_;
  std::uint64_t step_id_ = 0;
  std::uint64_t stale_ = 0;
  Nanos last_heard_;
  Nanos lease_ = 10 * kSecond;
};

}  // namespace cavalry::agent
