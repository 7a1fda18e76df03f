#include "coordinator/run/run_engine.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "core/base/check.h"

namespace cavalry::run {
namespace {

using coordinator::AgentEvent;

// Texts of agents' log lines are cut here.
constexpr std::size_t kMaxLogTextBytes = 2000;
constexpr std::size_t kMostRefused = 100;

std::string Cut(const std::string& text) { return text.substr(0, kMaxLogTextBytes); }

}  // namespace

RunEngine::RunEngine(Options options, coordinator::ControlLink* link, Journal* journal)
    : registry_(options.registry, link),
      state_(std::move(options.plan)),
      started_(std::move(options.started)),
      journal_(journal),
      fails_on_refusal_(options.registry.local_token.has_value()) {}

void RunEngine::Start(Nanos now) {
  started_at_ = now;
  v1::JournalEntry entry;
  *entry.mutable_run_started() = started_;
  Record(std::move(entry));
  state_.Start(now);
  HandleState();
}

void RunEngine::OnControlEvent(coordinator::ControlEvent event, Nanos now) {
  registry_.OnEvent(std::move(event));
  HandleRegistry(now);
}

void RunEngine::OnTime(Nanos now) {
  registry_.OnTime(now);
  HandleRegistry(now);
  if (ended()) return;
  state_.OnTime(now);
  HandleState();
}

void RunEngine::OnInterrupt(Nanos now) {
  if (ended()) return;
  state_.OnInterrupt(now);
  HandleState();
}

void RunEngine::OnProgramEnded(const Status& status, Nanos now) {
  if (ended()) return;
  state_.OnProgramEnded(status, now);
  HandleState();
}

void RunEngine::Fail(const Status& status, Nanos now) {
  if (ended()) return;
  state_.Fail(status, now);
  HandleState();
}

Nanos RunEngine::next_deadline() const {
  const std::optional<Nanos> state = ended() ? std::nullopt : state_.next_deadline();
  return state ? std::min(*state, registry_.next_deadline()) : registry_.next_deadline();
}

void RunEngine::Release(const std::string& reason) {
  CAVALRY_CHECK(ended());
  registry_.SayGoodbye(reason);
}

void RunEngine::HandleRegistry(Nanos now) {
  for (AgentEvent& event : registry_.TakeEvents()) {
    if (ended()) return;
    std::visit([&](auto& body) { On(&body, now); }, event);
    HandleState();
  }
}

void RunEngine::On(coordinator::AgentReady* event, Nanos now) {
  state_.OnAgentReady(std::move(event->member), now);
}

void RunEngine::On(coordinator::ClockBetter* event, Nanos) {
  state_.OnClock(event->agent, event->offset, event->rtt);
}

void RunEngine::On(coordinator::AgentGone* event, Nanos now) {
  state_.OnAgentLost(event->agent, event->reason, now);
}

void RunEngine::On(coordinator::AgentRefused* event, Nanos now) {
  const std::string text =
      fmt::format("{} was refused: {}", event->agent, StatusText(event->status));
  // Agents elsewhere may be put right while the run waits; our own will not change.
  if (fails_on_refusal_ && event->status.code() != absl::StatusCode::kPermissionDenied) {
    return state_.Fail(event->status, now);
  }
  // It dials again and again; that is told once. A flood of names is not remembered.
  if (refused_.size() >= kMostRefused) return;
  if (refused_.insert(text).second) notes_.push_back(text);
}

void RunEngine::On(coordinator::AgentSaid* event, Nanos now) {
  if (event->message.has_log()) {
    const v1::Log& log = event->message.log();
    notes_.push_back(fmt::format("{}: {}", event->agent, Cut(log.text())));
    return;
  }
  state_.OnMessage(event->agent, event->message, now);
}

void RunEngine::HandleState() {
  for (Action& action : state_.TakeActions()) {
    std::visit([&](auto& body) { Do(&body); }, action);
  }
}

void RunEngine::Do(EndRun* end) {
  if (!bad_data_.empty() && end->end == v1::RUN_END_COMPLETE) end->end = v1::RUN_END_PARTIAL;
  end_ = std::move(*end);
}

void RunEngine::AmendEnd(v1::JournalEntry* entry) const {
  if (bad_data_.empty()) return;
  if (entry->has_run_ended() && entry->run_ended().end() == v1::RUN_END_COMPLETE) {
    entry->mutable_run_ended()->set_end(v1::RUN_END_PARTIAL);
  }
  v1::StepEnded* step = entry->has_step_ended() ? entry->mutable_step_ended() : nullptr;
  if (step == nullptr || step->step_id() != bad_step_ || step->end() != v1::STEP_END_COMPLETE)
    return;
  step->set_end(v1::STEP_END_PARTIAL);
  step->set_text(bad_data_);
}

void RunEngine::Do(RecordEvent* record) { Record(std::move(record->entry)); }

void RunEngine::Record(v1::JournalEntry entry) {
  entry.set_wall_time_ns(WallClockForLabels());
  AmendEnd(&entry);
  if (journal_ != nullptr) {
    if (const Status written = journal_->Append(entry); !written.ok()) {
      // A journal with a hole would give a wrong report, one that ends early gives a partial one.
      journal_ = nullptr;
      v1::JournalEntry warning;
      warning.mutable_warning()->set_text(
          fmt::format("{}; the run goes on, but 'cavalry report' will know nothing from here on",
                      StatusText(written)));
      Record(std::move(warning));
    }
  }
  NoteEntry(entry);
  const Status applied = aggregator_.Apply(entry);
  if (applied.ok() || entry.has_warning()) return;
  bad_data_ = StatusText(applied);
  const report::StepView* open = aggregator_.current_step();
  bad_step_ = open == nullptr ? 0 : open->step.id();
  v1::JournalEntry warning;
  warning.mutable_warning()->set_text(StatusText(applied));
  Record(std::move(warning));
}

void RunEngine::NoteEntry(const v1::JournalEntry& entry) {
  if (entry.has_warning()) notes_.push_back(fmt::format("warning: {}", entry.warning().text()));
  if (entry.has_agent_lost()) {
    notes_.push_back(
        fmt::format("LOST {}: {}", entry.agent_lost().agent(), entry.agent_lost().reason()));
  }
}

}  // namespace cavalry::run
