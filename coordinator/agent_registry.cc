#include "coordinator/agent_registry.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/wire/status_codec.h"

namespace cavalry::coordinator {
namespace {

constexpr std::size_t kMaxNameBytes = 64;

// A name that can stand in reports and file names: letters, digits, '.', '_' and '-'.
std::string CleanName(const std::string& wanted) {
  std::string name;
  for (const char c : wanted.substr(0, kMaxNameBytes)) {
    const bool fits =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    name += fits ? c : '_';
  }
  return name.empty() ? "agent" : name;
}

// Compares all bytes, so that the time taken tells nothing of where they differ.
bool SameToken(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace

AgentRegistry::AgentRegistry(Options options, ControlLink* link)
    : options_(std::move(options)), link_(link) {}

std::size_t AgentRegistry::TakenIn() const {
  return static_cast<std::size_t>(
      std::count_if(agents_.begin(), agents_.end(), [](const auto& entry) {
        return entry.second.state == Agent::State::kProbing ||
               entry.second.state == Agent::State::kReady;
      }));
}

void AgentRegistry::OnEvent(ControlEvent event) {
  if (event.kind == ControlEvent::Kind::kOpened) {
    Agent& agent = agents_[event.stream];
    agent.opened = event.at;
    agent.heard = event.at;
    return;
  }
  const auto found = agents_.find(event.stream);
  if (found == agents_.end()) return;
  if (event.kind == ControlEvent::Kind::kClosed) {
    Lose(event.stream, &found->second, event.reason);
    agents_.erase(found);
    return;
  }
  if (found->second.state == Agent::State::kLeaving) return;
  OnMessage(event.stream, &found->second, &event);
}

void AgentRegistry::OnMessage(StreamId stream, Agent* agent, ControlEvent* event) {
  agent->heard = std::max(agent->heard, event->at);
  switch (event->message.body_case()) {
    case v1::FromAgent::kHello:
      if (agent->state != Agent::State::kOpened) {
        return Lose(stream, agent, "said hello twice on one stream");
      }
      return OnHello(stream, agent, event->message.hello());
    case v1::FromAgent::kClockReply:
      return OnClockReply(stream, agent, event->message.clock_reply(), event->at);
    case v1::FromAgent::kHeartbeat:
      return;
    default:
      if (agent->state == Agent::State::kOpened) {
        return Lose(stream, agent, "did not begin with a hello");
      }
      events_.emplace_back(AgentSaid{agent->member.name, std::move(event->message)});
      return;
  }
}

Status AgentRegistry::MayJoin(const v1::Hello& hello) const {
  if (options_.local_token && !SameToken(*options_.local_token, hello.local_token())) {
    return absl::Status(absl::StatusCode::kPermissionDenied,
                        "this run takes only the agents that cavalry started itself");
  }
  // The version comes first: of another version nothing else in the message means anything.
  CAVALRY_RETURN_IF_ERROR(
      CheckHello(hello, options_.version, options_.requirements, options_.agents));
  if (closed_ || TakenIn() >= options_.agents) {
    return FailedPrecondition("the run has its {} agent{} already", options_.agents,
                              options_.agents == 1 ? "" : "s");
  }
  return absl::OkStatus();
}

void AgentRegistry::OnHello(StreamId stream, Agent* agent, const v1::Hello& hello) {
  const Status status = MayJoin(hello);
  v1::ToAgent answer;
  answer.set_run_id(options_.run_id);
  wire::ToMessage(status, answer.mutable_welcome()->mutable_status());
  if (!status.ok()) {
    agent->state = Agent::State::kLeaving;
    link_->Send(stream, answer);
    link_->Close(stream, /*after_writing=*/true);
    const std::string name =
        fmt::format("{} ({})", CleanName(hello.name()), CleanName(hello.host()));
    events_.emplace_back(AgentRefused{name, status});
    return;
  }
  run::Member& member = agent->member;
  member.name = UniqueName(hello);
  member.host = CleanName(hello.host());
  member.cores = hello.cores();
  member.workers = std::max<std::uint32_t>(hello.workers(), 1);
  by_name_[member.name] = stream;
  agent->state = Agent::State::kProbing;
  answer.mutable_welcome()->set_agent(member.name);
  answer.mutable_welcome()->set_lease_ns(static_cast<std::uint64_t>(options_.lease));
  link_->Send(stream, answer);
  SendProbe(stream, agent);
}

std::string AgentRegistry::UniqueName(const v1::Hello& hello) {
  const std::string wanted = CleanName(hello.name().empty() ? hello.host() : hello.name());
  std::string name = wanted;
  for (int i = 2; !names_used_.insert(name).second; ++i) name = fmt::format("{}-{}", wanted, i);
  return name;
}

void AgentRegistry::SendProbe(StreamId stream, Agent* agent) {
  v1::ToAgent probe;
  probe.set_run_id(options_.run_id);
  *probe.mutable_clock_probe() = agent->clock.NextProbe(options_.clock());
  link_->Send(stream, probe);
}

void AgentRegistry::OnClockReply(StreamId stream, Agent* agent, const v1::ClockReply& reply,
                                 Nanos received) {
  if (agent->state != Agent::State::kProbing && agent->state != Agent::State::kReady) return;
  agent->clock.OnReply(reply, received);
  run::Member& member = agent->member;
  member.clock_offset = agent->clock.offset();
  member.clock_rtt = agent->clock.rtt();
  if (agent->state == Agent::State::kReady) {
    events_.emplace_back(ClockBetter{member.name, member.clock_offset, member.clock_rtt});
  } else if (agent->clock.known()) {
    agent->state = Agent::State::kReady;
    events_.emplace_back(AgentReady{member});
  } else {
    SendProbe(stream, agent);
  }
}

void AgentRegistry::Lose(StreamId stream, Agent* agent, const std::string& reason) {
  const bool taken_in =
      agent->state == Agent::State::kProbing || agent->state == Agent::State::kReady;
  if (taken_in) {
    const std::string& name = agent->member.name;
    const std::string why = options_.explain_loss ? options_.explain_loss(name) : "";
    by_name_.erase(name);
    events_.emplace_back(
        AgentGone{name, why.empty() ? reason : fmt::format("{}: it {}", reason, why)});
  }
  agent->state = Agent::State::kLeaving;
  link_->Close(stream, /*after_writing=*/false);
}

void AgentRegistry::OnTime(Nanos now) {
  const bool beat = now >= next_beat_;
  if (beat) next_beat_ = now + options_.heartbeat;
  for (auto& [stream, agent] : agents_) {
    switch (agent.state) {
      case Agent::State::kLeaving:
        continue;
      case Agent::State::kOpened:
      case Agent::State::kProbing:
        if (now >= agent.opened + options_.hello_timeout) {
          Lose(stream, &agent, "did not answer in time when it joined");
          continue;
        }
        break;
      case Agent::State::kReady:
        break;
    }
    if (now >= agent.heard + options_.lost_after) {
      Lose(stream, &agent, fmt::format("silent for {}", FormatDurationWords(options_.lost_after)));
      continue;
    }
    if (!beat || agent.state != Agent::State::kReady) continue;
    v1::ToAgent message;
    message.set_run_id(options_.run_id);
    message.mutable_heartbeat();
    link_->Send(stream, message);
    SendProbe(stream, &agent);
  }
}

void AgentRegistry::Send(const std::string& agent, const v1::ToAgent& message) {
  const auto found = by_name_.find(agent);
  if (found != by_name_.end()) link_->Send(found->second, message);
}

void AgentRegistry::Drop(const std::string& agent) {
  const auto found = by_name_.find(agent);
  if (found == by_name_.end()) return;
  const StreamId stream = found->second;
  by_name_.erase(found);
  const auto entry = agents_.find(stream);
  if (entry != agents_.end()) entry->second.state = Agent::State::kLeaving;
  link_->Close(stream, /*after_writing=*/false);
}

void AgentRegistry::SayGoodbye(const std::string& reason) {
  closed_ = true;
  for (auto& [stream, agent] : agents_) {
    if (agent.state == Agent::State::kLeaving) continue;
    v1::ToAgent message;
    message.set_run_id(options_.run_id);
    message.mutable_goodbye()->set_reason(reason);
    link_->Send(stream, message);
    link_->Close(stream, /*after_writing=*/true);
    agent.state = Agent::State::kLeaving;
  }
  by_name_.clear();
}

}  // namespace cavalry::coordinator
