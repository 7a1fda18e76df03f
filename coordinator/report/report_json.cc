#include <cmath>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "coordinator/report/iso_time.h"
#include "coordinator/report/load_point.h"
#include "coordinator/report/published.h"
#include "coordinator/report/report.h"

namespace cavalry::report {
namespace {

using Json = nlohmann::ordered_json;

// Version of report.json's own form, in cavalry.schema; rises when a field changes its meaning.
constexpr int kSchemaVersion = 1;
constexpr double kPerMicrosecond = kMicrosecond;

// null for what is absent, and for what no JSON can say.
Json Number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json Latency(const stats::LatencyHistogram* histogram) {
  const auto summary = stats::Summarize(histogram);
  if (!summary) return nullptr;
  return Json{{"count", summary->count},   {"min", summary->min},       {"mean", summary->mean},
              {"stddev", summary->stddev}, {"p50", summary->p50},       {"p75", summary->p75},
              {"p90", summary->p90},       {"p95", summary->p95},       {"p99", summary->p99},
              {"p99_9", summary->p99_9},   {"p99_99", summary->p99_99}, {"max", summary->max}};
}

Json Ops(const stats::OperationCounters& counters) {
  Json json = {{"attempted", counters.attempted}};
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    json[std::string(OutcomeName(static_cast<Outcome>(i)))] = counters.by_outcome[i];
  }
  return json;
}

Json Iterations(const stats::IterationCounters& counters) {
  return Json{{"attempted", counters.attempted},
              {"ok", counters.ok},
              {"failed", counters.failed},
              {"dropped", counters.dropped},
              {"abandoned", counters.abandoned}};
}

Json Errors(const stats::ErrorTable& errors) {
  Json json = Json::object();
  for (const auto& [key, entry] : errors.entries()) {
    const std::string outcome(OutcomeName(entry.outcome));
    // One code in two classes needs two names.
    const std::string name = json.contains(key.first) ? key.first + " " + outcome : key.first;
    json[name] = Json{{"class", outcome}, {"count", entry.count}, {"text", entry.text}};
  }
  return json;
}

Json StepJson(const v1::Step& step) {
  Json set = Json::object();
  for (const v1::NameValue& value : step.set()) set[value.name()] = value.value();
  return Json{{"sessions", step.sessions()},
              {"rate", nullptr},  // a closed loop asks none
              {"condition", step.condition().empty() ? Json(nullptr) : Json(step.condition())},
              {"set", std::move(set)}};
}

// Histograms of one class over all operations.
Json ClassLatency(const stats::StatsTotals& totals, Outcome outcome) {
  std::unique_ptr<stats::LatencyHistogram> sum;
  for (const auto& operation : totals.operations) {
    const stats::LatencyHistogram* histogram = operation.histograms.Get(outcome);
    if (histogram == nullptr) continue;
    if (!sum) sum = std::make_unique<stats::LatencyHistogram>();
    sum->Add(*histogram);
  }
  return Latency(sum.get());
}

Json Failed(const Json& rejected, const Json& timeout, const Json& broken) {
  return Json{{"rejected", rejected}, {"timeout", timeout}, {"broken", broken}};
}

Json Keys(const stats::OperationCounters& counters) {
  return Json{{"asked", counters.keys_asked}, {"found", counters.keys_found}};
}

Json PerSecond(std::uint64_t count, double seconds) {
  return Number(seconds > 0 ? std::optional(static_cast<double>(count) / seconds) : std::nullopt);
}

// Figures of an operation or node, behind its name.
Json PartJson(const char* kind, const std::string& name,
              const stats::StatsTotals::PerOperation& part, double duration_s) {
  const stats::OperationCounters& counters = part.counters;
  const auto latency = [&part](Outcome outcome) { return Latency(part.histograms.Get(outcome)); };
  return Json{{kind, name},
              {"ops", Ops(counters)},
              {"keys", Keys(counters)},
              {"ops_per_s", PerSecond(counters[Outcome::kOk], duration_s)},
              {"rows_per_s", PerSecond(counters.rows, duration_s)},
              {"service_us", latency(Outcome::kOk)},
              {"miss_us", latency(Outcome::kMiss)},
              {"failed_us", Failed(latency(Outcome::kRejected), latency(Outcome::kTimeout),
                                   latency(Outcome::kBroken))},
              {"errors", Errors(part.errors)},
              {"wrong_answers", counters.wrong_answers}};
}

Json ByOperation(const Report& report, const Result& result) {
  Json list = Json::array();
  for (std::size_t i = 0; i < result.totals->operations.size(); ++i) {
    const auto& operation = result.totals->operations[i];
    if (operation.counters.attempted == 0) continue;  // the script does not use it
    list.push_back(
        PartJson("operation", report.run->operation_names()[i], operation, result.duration_s));
  }
  return list;
}

// What went to each node. Keys, errors and wrong answers are told by operation.
Json ByNode(const Result& result) {
  Json list = Json::array();
  for (const auto& node : result.totals->nodes) {
    Json json = PartJson("node", node.label, node.stats, result.duration_s);
    for (const char* field : {"keys", "errors", "wrong_answers"}) json.erase(field);
    list.push_back(std::move(json));
  }
  return list;
}

Json Seconds(const std::vector<SecondView>& seconds) {
  Json list = Json::array();
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const SecondView& second = seconds[i];
    const auto figure = [&second](Nanos value) {
      return second.response.count() == 0 ? Json(nullptr)
                                          : Json(static_cast<double>(value) / kPerMicrosecond);
    };
    list.push_back(Json{{"t_s", i},
                        {"ok", second.ok},
                        {"failed", second.failed},
                        {"in_flight", second.in_flight},
                        {"p50_us", figure(second.response.Percentile(50))},
                        {"p99_us", figure(second.response.Percentile(99))},
                        {"max_us", figure(second.response.max())}});
  }
  return list;
}

Json AuditJson(const std::optional<v1::AuditResult>& audit) {
  if (!audit) return nullptr;
  return Json{{"acknowledged", audit->acknowledged()},
              {"lost", audit->lost()},
              {"stale", audit->stale()},
              {"unexpected", audit->unexpected()},
              {"wrong", audit->wrong()},
              {"unknown", audit->unknown()},
              {"unaudited", audit->unaudited()}};
}

// Variables of the target's server, and behind them what its counters rose by over the step.
Json ServerJson(const Report& report, const Result& result) {
  Json json = Json::object();
  for (const v1::ServerInfo& server : report.run->servers()) {
    if (server.target() != result.step.target()) continue;
    for (const v1::NameValue& variable : server.variables()) {
      json[variable.name()] = variable.value();
    }
  }
  for (const v1::NameValue& counter : result.server_counters) {
    json[counter.name()] = counter.value();
  }
  return json;
}

// The fields that a result and a summary share, behind those that name them.
void AddFigures(const Report& report, const Result& result, Json* json) {
  const stats::StatsTotals& totals = *result.totals;
  const auto add = [json](const char* name, Json value) { (*json)[name] = std::move(value); };
  std::uint64_t wrong = 0;
  for (const auto& operation : totals.operations) wrong += operation.counters.wrong_answers;
  add("duration_s", result.duration_s);
  add("ops", Ops(totals.TotalOperations()));
  add("iterations", Iterations(totals.iterations));
  add("keys", Keys(totals.TotalOperations()));
  add("ops_per_s", Number(result.ops_per_s));
  add("rows_per_s", Number(result.rows_per_s));
  add("asked_rate", nullptr);
  add("reached_rate", nullptr);
  add("response_us", Latency(totals.Response()));
  add("service_us", ClassLatency(totals, Outcome::kOk));
  add("connect_us", Latency(result.connect));
  add("miss_us", ClassLatency(totals, Outcome::kMiss));
  add("failed_us",
      Failed(ClassLatency(totals, Outcome::kRejected), ClassLatency(totals, Outcome::kTimeout),
             ClassLatency(totals, Outcome::kBroken)));
  add("client_cpu", Json{{"user_us_per_op", Number(result.cpu_user_us_per_op)},
                         {"system_us_per_op", Number(result.cpu_system_us_per_op)},
                         {"user_s", result.cpu_user_s},
                         {"system_s", result.cpu_system_s},
                         {"ops_per_turn", Number(result.ops_per_turn)},
                         {"waited_share", Number(result.waited)}});
  add("errors", Errors(result.errors));
  add("retries", totals.retries);
  add("reconnects", totals.reconnects);
  add("reprepares", totals.reprepares);
  add("wrong_answers", wrong);
  add("by_operation", ByOperation(report, result));
  add("by_node", ByNode(result));
  add("rerouted", totals.rerouted);
  if (result.seconds != nullptr) add("per_second", Seconds(*result.seconds));
  add("audit", AuditJson(result.audit));
  add("server", ServerJson(report, result));
  add("generator_limited", result.generator_limited);
}

Json Results(const Report& report) {
  Json list = Json::array();
  for (const Result& result : report.results) {
    Json json = {{"target", result.step.target()},
                 {"driver", result.step.driver()},
                 {"round", result.step.round()},
                 {"stage", result.step.stage()},
                 {"step", StepJson(result.step)}};
    AddFigures(report, result, &json);
    list.push_back(std::move(json));
  }
  return list;
}

Json Summaries(const Report& report) {
  Json list = Json::array();
  for (const Result& point : report.summary) {
    Json json = {{"target", point.step.target()},
                 {"driver", point.step.driver()},
                 {"rounds", point.rounds},
                 {"stage", point.step.stage()},
                 {"step", StepJson(point.step)}};
    AddFigures(report, point, &json);
    list.push_back(std::move(json));
  }
  return list;
}

Json Agents(const Report& report) {
  Json list = Json::array();
  for (const AgentView& agent : report.run->agents()) {
    Json lag = nullptr;
    if (agent.loop_lag.count() > 0) {
      lag = Json{{"p99", static_cast<double>(agent.loop_lag.Percentile(99)) / kPerMicrosecond},
                 {"max", static_cast<double>(agent.loop_lag.max()) / kPerMicrosecond}};
    }
    list.push_back(
        Json{{"name", agent.name},
             {"host", agent.host},
             {"status", agent.lost ? "lost" : "complete"},
             {"sessions", agent.sessions},
             {"cpu_user_s", static_cast<double>(agent.cpu_user) / kSecond},
             {"cpu_system_s", static_cast<double>(agent.cpu_system) / kSecond},
             {"max_rss_bytes", agent.max_rss_bytes},
             {"clock_offset_us", static_cast<double>(agent.clock_offset) / kPerMicrosecond},
             {"start_offset_us", static_cast<double>(agent.start_offset) / kPerMicrosecond},
             {"loop_lag_us", std::move(lag)},
             {"generator_limited", agent.generator_limited}});
  }
  return list;
}

Json Comparisons(const Report& report) {
  Json list = Json::array();
  for (const Comparison& comparison : report.comparison) {
    Json interval = nullptr;
    if (comparison.ratio && comparison.ratio->ci95) {
      interval =
          Json::array({Number(comparison.ratio->ci95->low), Number(comparison.ratio->ci95->high)});
    }
    list.push_back(
        Json{{"a", comparison.a},
             {"b", comparison.b},
             {"stage", comparison.step.stage()},
             {"step", StepJson(comparison.step)},
             {"metric", comparison.metric},
             {"ratio", comparison.ratio ? Number(comparison.ratio->value) : Json(nullptr)},
             {"ci95", std::move(interval)},
             {"rounds", comparison.rounds},
             {"verdict", comparison.verdict}});
  }
  return list;
}

Json Thresholds(const Report& report) {
  Json list = Json::array();
  for (const ThresholdResult& result : report.thresholds) {
    list.push_back(Json{{"expression", result.expression},
                        {"target", result.target.empty() ? Json(nullptr) : Json(result.target)},
                        {"step", StepJson(result.step)},
                        {"value", Number(result.value)},
                        {"passed", result.passed}});
  }
  return list;
}

// The lines that the text shows in the form of the published experiment.
Json Published(const Report& report) {
  Json list = Json::array();
  for (const PublishedLine& line : PublishedFigures(report)) {
    Json json = {{"target", line.step.target()},
                 {"stage", line.step.stage()},
                 {"step", StepJson(line.step)}};
    for (const auto& [name, value] : line.figures) json[name] = Number(value);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string RenderJson(const Report& report) {
  Json json;
  if (report.run == nullptr || !report.run->started()) return "{}\n";
  const v1::RunStarted& run = report.run->run();
  const v1::Workload& workload = run.workload();
  json["cavalry"] = Json{{"version", run.version()}, {"schema", kSchemaVersion}};
  json["run"] = Json{{"id", run.run_id()},
                     {"name", workload.name()},
                     {"status", std::string(RunStatusName(report.status))},
                     {"started_at", IsoTime(report.run->started_at_wall_ns())},
                     {"duration_s", report.duration_s},
                     {"seed", workload.has_seed() ? workload.seed() : 42}};
  json["agents"] = Agents(report);
  json["results"] = Results(report);
  json["summary"] = Summaries(report);
  json["comparison"] = Comparisons(report);
  json["thresholds"] = Thresholds(report);
  json["warnings"] = report.warnings;
  json["published"] = Published(report);
  // Texts of servers may hold any bytes: what is not UTF-8 is replaced, never refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cavalry::report
