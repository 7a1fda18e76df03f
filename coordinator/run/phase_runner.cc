#include "coordinator/run/phase_runner.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cavalry::run {

std::string PhaseName(v1::Phase phase) {
  switch (phase) {
    case v1::PHASE_PREFLIGHT:
      return "preflight";
    case v1::PHASE_RESET:
      return "reset";
    case v1::PHASE_PREPARE:
      return "prepare";
    case v1::PHASE_FILL:
      return "fill";
    case v1::PHASE_MARK_FILLED:
    case v1::PHASE_MARK_USED:
      return "mark";
    case v1::PHASE_AUDIT:
      return "audit";
    case v1::PHASE_CLEANUP:
      return "cleanup";
    case v1::PHASE_NATIVE:
      return "statement";
    case v1::PHASE_COUNTERS:
      return "counters";
    default:
      return "unknown phase";
  }
}

void PhaseRunner::Begin(Options options, std::vector<PhaseTask> tasks, Nanos now,
                        Actions* actions) {
  options_ = options;
  tasks_ = std::move(tasks);
  std::set<std::string> agents;
  for (const PhaseTask& task : tasks_) agents.insert(task.agent);
  for (const std::string& agent : agents) SendNext(agent, now, actions);
}

void PhaseRunner::SendNext(const std::string& agent, Nanos now, Actions* actions) {
  for (PhaseTask& task : tasks_) {
    if (task.agent != agent || task.state != PhaseTask::State::kWaiting) continue;
    task.state = PhaseTask::State::kRunning;
    task.deadline = now + options_.timeout;
    *actions->Send(agent, options_.step_id)->mutable_run_phase() = task.request;
    return;
  }
}

PhaseTask* PhaseRunner::Running(const std::string& agent) {
  for (PhaseTask& task : tasks_) {
    if (task.agent == agent && task.state == PhaseTask::State::kRunning) return &task;
  }
  return nullptr;
}

bool PhaseRunner::OnDone(const std::string& agent, std::uint64_t step_id, const v1::PhaseDone& done,
                         Nanos now, Actions* actions) {
  PhaseTask* task = Running(agent);
  if (task == nullptr || step_id != options_.step_id || done.phase() != options_.phase)
    return false;
  task->state = PhaseTask::State::kDone;
  task->done = done;
  if (failed() == nullptr) SendNext(agent, now, actions);
  return true;
}

bool PhaseRunner::OnProgress(const std::string& agent, std::uint64_t step_id,
                             const v1::Progress& progress, Nanos now) {
  PhaseTask* task = Running(agent);
  if (task == nullptr || step_id != options_.step_id || progress.phase() != options_.phase) {
    return false;
  }
  task->progress_done = progress.done();
  task->progress_total = progress.total();
  task->progress_what = progress.what();
  if (options_.progress_extends) task->deadline = now + options_.timeout;
  return true;
}

bool PhaseRunner::OnLost(const std::string& agent) {
  bool unfinished = false;
  for (PhaseTask& task : tasks_) {
    if (task.agent != agent) continue;
    if (task.state != PhaseTask::State::kWaiting && task.state != PhaseTask::State::kRunning) {
      continue;
    }
    task.state = PhaseTask::State::kLost;
    unfinished = true;
  }
  return unfinished;
}

void PhaseRunner::Stop(v1::StopMode mode, Nanos deadline, Actions* actions) {
  for (PhaseTask& task : tasks_) {
    if (task.state == PhaseTask::State::kWaiting) task.state = PhaseTask::State::kLost;
    if (task.state != PhaseTask::State::kRunning) continue;
    actions->Send(task.agent, options_.step_id)->mutable_stop()->set_mode(mode);
    task.deadline = deadline;
  }
  options_.progress_extends = false;
}

bool PhaseRunner::done() const {
  return std::none_of(tasks_.begin(), tasks_.end(), [](const PhaseTask& task) {
    return task.state == PhaseTask::State::kWaiting || task.state == PhaseTask::State::kRunning;
  });
}

const PhaseTask* PhaseRunner::failed() const {
  for (const PhaseTask& task : tasks_) {
    if (task.state == PhaseTask::State::kDone && task.done.status().code() != 0) return &task;
  }
  return nullptr;
}

const PhaseTask* PhaseRunner::late(Nanos now) const {
  for (const PhaseTask& task : tasks_) {
    if (task.state == PhaseTask::State::kRunning && now >= task.deadline) return &task;
  }
  return nullptr;
}

std::optional<Nanos> PhaseRunner::next_deadline() const {
  std::optional<Nanos> next;
  for (const PhaseTask& task : tasks_) {
    if (task.state != PhaseTask::State::kRunning) continue;
    next = next ? std::min(*next, task.deadline) : task.deadline;
  }
  return next;
}

}  // namespace cavalry::run
