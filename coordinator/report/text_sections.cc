#include "coordinator/report/text_sections.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/report/audit_sum.h"
#include "coordinator/report/load_point.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/units.h"
#include "core/wire/enum_word.h"

namespace cavalry::report {
namespace {

constexpr char kPagesRead[] = "Innodb_buffer_pool_reads";

std::string Figure(const std::optional<double>& value) {
  return value ? FormatFigure(*value) : "-";
}

std::string Fixed(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

// mean, p50, p95, p99, p99.9, max; dashes without samples.
void AddLatencies(const stats::LatencyHistogram* histogram, std::vector<std::string>* cells) {
  const auto summary = stats::Summarize(histogram);
  if (!summary) {
    cells->insert(cells->end(), 6, "-");
    return;
  }
  for (const double figure :
       {summary->mean, summary->p50, summary->p95, summary->p99, summary->p99_9, summary->max}) {
    cells->push_back(FormatFigure(figure));
  }
}

void AddLatencyColumns(std::vector<TextTable::Column>* columns) {
  for (const char* head : {"mean", "p50", "p95", "p99", "p99.9", "max"}) {
    columns->push_back({head, "us"});
  }
}

std::string TimeText(Nanos time) {
  const auto ns = static_cast<double>(time);
  return time < kMillisecond ? fmt::format("{} us", FormatFigure(ns / kMicrosecond))
                             : fmt::format("{} ms", FormatFigure(ns / kMillisecond));
}

// What all load points of one target sum up to.
struct TargetSum {
  std::string target;
  stats::ErrorTable errors;
  stats::LatencyHistogram connect;
  std::uint64_t reconnects = 0;
  std::uint64_t reprepares = 0;
  std::uint64_t retries = 0;
  std::optional<v1::AuditResult> audit;
};

std::vector<TargetSum> SumByTarget(const Report& report) {
  std::vector<TargetSum> sums;
  for (const Result& point : report.summary) {
    auto sum = std::find_if(sums.begin(), sums.end(), [&point](const TargetSum& candidate) {
      return candidate.target == point.step.target();
    });
    if (sum == sums.end()) {
      sums.emplace_back().target = point.step.target();
      sum = sums.end() - 1;
    }
    sum->errors.Add(point.errors);
    if (point.connect != nullptr) sum->connect.Add(*point.connect);
    sum->reconnects += point.totals->reconnects;
    sum->reprepares += point.totals->reprepares;
    sum->retries += point.totals->retries;
    if (point.audit) AddAudit(*point.audit, &sum->audit);
  }
  return sums;
}

// CPU, memory and punctuality of an agent over the whole run.
std::string WhatItCost(const AgentView& agent) {
  if (agent.wall_workers == 0) {
    return agent.sessions == 0 ? "had no session in any step" : "never reported what it cost";
  }
  const double busy = static_cast<double>(agent.cpu_user + agent.cpu_system) /
                      static_cast<double>(agent.wall_workers) * 100;
  std::string text = fmt::format("{} worker{} busy {:.0f} %{}, memory {:.0f} MB, start {:+.3f} ms",
                                 agent.workers, agent.workers == 1 ? "" : "s", busy,
                                 agent.generator_limited ? " (THE LIMIT)" : "",
                                 static_cast<double>(agent.max_rss_bytes) / 1e6,
                                 static_cast<double>(agent.start_offset) / kMillisecond);
  if (agent.loop_lag.count() > 0) {
    text += fmt::format(", timers late p99 {}", TimeText(agent.loop_lag.Percentile(99)));
  }
  return text;
}

}  // namespace

std::string SummaryTable(const Report& report) {
  const v1::Workload& workload = report.run->run().workload();
  const std::string only = OnlyOperation(workload);
  std::vector<TextTable::Column> columns = {{"", "", true}, {"", "", true}};
  if (only.empty()) columns.push_back({fmt::format("{}/s", ScriptName(workload)), ""});
  columns.push_back({fmt::format("{}/s", UnitName(workload)), ""});
  columns.push_back({"+/-", "rounds"});
  AddLatencyColumns(&columns);
  columns.push_back({"failed", ""});
  columns.push_back({"CPU us", "user"});
  columns.push_back({"per op", "sys"});
  columns.push_back({"busy", "%"});
  TextTable table(std::move(columns));
  std::string last_label;
  for (const Result& point : report.summary) {
    const std::string label = LoadPointLabel(point.step);
    std::vector<std::string> cells = {label == last_label ? std::string() : label,
                                      point.step.target()};
    last_label = label;
    if (only.empty()) cells.push_back(Figure(point.iterations_per_s));
    cells.push_back(Figure(point.ops_per_s));
    cells.push_back(point.round_figures.size() < 2
                        ? std::string("-")
                        : fmt::format("{:.1f}%", stats::HalfSpreadPercent(point.round_figures)));
    AddLatencies(point.totals->Response(), &cells);
    cells.push_back(FormatCount(point.totals->TotalOperations().failed()));
    cells.push_back(Fixed(point.cpu_user_us_per_op, 2));
    cells.push_back(Fixed(point.cpu_system_us_per_op, 2));
    cells.push_back(point.busy ? fmt::format("{:.0f}", *point.busy * 100) : "-");
    table.AddRow(std::move(cells));
  }
  return table.Render();
}

std::string OperationTable(const Report& report) {
  const v1::Workload& workload = report.run->run().workload();
  if (!OnlyOperation(workload).empty()) {
    return LabelledLine("service",
                        "as the response times above: a closed loop whose script is one "
                        "operation");
  }
  std::vector<TextTable::Column> columns = {
      {"service time by", "operation", true}, {"", "", true}, {"", "", true}, {"ops/s", ""}};
  AddLatencyColumns(&columns);
  columns.push_back({"miss", ""});
  columns.push_back({"failed", ""});
  TextTable table(std::move(columns));
  std::string last_label;
  for (const Result& point : report.summary) {
    std::string label = LoadPointLabel(point.step);
    std::string target = point.step.target();
    for (std::size_t i = 0; i < point.totals->operations.size(); ++i) {
      const auto& operation = point.totals->operations[i];
      if (operation.counters.attempted == 0) continue;
      std::vector<std::string> cells = {label == last_label ? std::string() : label, target,
                                        report.run->operation_names()[i]};
      last_label = label;
      target.clear();
      const auto ok = static_cast<double>(operation.counters[Outcome::kOk]);
      cells.push_back(point.duration_s > 0 ? FormatFigure(ok / point.duration_s) : "-");
      AddLatencies(operation.histograms.Get(Outcome::kOk), &cells);
      cells.push_back(FormatCount(operation.counters[Outcome::kMiss]));
      cells.push_back(FormatCount(operation.counters.failed()));
      table.AddRow(std::move(cells));
    }
  }
  return table.Render() + "\n";
}

std::string NodeTable(const Report& report) {
  std::vector<TextTable::Column> columns = {
      {"service time by", "node", true}, {"", "", true}, {"", "", true}, {"ops/s", ""}};
  AddLatencyColumns(&columns);
  columns.push_back({"failed", ""});
  TextTable table(std::move(columns));
  std::string notes;
  bool any = false;
  std::string last_label;
  for (const Result& point : report.summary) {
    const stats::StatsTotals& totals = *point.totals;
    std::string label = LoadPointLabel(point.step);
    if (totals.rerouted > 0) {
      notes += LabelledLine(
          notes.empty() ? "nodes" : "",
          fmt::format(
              "{}, {}: {} of the operations went to another node than the best, as that had "
              "no connection",
              point.step.target(), label, FormatCount(totals.rerouted)));
    }
    std::string target = point.step.target();
    // Of one node the totals say it all.
    if (totals.nodes.size() < 2) continue;
    for (const auto& node : totals.nodes) {
      any = true;
      std::vector<std::string> cells = {label == last_label ? std::string() : label, target,
                                        node.label};
      last_label = label;
      target.clear();
      const auto ok = static_cast<double>(node.stats.counters[Outcome::kOk]);
      cells.push_back(point.duration_s > 0 ? FormatFigure(ok / point.duration_s) : "-");
      AddLatencies(node.stats.histograms.Get(Outcome::kOk), &cells);
      cells.push_back(FormatCount(node.stats.counters.failed()));
      table.AddRow(std::move(cells));
    }
  }
  return (any ? table.Render() + "\n" : std::string()) + notes;
}

std::string OutcomeLines(const Report& report) {
  stats::OperationCounters ops;
  std::uint64_t in_flight = 0;
  for (const Result& result : report.results) {
    ops.Add(result.totals->TotalOperations());
    in_flight += result.in_flight;
  }
  std::string text = fmt::format("attempted {} =", FormatCount(ops.attempted));
  std::size_t zeros = 0;
  const char* separator = " ";
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (ops[outcome] == 0 && outcome != Outcome::kOk) {
      ++zeros;
      continue;
    }
    text += fmt::format("{}{} {}", separator, OutcomeName(outcome), FormatCount(ops[outcome]));
    separator = " + ";
  }
  if (in_flight > 0) text += fmt::format(" + in flight {}", FormatCount(in_flight));
  if (zeros > 0) text += fmt::format("; the other {} classes are 0", zeros);
  return LabelledLine("ops", text);
}

std::string ErrorLines(const Report& report) {
  constexpr std::size_t kMaxTextBytes = 160;
  std::string text;
  std::string remarks;  // of servers, on operations that were done all the same
  for (const TargetSum& sum : SumByTarget(report)) {
    for (const auto& [key, entry] : sum.errors.entries()) {
      if (entry.outcome == Outcome::kOk) {
        remarks += LabelledLine(
            remarks.empty() ? "warnings" : "",
            fmt::format("{}: {} answers with a warning, the first: {}", sum.target,
                        FormatCount(entry.count), Printable(entry.text, kMaxTextBytes)));
        continue;
      }
      text +=
          LabelledLine(text.empty() ? "errors" : "",
                       fmt::format("{}: {} x {} ({}): {}", sum.target, FormatCount(entry.count),
                                   Printable(key.first, kMaxTextBytes), OutcomeName(entry.outcome),
                                   Printable(entry.text, kMaxTextBytes)));
    }
  }
  return text + remarks;
}

std::string DiskLines(const Report& report) {
  std::string text;
  if (report.run->run().workload().conditions().empty()) return text;
  for (const Result& result : report.results) {
    for (const v1::NameValue& counter : result.server_counters) {
      // InnoDB counts there what it could not find in its buffer pool.
      if (counter.name() != kPagesRead) continue;
      text +=
          LabelledLine(text.empty() ? "disk" : "",
                       fmt::format("{}, round {}: {} pages read from disk", StepLabel(result.step),
                                   result.step.round(), Printable(counter.value(), 32)));
    }
  }
  return text;
}

std::string CacheLines(const Report& report) {
  struct Sum {
    std::uint64_t hits = 0, misses = 0, evictions = 0;
  };
  std::vector<std::pair<std::string, Sum>> sums;  // by target, in the order of the results
  for (const Result& result : report.results) {
    Sum sum;
    bool counts = false;
    for (const v1::NameValue& counter : result.server_counters) {
      std::uint64_t* const to = counter.name() == "get_hits"     ? &sum.hits
                                : counter.name() == "get_misses" ? &sum.misses
                                : counter.name() == "evictions"  ? &sum.evictions
                                                                 : nullptr;
      if (to == nullptr) continue;
      const std::string& value = counter.value();
      std::from_chars(value.data(), value.data() + value.size(), *to);
      counts = true;
    }
    if (!counts) continue;
    auto at = std::find_if(sums.begin(), sums.end(),
                           [&](const auto& one) { return one.first == result.step.target(); });
    if (at == sums.end()) at = sums.insert(sums.end(), {result.step.target(), Sum{}});
    at->second.hits += sum.hits;
    at->second.misses += sum.misses;
    at->second.evictions += sum.evictions;
  }
  std::string text;
  for (const auto& [target, sum] : sums) {
    const std::uint64_t asked = sum.hits + sum.misses;
    text += LabelledLine(
        text.empty() ? "cache" : "",
        fmt::format("{}: the servers count {} hits and {} misses ({} hits), {} evictions", target,
                    FormatCount(sum.hits), FormatCount(sum.misses),
                    asked == 0 ? std::string("no")
                               : fmt::format("{:.1f} %", 100 * static_cast<double>(sum.hits) /
                                                             static_cast<double>(asked)),
                    FormatCount(sum.evictions)));
  }
  return text;
}

std::string AuditLines(const Report& report) {
  constexpr int kMaxSamples = 20;
  std::string text;
  for (const TargetSum& sum : SumByTarget(report)) {
    if (!sum.audit) continue;
    const v1::AuditResult& audit = *sum.audit;
    text += LabelledLine(
        text.empty() ? "audit" : "",
        fmt::format("{}: {} acknowledged, {} lost, {} stale, {} unexpected, {} wrong, {} unknown, "
                    "{} unaudited",
                    sum.target, FormatCount(audit.acknowledged()), FormatCount(audit.lost()),
                    FormatCount(audit.stale()), FormatCount(audit.unexpected()),
                    FormatCount(audit.wrong()), FormatCount(audit.unknown()),
                    FormatCount(audit.unaudited())));
    std::vector<std::string> samples;
    for (const std::string& sample : audit.samples()) {
      if (samples.size() < kMaxSamples) samples.push_back(Printable(sample, 80));
    }
    if (!samples.empty()) {
      text += LabelledLine("", fmt::format("  such as {}", fmt::join(samples, ", ")));
    }
  }
  return text;
}

std::string ConnectLines(const Report& report) {
  std::string text;
  for (const TargetSum& sum : SumByTarget(report)) {
    if (sum.connect.count() == 0 && sum.reconnects == 0) continue;
    std::string line = fmt::format("{}: {} connect{}", sum.target, FormatCount(sum.connect.count()),
                                   sum.connect.count() == 1 ? "" : "s");
    if (sum.connect.count() > 0) {
      line += fmt::format(", p50 {}, max {}", TimeText(sum.connect.Percentile(50)),
                          TimeText(sum.connect.max()));
    }
    line += fmt::format("; {} reconnects", FormatCount(sum.reconnects));
    if (sum.reprepares > 0) line += fmt::format(", {} reprepares", FormatCount(sum.reprepares));
    if (sum.retries > 0) line += fmt::format(", {} retries", FormatCount(sum.retries));
    text += LabelledLine(text.empty() ? "connect" : "", line);
  }
  return text;
}

std::string Word(const google::protobuf::EnumDescriptor* type, int value) {
  const auto* known = type->FindValueByNumber(value);
  return known == nullptr ? "" : wire::EnumWord(*known);
}

std::string EqualLines(const Report& report) {
  const v1::Workload& workload = report.run->run().workload();
  std::vector<std::string> modes;
  for (const v1::Target& target : workload.targets()) {
    if (!spec::IsLoaded(target)) continue;
    if (target.has_mysql()) {
      const v1::Mysql& mysql = target.mysql();
      modes.push_back(
          fmt::format("{} sends {} statements over {}", target.name(),
                      mysql.statements() == v1::STATEMENTS_PREPARED ? "prepared" : "text",
                      mysql.transport() == v1::TRANSPORT_UNIX ? "a Unix socket" : "TCP"));
    } else if (target.has_handlersocket()) {
      modes.push_back(fmt::format("{} speaks HandlerSocket over TCP", target.name()));
    } else if (target.has_memcached()) {
      const v1::Memcached& options = target.memcached();
      modes.push_back(fmt::format("{} speaks memcached's {} protocol over {}", target.name(),
                                  Word(v1::MemcachedProtocol_descriptor(), options.protocol()),
                                  options.socket().empty() ? "TCP" : "a Unix socket"));
    } else if (target.has_cassandra()) {
      const v1::Cassandra& options = target.cassandra();
      modes.push_back(
          fmt::format("{} sends {} CQL, reads at {}, writes at {}", target.name(),
                      Word(v1::Statements_descriptor(), options.statements()),
                      Word(v1::Consistency_descriptor(), options.consistency().read()),
                      Word(v1::Consistency_descriptor(), options.consistency().write())));
    }
  }
  if (modes.size() < 2) return "";
  return LabelledLine(
      "equal", fmt::format("one script, same keys and rows by seed; {}", fmt::join(modes, "; ")));
}

std::string ClientLines(const Report& report) {
  std::vector<std::string> loops;
  double user = 0;
  double system = 0;
  for (const Result& point : report.summary) {
    user += point.cpu_user_s;
    system += point.cpu_system_s;
    for (const std::string& loop : point.loops) {
      if (std::find(loops.begin(), loops.end(), loop) == loops.end()) loops.push_back(loop);
    }
  }
  if (loops.empty()) return "";
  return LabelledLine(
      "client", fmt::format("loop {}; worker threads used {} s user and {} s "
                            "system CPU while measuring",
                            fmt::join(loops, " and "), FormatFigure(user), FormatFigure(system)));
}

std::string AgentLines(const Report& report) {
  constexpr std::size_t kShown = 16;
  std::string text;
  const std::vector<AgentView>& agents = report.run->agents();
  for (std::size_t i = 0; i < std::min(kShown, agents.size()); ++i) {
    const AgentView& agent = agents[i];
    std::string line = fmt::format("{} on {}: ", agent.name, agent.host);
    if (agent.lost) line += fmt::format("LOST ({}); ", Printable(agent.lost_reason, 200));
    line += WhatItCost(agent);
    text += LabelledLine(text.empty() ? "agents" : "", line);
  }
  if (agents.size() > kShown) {
    text += LabelledLine("", fmt::format("and {} more, in report.json", agents.size() - kShown));
  }
  return text;
}

namespace {

// "256 MiB" of "268435456": whole powers of 1024 only; what is no size stays as it is.
std::string SizeText(const std::string& variable, const std::string& value) {
  if (!variable.ends_with("_size")) return value;
  const auto bytes = ParseCount(value);
  if (!bytes.ok() || *bytes == 0) return value;
  std::uint64_t count = *bytes;
  std::size_t unit = 0;
  const std::vector<std::string> units = {"B", "KiB", "MiB", "GiB"};
  for (; count % 1024 == 0 && unit + 1 < units.size(); ++unit) count /= 1024;
  return fmt::format("{} {}", FormatCount(count), units[unit]);
}

// What a reader compares two servers by; the rest is in report.json.
bool IsTold(const std::string& variable) {
  static const std::vector<std::string> kTold = {"version",
                                                 "innodb_buffer_pool_size",
                                                 "innodb_flush_log_at_trx_commit",
                                                 "sync_binlog",
                                                 "max_connections",
                                                 "handlersocket_threads",
                                                 "handlersocket_threads_wr",
                                                 "handlersocket_accept_balance",
                                                 "release_version",
                                                 "nodes",
                                                 "replication",
                                                 "commitlog_sync"};
  return std::find(kTold.begin(), kTold.end(), variable) != kTold.end();
}

}  // namespace

std::string ServerLines(const Report& report) {
  // Targets of one server share a line.
  std::vector<std::pair<std::string, std::string>> lines;  // names, variables
  for (const v1::ServerInfo& server : report.run->servers()) {
    std::vector<std::string> variables;
    for (const v1::NameValue& variable : server.variables()) {
      if (!IsTold(variable.name())) continue;
      variables.push_back(fmt::format("{} {}", Printable(variable.name(), 64),
                                      SizeText(variable.name(), Printable(variable.value(), 128))));
    }
    const std::string told = fmt::format("{}", fmt::join(variables, ", "));
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& line) { return line.second == told; });
    if (same == lines.end()) {
      lines.emplace_back(server.target(), told);
    } else {
      same->first += ", " + server.target();
    }
  }
  std::string text;
  for (const auto& [targets, told] : lines) {
    text += LabelledLine(text.empty() ? "server" : "", fmt::format("{}: {}", targets, told));
  }
  return text;
}

}  // namespace cavalry::report
