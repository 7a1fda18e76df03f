#include "tests/unit/coordinator/report/run_builder.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/wire/histogram_codec.h"
#include "core/wire/stats_codec.h"
#include "core/wire/status_codec.h"

namespace cavalry::report {
namespace {

constexpr std::uint64_t kSeed = 42;

v1::Workload MakeWorkload(const RunOptions& options) {
  v1::Workload workload;
  workload.set_name("customer by key: SQL against HandlerSocket");
  for (const std::string& name : options.targets) {
    v1::Target* target = workload.add_targets();
    target->set_name(name);
    if (name == "hs") {
      target->mutable_handlersocket();
    } else {
      target->mutable_mysql()->set_database("test");
    }
  }
  v1::OperationSpec* first = workload.add_operations();
  first->set_name(options.writes ? "put" : "find");
  options.writes ? static_cast<void>(first->mutable_update())
                 : static_cast<void>(first->mutable_read());
  workload.mutable_script()->add_steps()->set_operation(first->name());
  if (options.two_operations) {
    v1::OperationSpec* second = workload.add_operations();
    second->set_name("put");
    second->mutable_update();
    workload.mutable_script()->add_steps()->set_operation("put");
    workload.mutable_script()->set_name("checkout");
  }
  v1::SweepAxis* axis = workload.add_sweep();
  axis->set_path("load.sessions");
  for (const std::uint32_t count : options.sessions) axis->add_values(std::to_string(count));
  workload.mutable_load()->set_warmup(kSecond);
  workload.mutable_load()->mutable_stop_after()->set_duration(2 * kSecond);
  workload.set_rounds(options.rounds);
  workload.set_seed(kSeed);
  for (const std::string& name : options.targets) workload.mutable_compare()->add_targets(name);
  workload.mutable_compare()->set_metric(options.metric);
  return workload;
}

std::vector<v1::Step> MakePlan(const RunOptions& options) {
  std::vector<v1::Step> plan;
  for (std::uint32_t round = 1; round <= options.rounds; ++round) {
    for (const std::uint32_t sessions : options.sessions) {
      std::vector<std::string> targets = options.targets;
      if (round % 2 == 0) std::reverse(targets.begin(), targets.end());
      for (const std::string& target : targets) {
        v1::Step& step = plan.emplace_back();
        step.set_id(plan.size());
        step.set_round(round);
        step.set_target(target);
        step.set_driver(target == "hs" ? "handlersocket" : "mysql");
        step.set_sessions(sessions);
        step.set_stage("measure");
        v1::NameValue* value = step.add_set();
        value->set_name("load.sessions");
        value->set_value(std::to_string(sessions));
      }
    }
  }
  return plan;
}

}  // namespace

struct RunBuilder::AgentState {
  std::string name;
  std::uint32_t sessions = 0;
  std::uint64_t seq = 0;
  bool last_agent = false;
  std::uint64_t in_flight = 0;
  stats::StatsTotals totals;
  std::uint64_t seconds = 0;
};

RunBuilder::RunBuilder(RunOptions options)
    : options_(std::move(options)), plan_(MakePlan(options_)) {
  const v1::Workload workload = MakeWorkload(options_);
  for (const auto& operation : workload.operations()) operations_.push_back(operation.name());
}

void RunBuilder::Add(v1::JournalEntry entry) {
  wall_ns_ += kMillisecond;
  entry.set_wall_time_ns(wall_ns_);
  entries_.push_back(std::move(entry));
}

void RunBuilder::Start() {
  v1::JournalEntry start;
  v1::RunStarted* run = start.mutable_run_started();
  run->set_run_id("run-1");
  *run->mutable_workload() = MakeWorkload(options_);
  for (const v1::Step& step : plan_) *run->add_steps() = step;
  run->set_version("0.3.0");
  for (const std::string& threshold : options_.thresholds) run->add_thresholds(threshold);
  run->set_strict(options_.strict);
  run->set_expected_ns(plan_.size() * 3 * static_cast<std::uint64_t>(kSecond));
  Add(std::move(start));
  for (std::size_t i = 0; i < options_.agents.size(); ++i) {
    v1::JournalEntry joined;
    v1::AgentJoined* agent = joined.mutable_agent_joined();
    agent->set_agent(options_.agents[i]);
    agent->set_host("host" + std::to_string(i + 1));
    agent->set_cores(2);
    agent->set_workers(2);
    agent->set_clock_offset_ns(static_cast<std::int64_t>(i) * 1500);
    Add(std::move(joined));
  }
}

std::uint32_t RunBuilder::SessionsOf(std::size_t index) const {
  const auto agents = static_cast<std::uint32_t>(options_.agents.size());
  const std::uint32_t all = plan_[next_].sessions();
  return all / agents + (index < all % agents ? 1 : 0);
}

void RunBuilder::AddStep(const StepShape& shape) {
  CAVALRY_CHECK(next_ < plan_.size());
  const v1::Step& step = plan_[next_];
  v1::JournalEntry started;
  *started.mutable_step_started()->mutable_step() = step;
  std::vector<AgentState> agents;
  for (std::size_t i = 0; i < options_.agents.size(); ++i) {
    started.mutable_step_started()->add_agents(options_.agents[i]);
    started.mutable_step_started()->add_agent_sessions(SessionsOf(i));
    agents.push_back(AgentState{.name = options_.agents[i],
                                .sessions = SessionsOf(i),
                                .last_agent = i + 1 == options_.agents.size(),
                                .totals = stats::StatsTotals(operations_.size(), true)});
  }
  Add(std::move(started));
  for (std::uint32_t s = 0; s < shape.warmup_seconds; ++s) {
    for (AgentState& agent : agents) {
      AddInterval(step, shape, v1::STEP_PART_WARMUP, s, s + 1 == shape.warmup_seconds, &agent);
    }
  }
  for (std::uint32_t s = 0; s < shape.seconds; ++s) {
    const bool last = s + 1 == shape.seconds;
    for (AgentState& agent : agents) {
      if (shape.lose == agent.name && last) {
        v1::JournalEntry lost;
        lost.mutable_agent_lost()->set_agent(agent.name);
        lost.mutable_agent_lost()->set_step_id(step.id());
        lost.mutable_agent_lost()->set_reason("its stream ended");
        Add(std::move(lost));
        continue;
      }
      AddInterval(step, shape, v1::STEP_PART_MEASURE, s, last, &agent);
    }
  }
  for (AgentState& agent : agents) {
    if (shape.lose != agent.name) AddReport(step, shape, &agent);
  }
  if (shape.audit) {
    for (const AgentState& agent : agents) {
      if (shape.lose == agent.name) continue;
      v1::JournalEntry audit;
      audit.mutable_audit()->set_agent(agent.name);
      audit.mutable_audit()->set_step_id(step.id());
      *audit.mutable_audit()->mutable_result() = *shape.audit;
      Add(std::move(audit));
    }
  }
  if (shape.lose) std::erase(options_.agents, *shape.lose);
  ++next_;
  if (!shape.end) return;
  v1::JournalEntry ended;
  ended.mutable_step_ended()->set_step_id(step.id());
  ended.mutable_step_ended()->set_end(shape.lose ? v1::STEP_END_PARTIAL : shape.end_as);
  Add(std::move(ended));
}

void RunBuilder::AddInterval(const v1::Step& step, const StepShape& shape, v1::StepPart part,
                             std::uint32_t second, bool last, AgentState* agent) {
  const bool measured = part == v1::STEP_PART_MEASURE;
  const bool one = !options_.two_operations;
  stats::StatsTotals stats(operations_.size(), one);
  RandomStream random(kSeed, HashText(agent->name), step.id() * 1000 + agent->seq);
  const auto latency = [&] {
    return shape.latency +
           static_cast<Nanos>(random.Below(static_cast<std::uint64_t>(shape.latency / 10) + 1));
  };
  // One pass over the script with the same outcome for each operation.
  const auto iterate = [&](Outcome outcome, Nanos time) {
    Nanos response = 0;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      ++stats.operations[i].counters.attempted;
      stats.RecordOperation(i, outcome, time);
      response += time;
      if (outcome == Outcome::kOk) ++stats.operations[i].counters.rows;
      const bool is_read = i == 0;
      if (is_read && (outcome == Outcome::kOk || outcome == Outcome::kMiss)) {
        stats.operations[i].counters.CountKeys(1, outcome == Outcome::kOk ? 1 : 0);
      }
      if (outcome == Outcome::kRejected) {
        stats.operations[i].errors.Count("1213", outcome, "Deadlock found");
      }
    }
    ++stats.iterations.attempted;
    outcome == Outcome::kOk ? ++stats.iterations.ok : ++stats.iterations.failed;
    if (outcome == Outcome::kOk && !one) stats.RecordResponse(response);
  };
  if (agent->sessions > 0 && !(measured && shape.silent == second)) {
    for (std::uint64_t i = 0; i < shape.ok; ++i) iterate(Outcome::kOk, latency());
    for (std::uint64_t i = 0; i < shape.miss; ++i) iterate(Outcome::kMiss, latency());
    for (std::uint64_t i = 0; i < shape.rejected; ++i) iterate(Outcome::kRejected, latency());
    if (measured && last && agent->last_agent && shape.one_more) {
      iterate(Outcome::kOk, *shape.one_more);
    }
    // What is in flight at the boundary was issued before it and ends behind it.
    const std::uint64_t in_flight = last || shape.ok < shape.in_flight ? 0 : shape.in_flight;
    stats.operations[0].counters.attempted += in_flight;
    stats.operations[0].counters.attempted -= agent->in_flight;
    stats.iterations.attempted += in_flight;
    stats.iterations.attempted -= agent->in_flight;
    agent->in_flight = in_flight;
    stats.operations[0].counters.wrong_answers = measured ? shape.wrong_answers : 0;
    if (agent->seq == 0) {
      for (std::uint32_t i = 0; i < agent->sessions; ++i) stats.RecordConnect(kMillisecond + i);
    }
  }
  stats.in_flight = agent->in_flight;
  stats.iterations_in_flight = agent->in_flight;
  if (measured) {
    agent->totals.Add(stats);
    ++agent->seconds;
  }
  v1::JournalEntry entry;
  v1::IntervalReceived* received = entry.mutable_interval();
  received->set_agent(agent->name);
  received->set_step_id(step.id());
  received->mutable_interval()->set_seq(++agent->seq);
  received->mutable_interval()->set_index(second);
  received->mutable_interval()->set_part(part);
  wire::ToMessage(stats, operations_, received->mutable_interval()->mutable_stats());
  Add(std::move(entry));
}

void RunBuilder::AddReport(const v1::Step& step, const StepShape& shape, AgentState* agent) {
  v1::JournalEntry entry;
  v1::StepReportReceived* received = entry.mutable_step_report();
  received->set_agent(agent->name);
  received->set_step_id(step.id());
  received->set_start_offset_ns(agent->last_agent ? 120'000 : -80'000);
  v1::StepReport* report = received->mutable_report();
  report->set_seq(agent->seq + 1);
  agent->totals.in_flight = 0;
  agent->totals.iterations_in_flight = 0;
  wire::ToMessage(agent->totals, operations_, report->mutable_totals());
  const std::uint64_t wall = agent->seconds * static_cast<std::uint64_t>(kSecond);
  report->set_duration_ns(wall + 500'000);
  report->set_issuing_ns(wall);
  for (int i = 0; i < 2; ++i) {
    v1::WorkerUsage* worker = report->add_workers();
    worker->set_cpu_user_ns(wall / 100);
    worker->set_cpu_system_ns(wall / 20);
    worker->set_wall_ns(wall);
    worker->set_limited(shape.limited && i == 0);
  }
  report->set_max_rss_bytes(24'000'000);
  stats::LatencyHistogram lag;
  lag.Record(40 * kMicrosecond);
  lag.Record(90 * kMicrosecond);
  wire::ToMessage(lag, report->mutable_loop_lag());
  report->set_loop("io_uring");
  report->set_pipeline(step.driver() == "mysql" ? 1 : shape.pipeline);
  if (agent->name == options_.agents.front()) {
    report->set_sessions_never_connected(shape.never_connected);
  }
  Add(std::move(entry));
}

void RunBuilder::AddAllSteps(const StepShape& shape) {
  while (steps_left() > 0) {
    StepShape step = shape;
    if (plan_[next_].target() == "hs") {
      step.ok *= 2;
      step.latency /= 2;
    }
    // Rounds differ a little, so that spreads and intervals are not empty.
    step.ok += plan_[next_].round() * step.ok / 100;
    AddStep(step);
  }
}

void RunBuilder::End(v1::RunEnd end, const Status& status) {
  v1::JournalEntry entry;
  entry.mutable_run_ended()->set_end(end);
  wire::ToMessage(status, entry.mutable_run_ended()->mutable_status());
  entry.mutable_run_ended()->set_duration_ns(80 * static_cast<std::uint64_t>(kSecond));
  Add(std::move(entry));
}

Aggregator ApplyAll(const std::vector<v1::JournalEntry>& entries) {
  Aggregator run;
  for (const v1::JournalEntry& entry : entries) {
    const Status status = run.Apply(entry);
    if (!status.ok()) CheckFailed(__FILE__, __LINE__, StatusText(status).c_str());
  }
  return run;
}

}  // namespace cavalry::report
