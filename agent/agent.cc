#include "agent/agent.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/agent_state.h"
#include "agent/control_client.h"
#include "agent/phase_runner.h"
#include "core/base/log.h"
#include "core/wire/status_codec.h"
#include "drivers/registry.h"

namespace cavalry::agent {
namespace {

constexpr Nanos kHeartbeatEvery = kSecond;
constexpr Nanos kTick = 100 * kMillisecond;
constexpr Nanos kDialTimeout = 5 * kSecond;
constexpr Nanos kRedialFirst = 200 * kMillisecond;
constexpr Nanos kRedialMost = 5 * kSecond;
constexpr Nanos kFlushTimeout = 2 * kSecond;

std::uint32_t UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(CPU_COUNT(&cores), 1));
}

v1::FromAgent MakeHello(const AgentOptions& options) {
  v1::FromAgent message;
  v1::Hello* hello = message.mutable_hello();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  hello->set_name(options.name.empty() ? host.data() : options.name);
  hello->set_host(host.data());
  hello->set_pid(static_cast<std::uint64_t>(::getpid()));
  hello->set_version(CAVALRY_VERSION);
  hello->set_cores(UsableCores());
  hello->set_workers(options.workers);
  hello->set_max_open_files(options.max_open_files);
  hello->set_local_token(options.local_token);
  for (const drivers::Driver* driver : drivers::AllDrivers()) {
    v1::DriverInfo* info = hello->add_drivers();
    info->set_kind(std::string(driver->kind()));
    for (const drivers::OperationKind kind : driver->operations()) {
      info->add_operations(std::string(drivers::OperationKindName(kind)));
    }
    info->set_pipelines(driver->pipelines());
    info->set_files_per_session(driver->files_per_session());
  }
  return message;
}

// One stream, from Hello to its end.
class Membership {
 public:
  Membership(const AgentOptions& options, ControlClient* client)
      : client_(client),
        state_(MonotonicNow()),
        load_({options.workers, options.loop, options.max_open_files, options.realtime}),
        phases_(options.workers) {
    client_->Send(MakeHello(options));
  }

  // Until dismissed, refused, cut off, or told to quit.
  Status Serve(const std::atomic<bool>& quit) {
    Nanos next_heartbeat = MonotonicNow() + kHeartbeatEvery;
    while (!quit && !client_->ended() && state_.activity() != AgentState::Activity::kLeft) {
      const Nanos now = MonotonicNow();
      if (now >= next_heartbeat) {
        v1::FromAgent beat;
        beat.mutable_heartbeat();
        Send(std::move(beat));
        next_heartbeat = now + kHeartbeatEvery;
      }
      if (state_.LeaseExpired(now)) {
        return Unavailable("nothing heard from the coordinator for longer than its lease");
      }
      auto message = client_->Receive(std::min(now + kTick, next_heartbeat));
      if (message) Obey(*std::move(message));
    }
    client_->Flush(MonotonicNow() + kFlushTimeout);
    if (state_.activity() != AgentState::Activity::kLeft && !quit) {
      return Unavailable("the coordinator closed the stream");
    }
    return refused_;
  }

  bool refused() const { return !refused_.ok(); }

 private:
  void Send(v1::FromAgent message) {
    message.set_run_id(state_.run_id());
    if (message.step_id() == 0) message.set_step_id(state_.step_id());
    client_->Send(std::move(message));
  }

  // For other threads: the ids of the order they work on, fixed when it was given.
  std::function<void(v1::FromAgent)> Sender() {
    return [client = client_, run_id = state_.run_id(), step_id = state_.step_id(),
            stale = state_.stale_count()](v1::FromAgent message) {
      message.set_run_id(run_id);
      message.set_step_id(step_id);
      if (message.has_step_report()) message.mutable_step_report()->set_stale_dropped(stale);
      client->Send(std::move(message));
    };
  }

  void Obey(v1::ToAgent message) {
    if (state_.activity() == AgentState::Activity::kPhase && phases_.idle()) state_.OnPhaseDone();
    if (state_.activity() == AgentState::Activity::kStep && load_.idle()) state_.OnStepDone();
    const AgentState::Verdict verdict = state_.OnMessage(message, MonotonicNow());
    if (verdict == AgentState::Verdict::kStale) return;
    if (verdict == AgentState::Verdict::kOutOfPlace) {
      spdlog::debug("message {} is out of place and dropped",
                    static_cast<int>(message.body_case()));
      return;
    }
    using Body = v1::ToAgent::BodyCase;
    switch (message.body_case()) {
      case Body::kClockProbe: {
        v1::FromAgent reply;
        reply.mutable_clock_reply()->set_received_ns(MonotonicNow());
        reply.mutable_clock_reply()->set_probe_sent_ns(message.clock_probe().sent_ns());
        reply.mutable_clock_reply()->set_sent_ns(MonotonicNow());
        Send(std::move(reply));
        break;
      }
      case Body::kWelcome:
        refused_ = wire::FromMessage(message.welcome().status());
        break;
      case Body::kRunPhase:
        phases_.Start(std::move(*message.mutable_run_phase()), load_.ledger(), Sender());
        break;
      case Body::kAssignment:
        load_.Start(std::move(*message.mutable_assignment()), Sender());
        break;
      case Body::kStartAt:
        load_.StartAt(message.start_at().monotonic_ns());
        break;
      case Body::kAck:
        load_.Acknowledge(message.ack().seq());
        break;
      case Body::kStop:
        phases_.Stop();
        load_.Stop(message.stop().mode() == v1::STOP_MODE_NOW ? run::StopKind::kNow
                                                              : run::StopKind::kDrain);
        break;
      default:
        break;
    }
  }

  ControlClient* client_;
  AgentState state_;
  Status refused_;
  // Last, so that their threads end before anything they use; an audit reads the load's ledger.
  AssignmentRunner load_;
  PhaseRunner phases_;
};

void WaitBeforeRedial(Nanos delay, const std::atomic<bool>& quit) {
  const Nanos until = MonotonicNow() + delay;
  while (!quit && MonotonicNow() < until) ::usleep(20'000);
}

}  // namespace

Status RunAgent(const AgentOptions& options, const std::atomic<bool>& quit) {
  const bool local = !options.local_token.empty();
  Nanos delay = kRedialFirst;
  while (!quit) {
    auto client = ControlClient::Open(options.coordinator, kDialTimeout);
    Status status = client.status();
    if (client.ok()) {
      spdlog::info("joined the coordinator at {}", options.coordinator);
      Membership membership(options, client->get());
      status = membership.Serve(quit);
      // A run that refuses an agent would only refuse it again.
      if (!membership.refused()) delay = kRedialFirst;
    }
    if (local) return status;
    if (!status.ok()) spdlog::warn("{}", StatusText(status));
    if (!quit) {
      spdlog::info("waiting for a coordinator at {}", options.coordinator);
      WaitBeforeRedial(delay, quit);
    }
    delay = std::min(delay * 2, kRedialMost);
  }
  return absl::OkStatus();
}

}  // namespace cavalry::agent
