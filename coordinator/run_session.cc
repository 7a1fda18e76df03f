#include "coordinator/run_session.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/check.h"

namespace cavalry::coordinator {
namespace {

// A process is reaped a little after its stream has ended.
constexpr Nanos kHoldClosed = 300 * kMillisecond;
constexpr Nanos kCloseTurn = 50 * kMillisecond;

}  // namespace

std::string RandomToken() {
  std::array<std::uint64_t, 2> bits{};
  CAVALRY_CHECK(getrandom(bits.data(), sizeof(bits), 0) == static_cast<ssize_t>(sizeof(bits)));
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

StatusOr<std::unique_ptr<RunSession>> RunSession::Open(const std::string& address,
                                                       Interrupts* interrupts) {
  std::unique_ptr<RunSession> session(new RunSession(interrupts));
  CAVALRY_ASSIGN_OR_RETURN(session->service_, ControlService::Start(address));
  return session;
}

RunSession::~RunSession() { local_.End(0); }

void RunSession::Start(run::RunEngine::Options options, run::Journal* journal,
                       std::optional<LocalAgents::Options> local) {
  has_local_ = local.has_value();
  if (has_local_) {
    local->token = RandomToken();
    local->coordinator = fmt::format("127.0.0.1:{}", port());
    options.registry.local_token = local->token;
    options.registry.explain_loss = [this](const std::string& agent) {
      const auto found = how_ended_.find(agent);
      return found == how_ended_.end() ? std::string() : found->second;
    };
  }
  engine_ = std::make_unique<run::RunEngine>(std::move(options), service_.get(), journal);
  engine_->Start(MonotonicNow());
  if (!has_local_) return;
  auto started = LocalAgents::Start(*local);
  if (!started.ok()) return engine_->Fail(started.status(), MonotonicNow());
  local_ = *std::move(started);
}

void RunSession::Wait(Nanos until) {
  std::vector<pollfd> fds = {{service_->event_fd(), POLLIN, 0}};
  if (interrupts_ != nullptr) fds.push_back({interrupts_->fd(), POLLIN, 0});
  for (const int fd : local_.fds()) fds.push_back({fd, POLLIN, 0});
  if (program_) fds.push_back({program_->fd(), POLLIN, 0});
  const Nanos wait = std::max<Nanos>(until - MonotonicNow(), 0);
  // Rounded up, so that a deadline has passed when the wait ends.
  poll(fds.data(), fds.size(), static_cast<int>((wait + kMillisecond - 1) / kMillisecond));
}

bool RunSession::Turn(Nanos longest) {
  CAVALRY_CHECK(engine_ != nullptr);
  if (engine_->ended()) return false;
  Nanos until = std::min(MonotonicNow() + longest, engine_->next_deadline());
  if (!held_.empty()) until = std::min(until, held_.front().first);
  Wait(until);
  if (interrupts_ != nullptr) {
    for (int count = interrupts_->Take(); count > 0; --count) engine_->OnInterrupt(MonotonicNow());
  }
  HandleLocalAgents();
  HandleStreams();
  engine_->OnTime(MonotonicNow());
  HandleProgram();
  return !engine_->ended();
}

void RunSession::HandleProgram() {
  if (auto order = engine_->TakeProgram()) {
    auto program = Program::Start(order->arguments, order->deadline);
    if (!program.ok()) return engine_->OnProgramEnded(program.status(), MonotonicNow());
    program_.emplace(*std::move(program));
  }
  if (!program_) return;
  const auto status = program_->Poll(MonotonicNow());
  if (!status) return;
  program_.reset();
  engine_->OnProgramEnded(*status, MonotonicNow());
}

void RunSession::HandleLocalAgents() {
  if (!has_local_) return;
  local_.Poll(&notes_);
  for (const LocalAgents::Exit& exit : local_.TakeExits()) {
    how_ended_[exit.name] = exit.how;
    // What is held waits for this; its agent is lost by the end of its stream.
    for (auto& [until, event] : held_) until = 0;
    const auto& agents = engine_->aggregator().agents();
    const bool joined = std::any_of(agents.begin(), agents.end(),
                                    [&](const auto& agent) { return agent.name == exit.name; });
    if (joined || engine_->ended()) continue;
    engine_->Fail(Unavailable("{} {} before it joined the run{}", exit.name, exit.how, exit.tail),
                  MonotonicNow());
  }
}

void RunSession::HandleStreams() {
  const Nanos now = MonotonicNow();
  for (ControlEvent& event : service_->TakeEvents()) {
    if (has_local_ && !engine_->ended() && event.kind == ControlEvent::Kind::kClosed) {
      held_.emplace_back(now + kHoldClosed, std::move(event));
      continue;
    }
    engine_->OnControlEvent(std::move(event), now);
  }
  while (!held_.empty() && (held_.front().first <= now || engine_->ended())) {
    engine_->OnControlEvent(std::move(held_.front().second), now);
    held_.pop_front();
  }
}

void RunSession::Close(const std::string& reason, Nanos deadline) {
  if (engine_ == nullptr || !engine_->ended()) return;
  engine_->Release(reason);
  while (engine_->streams() > 0 && MonotonicNow() < deadline) {
    Wait(std::min(MonotonicNow() + kCloseTurn, deadline));
    if (has_local_) local_.Poll(nullptr);
    HandleStreams();
  }
  local_.End(deadline);
}

std::vector<std::string> RunSession::TakeNotes() {
  std::vector<std::string> notes = std::exchange(notes_, {});
  if (engine_ != nullptr) {
    for (std::string& note : engine_->TakeNotes()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace cavalry::coordinator
