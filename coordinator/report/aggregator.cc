#include "coordinator/report/aggregator.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "coordinator/report/audit_sum.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/check.h"
#include "core/base/units.h"
#include "core/wire/histogram_codec.h"
#include "core/wire/stats_codec.h"
#include "core/wire/status_codec.h"

namespace cavalry::report {
namespace {

// No step is longer than a week: the seconds of a faulty agent must not fill the memory.
constexpr std::uint32_t kMaxStepSeconds = 7 * 24 * 3600;
constexpr Nanos kMaxStepTime = Nanos{kMaxStepSeconds} * kSecond;

constexpr std::size_t kMaxStepWarnings = 64;
constexpr std::size_t kMaxWarningBytes = 1024;

void AddWarning(const std::string& agent, std::string_view text, StepView* step) {
  if (step->warnings.size() >= kMaxStepWarnings) return;
  step->warnings.push_back(fmt::format("{}: {}", agent, text.substr(0, kMaxWarningBytes)));
}

void AddConnect(const stats::StatsTotals& stats, StepView* step) {
  if (stats.connect && stats.connect->count() > 0) {
    if (!step->connect) step->connect = std::make_unique<stats::LatencyHistogram>();
    step->connect->Add(*stats.connect);
  }
  step->connect_errors.Add(stats.connect_errors);
}

// Usage figures that could overflow a sum or an integer of time.
Status CheckUsage(const v1::StepReport& report) {
  const auto beyond = [](std::uint64_t ns) {
    return ns > static_cast<std::uint64_t>(kMaxStepTime);
  };
  if (beyond(report.duration_ns()) || beyond(report.issuing_ns())) {
    return DataLoss("a step longer than a week");
  }
  for (const v1::WorkerUsage& worker : report.workers()) {
    if (beyond(worker.cpu_user_ns()) || beyond(worker.cpu_system_ns()) ||
        beyond(worker.wall_ns())) {
      return DataLoss("worker times longer than a week");
    }
  }
  return Status();
}

Status CheckAudit(const v1::AuditResult& result) {
  constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 50;
  for (const std::uint64_t count :
       {result.acknowledged(), result.lost(), result.stale(), result.unexpected(), result.wrong(),
        result.unknown(), result.unaudited()}) {
    if (count > kMaxKeys) return DataLoss("audit counts beyond any run");
  }
  if (result.lost() + result.stale() > result.acknowledged()) {
    return DataLoss("audit: {} lost and {} stale of {} acknowledged writes",
                    FormatCount(result.lost()), FormatCount(result.stale()),
                    FormatCount(result.acknowledged()));
  }
  return Status();
}

// The identities of our own merging: a mistake here is ours, never an agent's.
void CheckMerged(const StepView& step) {
  std::uint64_t ok = 0;
  for (std::size_t i = 0; i < step.totals.operations.size(); ++i) {
    stats::OperationCounters sum;
    for (const AgentStepView& part : step.agents) sum.Add(part.tally.operations[i].counters);
    const auto& operation = step.totals.operations[i];
    CAVALRY_CHECK(sum == operation.counters);
    CAVALRY_CHECK(operation.counters.balanced());
    ok += sum[Outcome::kOk];
    for (const Outcome outcome : kTimedOutcomes) {
      const stats::LatencyHistogram* histogram = operation.histograms.Get(outcome);
      CAVALRY_CHECK((histogram ? histogram->count() : 0) == operation.counters[outcome]);
    }
  }
  stats::IterationCounters iterations;
  for (const AgentStepView& part : step.agents) iterations.Add(part.tally.iterations);
  CAVALRY_CHECK(iterations == step.totals.iterations);
  CAVALRY_CHECK(iterations.balanced());
  std::uint64_t seconds_ok = 0;
  for (const SecondView& second : step.seconds) seconds_ok += second.ok;
  CAVALRY_CHECK(seconds_ok == ok);
}

}  // namespace

const StepView* Aggregator::current_step() const {
  return steps_.empty() || steps_.back().ended ? nullptr : &steps_.back();
}

Status Aggregator::Apply(const v1::JournalEntry& entry) {
  using Entry = v1::JournalEntry;
  const Entry::EventCase event = entry.event_case();
  if (event == Entry::kRunStarted) {
    CAVALRY_RETURN_IF_ERROR(ApplyRunStarted(entry.run_started()));
    started_at_wall_ns_ = entry.wall_time_ns();
    last_entry_wall_ns_ = entry.wall_time_ns();
    return Status();
  }
  if (!started_) return FailedPrecondition("the run has not begun");
  if (ended_) return FailedPrecondition("the run has ended");
  last_entry_wall_ns_ = std::max(last_entry_wall_ns_, entry.wall_time_ns());
  switch (event) {
    case Entry::kAgentJoined:
      return ApplyAgentJoined(entry.agent_joined());
    case Entry::kStepStarted:
      return ApplyStepStarted(entry.step_started());
    case Entry::kInterval:
      return ApplyInterval(entry.interval());
    case Entry::kStepReport:
      return ApplyStepReport(entry.step_report());
    case Entry::kAudit:
      return ApplyAudit(entry.audit());
    case Entry::kAgentLost:
      return ApplyAgentLost(entry.agent_lost());
    case Entry::kStepEnded:
      return ApplyStepEnded(entry.step_ended());
    case Entry::kWarning:
      warnings_.push_back(entry.warning());
      return Status();
    case Entry::kServerInfo:
      return ApplyServerInfo(entry.server_info());
    case Entry::kServerCounters:
      return ApplyServerCounters(entry.server_counters());
    case Entry::kRunEnded:
      return ApplyRunEnded(entry.run_ended());
    case Entry::kRunStarted:
    case Entry::EVENT_NOT_SET:
      break;
  }
  return DataLoss("a journal entry without an event, or of a later version");
}

Status Aggregator::ApplyRunStarted(const v1::RunStarted& event) {
  if (started_) return FailedPrecondition("the run has begun already");
  started_ = event;
  for (const v1::OperationSpec& operation : event.workload().operations()) {
    operation_names_.push_back(operation.name());
    operation_writes_.push_back(spec::IsAuditedWrite(operation));
  }
  const v1::Audit& audit = event.workload().audit();
  audits_ = spec::HasAuditedWrites(event.workload()) && (!audit.has_enabled() || audit.enabled());
  return Status();
}

Status Aggregator::ApplyAgentJoined(const v1::AgentJoined& event) {
  const auto [known, fresh] = agent_index_.try_emplace(event.agent(), agents_.size());
  if (fresh) {
    agents_.emplace_back();
  } else if (agents_[known->second].lost && steps_.empty()) {
    // Before the first step an agent that was lost may come again, or another in its name.
    agents_[known->second] = AgentView();
  } else {
    return FailedPrecondition("agent {} has joined already", event.agent());
  }
  AgentView& view = agents_[known->second];
  view.name = event.agent();
  view.host = event.host();
  view.cores = event.cores();
  view.workers = event.workers();
  view.clock_offset = event.clock_offset_ns();
  return Status();
}

Status Aggregator::ApplyStepStarted(const v1::StepStarted& event) {
  const std::uint64_t id = event.step().id();
  const auto& planned = started_->steps();
  const bool known = std::any_of(planned.begin(), planned.end(),
                                 [id](const v1::Step& step) { return step.id() == id; });
  if (!known) return FailedPrecondition("step {} is not in the plan", id);
  if (current_step() != nullptr) {
    return FailedPrecondition("step {} begins before step {} has ended", id,
                              current_step()->step.id());
  }
  for (const StepView& step : steps_) {
    if (step.step.id() == id) return FailedPrecondition("step {} has begun already", id);
  }
  if (event.agents_size() != event.agent_sessions_size()) {
    return FailedPrecondition("step {}: {} agents, but sessions for {}", id, event.agents_size(),
                              event.agent_sessions_size());
  }
  std::map<std::string, std::size_t, std::less<>> index;
  for (int i = 0; i < event.agents_size(); ++i) {
    if (!agent_index_.contains(event.agents(i))) {
      return FailedPrecondition("step {}: agent {} has not joined", id, event.agents(i));
    }
    if (!index.try_emplace(event.agents(i), static_cast<std::size_t>(i)).second) {
      return FailedPrecondition("step {}: agent {} is listed twice", id, event.agents(i));
    }
  }
  // An empty sum takes on whether responses are services from what is added first.
  steps_.push_back(
      StepView{.step = event.step(), .totals = stats::StatsTotals(operation_names_.size(), true)});
  StepView& step = steps_.back();
  for (int i = 0; i < event.agents_size(); ++i) {
    step.agents.push_back(AgentStepView{.agent = event.agents(i),
                                        .sessions = event.agent_sessions(i),
                                        .tally = AgentTally(operation_names_.size())});
    agents_[agent_index_.find(event.agents(i))->second].sessions = event.agent_sessions(i);
  }
  part_index_ = std::move(index);
  return Status();
}

StatusOr<AgentStepView*> Aggregator::FindPart(const std::string& agent, std::uint64_t step_id) {
  if (!agent_index_.contains(agent)) return FailedPrecondition("agent {} has not joined", agent);
  if (current_step() == nullptr || current_step()->step.id() != step_id) {
    return FailedPrecondition("agent {}: step {} is not under way", agent, step_id);
  }
  const auto part = part_index_.find(agent);
  if (part == part_index_.end()) {
    return FailedPrecondition("agent {} takes no part in step {}", agent, step_id);
  }
  AgentStepView* found = &steps_.back().agents[part->second];
  if (found->lost) return FailedPrecondition("agent {} sent after it was lost", agent);
  return found;
}

Status Aggregator::Refuse(AgentStepView* part, const Status& why) {
  part->faulty = true;
  steps_.back().faulty_agent = true;
  return Annotate(why, fmt::format("agent {}, step {}", part->agent, steps_.back().step.id()));
}

Status Aggregator::CheckInterval(const v1::Interval& interval, AgentStepView* part,
                                 const stats::StatsTotals& stats) {
  if (interval.seq() != part->last_seq + 1) {
    return DataLoss("interval {} follows interval {}", interval.seq(), part->last_seq);
  }
  if (interval.index() >= kMaxStepSeconds) {
    return DataLoss("an interval of second {}", interval.index());
  }
  switch (interval.part()) {
    case v1::STEP_PART_MEASURE:
      return part->tally.Add(stats, operation_names_);
    case v1::STEP_PART_WARMUP:
      return Status();
    default:
      return DataLoss("an interval of neither warm-up nor measure");
  }
}

Status Aggregator::ApplyInterval(const v1::IntervalReceived& event) {
  CAVALRY_ASSIGN_OR_RETURN(AgentStepView * part, FindPart(event.agent(), event.step_id()));
  if (part->faulty) return Status();
  const v1::Interval& interval = event.interval();
  if (part->report) {
    return Refuse(part, DataLoss("interval {} after its step report", interval.seq()));
  }
  auto stats = wire::FromMessage(interval.stats(), operation_names_);
  if (!stats.ok()) return Refuse(part, stats.status());
  if (Status status = CheckInterval(interval, part, *stats); !status.ok()) {
    return Refuse(part, status);
  }
  MergeInterval(interval, *stats, part);
  return Status();
}

void Aggregator::MergeInterval(const v1::Interval& interval, const stats::StatsTotals& stats,
                               AgentStepView* part) {
  StepView& step = steps_.back();
  const bool measured = interval.part() == v1::STEP_PART_MEASURE;
  part->last_seq = interval.seq();
  for (std::size_t i = 0; i < operation_writes_.size(); ++i) {
    if (operation_writes_[i]) part->writes_ok += stats.operations[i].counters[Outcome::kOk];
  }
  AddConnect(stats, &step);
  std::vector<SecondView>& seconds = measured ? step.seconds : step.warmup_seconds;
  if (seconds.size() <= interval.index()) seconds.resize(interval.index() + 1);
  SecondView& second = seconds[interval.index()];
  const stats::OperationCounters counters = stats.TotalOperations();
  second.ok += counters[Outcome::kOk];
  second.failed += counters.failed();
  second.in_flight += stats.in_flight;
  ++second.reports;
  if (const stats::LatencyHistogram* response = stats.Response()) second.response.Add(*response);
  if (!measured) return;
  step.totals.Add(stats);
  part->measure_seconds = std::max(part->measure_seconds, interval.index() + 1);
  part->in_flight = stats.in_flight;
  part->iterations_in_flight = stats.iterations_in_flight;
}

Status Aggregator::ApplyStepReport(const v1::StepReportReceived& event) {
  CAVALRY_ASSIGN_OR_RETURN(AgentStepView * part, FindPart(event.agent(), event.step_id()));
  if (part->faulty) return Status();
  const v1::StepReport& report = event.report();
  if (part->report) return Refuse(part, DataLoss("a second step report"));
  if (report.seq() != part->last_seq + 1) {
    return Refuse(part,
                  DataLoss("step report {} follows interval {}", report.seq(), part->last_seq));
  }
  if (Status status = CheckUsage(report); !status.ok()) return Refuse(part, status);
  auto totals = wire::FromMessage(report.totals(), operation_names_);
  if (!totals.ok()) return Refuse(part, totals.status());
  AgentTally reported(operation_names_.size());
  Status status = reported.Add(*totals, operation_names_);
  if (status.ok()) status = part->tally.CheckEqual(reported, operation_names_);
  if (status.ok()) status = reported.CheckDrained(operation_names_);
  stats::LatencyHistogram lag;
  if (status.ok()) status = wire::AddMessage(report.loop_lag(), &lag);
  if (!status.ok()) return Refuse(part, status);
  agents_[agent_index_.find(event.agent())->second].loop_lag.Add(lag);
  MergeReport(event, part);
  return Status();
}

void Aggregator::MergeReport(const v1::StepReportReceived& event, AgentStepView* part) {
  StepView& step = steps_.back();
  AgentView& view = agents_[agent_index_.find(event.agent())->second];
  part->report = event.report();
  part->report->clear_totals();
  part->settled = true;
  part->start_offset = event.start_offset_ns();
  const v1::StepReport& report = *part->report;
  step.duration = std::max(step.duration, static_cast<Nanos>(report.duration_ns()));
  step.issuing = std::max(step.issuing, static_cast<Nanos>(report.issuing_ns()));
  bool limited = false;
  for (const v1::WorkerUsage& worker : report.workers()) {
    const auto user = static_cast<Nanos>(worker.cpu_user_ns());
    const auto system = static_cast<Nanos>(worker.cpu_system_ns());
    const auto wall = static_cast<Nanos>(worker.wall_ns());
    step.cpu_user += user;
    step.cpu_system += system;
    step.wall_workers += wall;
    step.waited_workers += static_cast<Nanos>(worker.run_queue_wait_ns());
    step.loop_turns += worker.loop_turns();
    view.cpu_user += user;
    view.cpu_system += system;
    view.wall_workers += wall;
    limited = limited || worker.limited();
  }
  step.generator_limited = step.generator_limited || limited;
  view.generator_limited = view.generator_limited || limited;
  view.max_rss_bytes = std::max(view.max_rss_bytes, report.max_rss_bytes());
  if (std::abs(part->start_offset) > std::abs(view.start_offset)) {
    view.start_offset = part->start_offset;
  }
  step.sessions_never_connected +=
      std::min<std::uint64_t>(report.sessions_never_connected(), part->sessions);
  step.pipeline = std::max(step.pipeline, report.pipeline());
  if (step.loop.empty()) step.loop = report.loop();
  for (const std::string& warning : report.warnings()) AddWarning(part->agent, warning, &step);
  if (const Status fatal = wire::FromMessage(report.fatal()); !fatal.ok()) {
    AddWarning(part->agent, StatusText(fatal), &step);
  }
}

Status Aggregator::ApplyAudit(const v1::AuditReceived& event) {
  CAVALRY_ASSIGN_OR_RETURN(AgentStepView * part, FindPart(event.agent(), event.step_id()));
  if (part->audited) return Refuse(part, DataLoss("a second audit"));
  if (Status status = CheckAudit(event.result()); !status.ok()) return Refuse(part, status);
  part->audited = true;
  StepView& step = steps_.back();
  AddAudit(event.result(), &step.audit);
  return Status();
}

Status Aggregator::ApplyAgentLost(const v1::AgentLost& event) {
  const auto found = agent_index_.find(event.agent());
  if (found == agent_index_.end()) {
    return FailedPrecondition("agent {} has not joined", event.agent());
  }
  AgentView& view = agents_[found->second];
  if (view.lost) return FailedPrecondition("agent {} is lost already", event.agent());
  view.lost = true;
  view.lost_reason = event.reason();
  view.lost_in_step = event.step_id();
  if (current_step() == nullptr) return Status();
  const auto part_found = part_index_.find(event.agent());
  if (part_found == part_index_.end()) return Status();
  AgentStepView& part = steps_.back().agents[part_found->second];
  part.lost = true;
  steps_.back().lost_agent = true;
  Settle(&part);
  return Status();
}

void Aggregator::Settle(AgentStepView* part) {
  if (part->settled) return;
  part->settled = true;
  StepView& step = steps_.back();
  const std::uint64_t open = part->tally.OperationsOpen();
  const std::uint64_t iterations_open = part->tally.IterationsOpen();
  if (!part->faulty && open != part->in_flight) {
    AddWarning(part->agent,
               fmt::format("{} operations were issued and not ended, but its last interval says {} "
                           "in flight",
                           FormatCount(open), FormatCount(part->in_flight)),
               &step);
  }
  constexpr auto kIndex = static_cast<std::size_t>(Outcome::kAbandoned);
  for (std::size_t i = 0; i < operation_names_.size(); ++i) {
    stats::OperationCounters& counters = part->tally.operations[i].counters;
    const std::uint64_t abandoned = counters.attempted - counters.ended();
    counters.by_outcome[kIndex] += abandoned;
    step.totals.operations[i].counters.by_outcome[kIndex] += abandoned;
    // Seconds add up to the totals: it happened in the last one that the agent told of.
    if (part->measure_seconds > 0) step.seconds[part->measure_seconds - 1].failed += abandoned;
  }
  part->tally.iterations.abandoned += iterations_open;
  step.totals.iterations.abandoned += iterations_open;
  // Without a report the seconds it sent are all that is known of its time.
  step.duration = std::max(step.duration, Nanos{part->measure_seconds} * kSecond);
}

void Aggregator::EndStep(StepView* step, v1::StepEnd end, std::string_view text) {
  for (AgentStepView& part : step->agents) {
    Settle(&part);
    if (audits_ && part.lost && !part.audited && part.writes_ok > 0) {
      if (!step->audit) step->audit.emplace();
      step->audit->set_unaudited(step->audit->unaudited() + part.writes_ok);
      AddWarning(part.agent,
                 fmt::format("{} acknowledged writes were not audited: the agent that knows them "
                             "was lost",
                             FormatCount(part.writes_ok)),
                 step);
    }
  }
  CheckMerged(*step);
  for (AgentStepView& part : step->agents) part.tally.ReleaseHistograms();
  step->ended = true;
  step->end = end;
  step->end_text = text;
  step->totals.in_flight = 0;
  step->totals.iterations_in_flight = 0;
}

Status Aggregator::ApplyStepEnded(const v1::StepEnded& event) {
  if (current_step() == nullptr || current_step()->step.id() != event.step_id()) {
    return FailedPrecondition("step {} is not under way", event.step_id());
  }
  EndStep(&steps_.back(), event.end(), event.text());
  return Status();
}

void Aggregator::CloseOpenStep(std::string_view why) {
  if (current_step() != nullptr) EndStep(&steps_.back(), v1::STEP_END_INTERRUPTED, why);
}

void Aggregator::NoteTornJournal(std::uint64_t entries) {
  v1::Warning warning;
  warning.set_text(
      fmt::format("The last record of the journal is incomplete and left out; the {} "
                  "before it are whole.",
                  FormatCount(entries)));
  warnings_.push_back(std::move(warning));
}

Status Aggregator::ApplyServerInfo(const v1::ServerInfo& event) {
  for (v1::ServerInfo& server : servers_) {
    if (server.target() == event.target()) {
      server = event;
      return Status();
    }
  }
  servers_.push_back(event);
  return Status();
}

Status Aggregator::ApplyServerCounters(const v1::ServerCounters& event) {
  if (current_step() == nullptr || current_step()->step.id() != event.step_id()) {
    return FailedPrecondition("counters of step {}, which is not under way", event.step_id());
  }
  steps_.back().server_counters.assign(event.differences().begin(), event.differences().end());
  return Status();
}

Status Aggregator::ApplyRunEnded(const v1::RunEnded& event) {
  ended_ = event;
  // A run that ends ends its step: nothing further can arrive.
  CloseOpenStep("the run ended");
  return Status();
}

}  // namespace cavalry::report
