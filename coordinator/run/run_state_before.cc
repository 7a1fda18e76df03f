// What comes before and after the load of a step: the preparations of its condition, and the
// counters of its server.
#include <algorithm>

#include <fmt/format.h>

#include "coordinator/run/run_state.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/units.h"
#include "core/wire/status_codec.h"

namespace cavalry::run {
namespace {

constexpr Nanos kReadyWithin = 60 * kSecond;

}  // namespace

void RunState::BeginPreparations(Nanos now) {
  next_preparation_ = 0;
  NextPreparation(now);
}

void RunState::NextPreparation(Nanos now) {
  if (next_preparation_ == current().before.size()) {
    return plan_.read_counters ? BeginCounters(now) : BeginStep(now);
  }
  const v1::Preparation& preparation = current().before[next_preparation_++];
  if (!preparation.command().empty()) return BeginProgram(preparation.command(), now);
  BeginNative(preparation, now);
}

void RunState::BeginNative(const v1::Preparation& preparation, Nanos now) {
  std::vector<PhaseTask> tasks;
  for (const v1::NativeOn& native : preparation.native()) {
    PhaseTask task = MakeTask(tasks.size(), v1::PHASE_NATIVE, current().workload, native.target());
    task.request.set_statement(native.statement());
    tasks.push_back(std::move(task));
  }
  BeginPhase(v1::PHASE_NATIVE, current().step.id(), std::move(tasks), now);
}

void RunState::BeginProgram(const std::string& command, Nanos now) {
  for (const v1::Command& candidate : current().workload.commands()) {
    if (candidate.name() != command) continue;
    const Nanos within =
        candidate.has_ready_within() ? static_cast<Nanos>(candidate.ready_within()) : kReadyWithin;
    stage_ = Stage::kProgram;
    stage_since_ = now;
    program_ = command;
    ready_by_ = now + within;
    ready_again_.reset();
    return actions_.Run(
        RunProgram{command, {candidate.run().begin(), candidate.run().end()}, ready_by_});
  }
  Finish(v1::RUN_END_FAILED, InvalidArgument("no command is named '{}'", command), now);
}

void RunState::OnProgramEnded(const Status& status, Nanos now) {
  if (stage_ != Stage::kProgram || ready_again_) return;
  if (!status.ok()) {
    return Finish(v1::RUN_END_FAILED, Annotate(status, fmt::format("command {}", program_)), now);
  }
  BeginReady(now);
}

// The target of the step, and the owner of its tables, which the audit and the counters need.
void RunState::BeginReady(Nanos now) {
  ready_again_.reset();
  std::vector<PhaseTask> tasks;
  std::vector<std::string> targets = {current().step.target()};
  if (CurrentOwner() != targets.front()) targets.push_back(CurrentOwner());
  for (const std::string& target : targets) {
    PhaseTask task = MakeTask(0, v1::PHASE_PREFLIGHT, current().workload, target);
    task.request.set_connect(true);
    tasks.push_back(std::move(task));
  }
  BeginPhase(v1::PHASE_PREFLIGHT, current().step.id(), std::move(tasks), now);
}

void RunState::ReadyEnded(Nanos now) {
  const PhaseTask* failed = phases_.failed();
  const bool lost =
      std::any_of(phases_.tasks().begin(), phases_.tasks().end(),
                  [](const PhaseTask& task) { return task.state == PhaseTask::State::kLost; });
  if (failed == nullptr && !lost) return NextPreparation(now);
  if (now < ready_by_) {
    stage_ = Stage::kProgram;
    ready_again_ = std::min(now + plan_.deadlines.ready_retry, ready_by_);
    return;
  }
  Finish(v1::RUN_END_FAILED,
         DeadlineExceeded("after command {} its ready_within passed: {}", program_,
                          failed == nullptr ? last_loss_ : failed->done.status().text()),
         now);
}

void RunState::BeginCounters(Nanos now) {
  BeginPhase(v1::PHASE_COUNTERS, current().step.id(),
             {MakeTask(0, v1::PHASE_COUNTERS, current().workload, CurrentOwner())}, now);
}

// Before the step they are kept; after it what they rose by is recorded.
void RunState::CountersEnded(Nanos now) {
  std::map<std::string, std::uint64_t> read;
  for (const PhaseTask& task : phases_.tasks()) {
    if (task.done.status().code() != 0) {
      actions_.Warn(fmt::format("counters of {} could not be read: {}", task.request.target(),
                                task.done.status().text()),
                    current().step.id());
    }
    for (const v1::NameValue& counter : task.done.server()) {
      const auto value = ParseCount(counter.value());
      if (value.ok()) read[counter.name()] = *value;
    }
  }
  if (!step_open_) {
    counters_ = std::move(read);
    return BeginStep(now);
  }
  v1::ServerCounters rose;
  rose.set_step_id(step_.step_id());
  for (const auto& [name, value] : read) {
    const auto before = counters_.find(name);
    // A server that was started again counts from 0.
    if (before == counters_.end() || value < before->second) continue;
    v1::NameValue* difference = rose.add_differences();
    difference->set_name(name);
    difference->set_value(fmt::format("{}", value - before->second));
  }
  if (!rose.differences().empty()) *actions_.Record()->mutable_server_counters() = std::move(rose);
  AuditOrEnd(now);
}

}  // namespace cavalry::run
