// The agents at the other end of the streams: who said hello, whether it fits, its name, its clock,
// when it was last heard. Turns stream events into events of the run. The link it sends on must
// outlive it; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/clock_sync.h"
#include "coordinator/control_link.h"
#include "coordinator/requirements.h"
#include "coordinator/run/run_plan.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace cavalry::coordinator {

// An agent is taken in, and its clock is known.
struct AgentReady {
  run::Member member;
};
// A better estimate of its clock.
struct ClockBetter {
  std::string agent;
  Nanos offset = 0;
  Nanos rtt = 0;
};
struct AgentGone {
  std::string agent;
  std::string reason;
};
// An agent that was not taken in; Welcome tells it why.
struct AgentRefused {
  std::string agent;  // the name it wanted, and its host
  Status status;
};
// A message of the run.
struct AgentSaid {
  std::string agent;
  v1::FromAgent message;
};
using AgentEvent = std::variant<AgentReady, ClockBetter, AgentGone, AgentRefused, AgentSaid>;

class AgentRegistry {
 public:
  struct Options {
    std::string run_id;
    std::string version;
    std::size_t agents = 1;                  // taken in; more are refused
    std::optional<std::string> local_token;  // only agents with this token are taken in
    std::vector<Requirement> requirements;
    Nanos heartbeat = kSecond;
    Nanos lost_after = 10 * kSecond;     // silence
    Nanos lease = 10 * kSecond;          // told to agents
    Nanos hello_timeout = 10 * kSecond;  // from the stream's opening until its clock is known
    std::function<Nanos()> clock = MonotonicNow;  // read when a probe is sent
    // What else is known of an agent whose stream ended ("was killed by signal 9"); may be null,
    // may return "".
    std::function<std::string(const std::string&)> explain_loss;
  };

  AgentRegistry(Options options, ControlLink* link);

  void OnEvent(ControlEvent event);
  // Heartbeats to send, agents that were silent for too long.
  void OnTime(Nanos now);
  std::vector<AgentEvent> TakeEvents() { return std::exchange(events_, {}); }
  Nanos next_deadline() const { return next_beat_; }

  void Send(const std::string& agent, const v1::ToAgent& message);
  // The run gave the agent up: its stream is closed, nothing more is heard of it.
  void Drop(const std::string& agent);
  // No agent is taken in from now on.
  void Close() { closed_ = true; }
  // Says goodbye to every agent and ends its stream when it is written.
  void SayGoodbye(const std::string& reason);
  std::size_t streams() const { return agents_.size(); }

 private:
  struct Agent {
    enum class State : std::uint8_t { kOpened, kProbing, kReady, kLeaving } state = State::kOpened;
    run::Member member;
    ClockSync clock;
    Nanos opened = 0;
    Nanos heard = 0;
  };

  void OnMessage(StreamId stream, Agent* agent, ControlEvent* event);
  void OnHello(StreamId stream, Agent* agent, const v1::Hello& hello);
  Status MayJoin(const v1::Hello& hello) const;
  void OnClockReply(StreamId stream, Agent* agent, const v1::ClockReply& reply, Nanos received);
  void SendProbe(StreamId stream, Agent* agent);
  // Reports it lost if it was taken in, and ends its stream.
  void Lose(StreamId stream, Agent* agent, const std::string& reason);
  std::string UniqueName(const v1::Hello& hello);
  std::size_t TakenIn() const;

  Options options_;
  ControlLink* link_;
  std::map<StreamId, Agent> agents_;
  std::map<std::string, StreamId> by_name_;
  std::set<std::string> names_used_;
  std::vector<AgentEvent> events_;
  Nanos next_beat_ = 0;
  bool closed_ = false;
};

}  // namespace cavalry::coordinator
