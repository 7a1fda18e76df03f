#include "agent/assignment_runner.h"

#include <algorithm>

#include "agent/phases/targets.h"
#include "agent/plan.h"
#include "agent/report/result_streamer.h"
#include "core/wire/status_codec.h"

namespace cavalry::agent {
namespace {

// How often orders of the control thread are looked for while nothing else happens.
constexpr Nanos kOrderPoll = 5 * kMillisecond;
// A start instant further ahead than this is a mistake; sums with a load's times must not wrap.
constexpr Nanos kLongestWait = 24 * 3600 * kSecond;
// Log, control stream, loops, admin connections and the like.
constexpr std::uint64_t kOtherOpenFiles = 64;

void AddErrors(const stats::ErrorTable& errors, v1::Armed* armed) {
  for (const auto& [key, entry] : errors.entries()) {
    v1::ErrorCount* error = armed->add_errors();
    error->set_code(key.first);
    error->set_outcome(std::string(OutcomeName(key.second)));
    error->set_count(entry.count);
    error->set_text(entry.text);
  }
}

}  // namespace

AssignmentRunner::~AssignmentRunner() {
  leaving_ = true;
  Stop(run::StopKind::kNow);
  if (thread_.joinable()) thread_.join();
}

void AssignmentRunner::Start(v1::Assignment assignment, Send send) {
  if (thread_.joinable()) thread_.join();
  ledger_ = {};
  acknowledged_ = 0;
  start_at_ = start_passed_ = 0;
  stop_ = stop_passed_ = 0;
  running_ = true;
  thread_ = std::thread([this, assignment = std::move(assignment), send = std::move(send)] {
    Run(assignment, send);
  });
}

void AssignmentRunner::StartAt(Nanos instant) {
  // 0 means that none came; any instant of the past means at once.
  start_at_ = std::clamp<Nanos>(instant, 1, MonotonicNow() + kLongestWait);
}

void AssignmentRunner::Stop(run::StopKind kind) {
  const int wanted = kind == run::StopKind::kNow ? 2 : 1;
  int present = stop_;
  while (present < wanted && !stop_.compare_exchange_weak(present, wanted)) {
  }
}

void AssignmentRunner::PassOrders(run::LoadRun* load) {
  if (const Nanos instant = start_at_; instant != start_passed_) {
    start_passed_ = instant;
    load->StartAt(instant);
  }
  if (const int stop = stop_; stop != stop_passed_) {
    stop_passed_ = stop;
    load->Stop(stop == 2 ? run::StopKind::kNow : run::StopKind::kDrain);
  }
}

void AssignmentRunner::Run(const v1::Assignment& assignment, const Send& send) {
  const Status status = RunLoad(assignment, send);
  running_ = false;
  if (status.ok()) return;
  v1::FromAgent message;
  wire::ToMessage(status, message.mutable_armed()->mutable_status());
  send(std::move(message));
}

void AssignmentRunner::End(std::unique_ptr<run::LoadRun> load) {
  // Its connections are closed before the coordinator hears of the end: DDL may come next.
  load.reset();
  running_ = false;
}

Status AssignmentRunner::CheckOpenFiles(const run::LoadPlan& plan) const {
  const std::uint64_t connections =
      plan.pool_size ? std::uint64_t{*plan.pool_size} + plan.pool_overflow : plan.sessions;
  const std::uint64_t needed = connections * plan.driver->files_per_session() + kOtherOpenFiles;
  if (needed <= options_.max_open_files) return absl::OkStatus();
  return FailedPrecondition(
      "{} sessions need {} open files, but this agent may have {}. Raise the limit (ulimit -n), "
      "add "
      "agents, or lower load.sessions.",
      plan.sessions, needed, options_.max_open_files);
}

// An error: the step could not begin. Once armed, errors travel in the step report.
Status AssignmentRunner::RunLoad(const v1::Assignment& assignment, const Send& send) {
  CAVALRY_ASSIGN_OR_RETURN(ledger_.plan, MakeLoadPlan(assignment, options_.workers, options_.loop));
  ledger_.plan->realtime = options_.realtime;
  run::LoadPlan& plan = *ledger_.plan;
  CAVALRY_RETURN_IF_ERROR(CheckOpenFiles(plan));
  CAVALRY_RETURN_IF_ERROR(
      ResolveSecrets(assignment.workload(), plan.driver->kind(), &plan.settings));
  CAVALRY_ASSIGN_OR_RETURN(std::unique_ptr<run::LoadRun> load, run::LoadRun::Create(plan));

  ResultStreamer streamer(plan, plan.busy_workers(), [&](v1::Interval interval) {
    v1::FromAgent message;
    *message.mutable_interval() = std::move(interval);
    send(std::move(message));
  });
  while (true) {
    PassOrders(load.get());
    run::LoadEvent event = load->Next(MonotonicNow() + kOrderPoll);
    if (auto* armed = std::get_if<run::ArmedEvent>(&event)) {
      v1::FromAgent message;
      v1::Armed* body = message.mutable_armed();
      body->set_connected(armed->connected);
      body->set_connecting(armed->connecting);
      wire::ToMessage(armed->fatal, body->mutable_status());
      AddErrors(armed->errors, body);
      const bool ended = !armed->fatal.ok();
      if (ended) End(std::move(load));
      send(std::move(message));
      if (ended) return absl::OkStatus();
    } else if (auto* interval = std::get_if<run::IntervalEvent>(&event)) {
      streamer.OnInterval(*interval);
      load->Recycle(interval->worker, std::move(interval->recorder));
    } else if (auto* trace = std::get_if<run::TraceEvent>(&event)) {
      v1::FromAgent message;
      message.mutable_log()->set_level("info");
      message.mutable_log()->set_text(std::move(trace->text));
      send(std::move(message));
    } else if (auto* finished = std::get_if<run::FinishedEvent>(&event)) {
      v1::FromAgent message;
      *message.mutable_step_report() = streamer.Finish(*finished);
      for (run::WorkerResult& worker : finished->workers) {
        if (worker.ledger != nullptr) ledger_.ledgers.push_back(std::move(worker.ledger));
      }
      End(std::move(load));
      if (!leaving_) send(std::move(message));
      return absl::OkStatus();
    }
  }
}

}  // namespace cavalry::agent
