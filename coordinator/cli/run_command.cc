#include "coordinator/cli/run_command.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "coordinator/cli/plan_text.h"
#include "coordinator/cli/prepared_run.h"
#include "coordinator/cli/progress.h"
#include "coordinator/listen_address.h"
#include "coordinator/report/report.h"
#include "coordinator/report/results_directory.h"
#include "coordinator/run/journal.h"
#include "coordinator/run_session.h"
#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"
#include "core/base/units.h"

namespace cavalry::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr int kInterrupted = 130;
constexpr Nanos kTurn = 100 * kMillisecond;
constexpr Nanos kLeaveTime = 3 * kSecond;

int Fail(const Status& status, int exit_status) {
  fmt::print(stderr, "cavalry run: {}\n", StatusText(status));
  return exit_status;
}

bool Local(const RunOptions& options) { return options.agents == 0 && options.listen.empty(); }

// Where to listen, or why not there.
StatusOr<std::string> ListenText(const RunOptions& options) {
  if (Local(options)) return std::string("127.0.0.1:0");
  if (options.listen.empty()) {
    return InvalidArgument(
        "--agents {} needs --listen HOST:PORT, where they dial (as --listen 0.0.0.0:7400)",
        options.agents);
  }
  CAVALRY_ASSIGN_OR_RETURN(const coordinator::ListenAddress address,
                           coordinator::ParseListenAddress(options.listen));
  if (!address.loopback && !options.insecure) {
    return InvalidArgument(
        "--listen {} can be reached from other hosts, and the stream to agents is plain text: it "
        "carries the passwords of your targets, and anybody who reaches it can take part. If that "
        "network is yours alone, say --insecure",
        options.listen);
  }
  return address.text();
}

std::string AgentsText(const RunOptions& options, std::size_t agents) {
  if (Local(options)) return fmt::format("{} on this machine", agents);
  const auto address = coordinator::ParseListenAddress(options.listen);
  const std::string dialled = address.ok() && address->loopback
                                  ? address->text()
                                  : "THIS_HOST" + options.listen.substr(options.listen.rfind(':'));
  return fmt::format("{} that dial {}: cavalry-agent --coordinator {}", agents, options.listen,
                     dialled);
}

std::optional<coordinator::LocalAgents::Options> LocalOptions(const RunOptions& options) {
  if (!Local(options)) return std::nullopt;
  coordinator::LocalAgents::Options local;
  local.count = options.local;
  local.loop = options.loop;
  local.priority = options.priority;
  const auto cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  local.workers = static_cast<std::uint32_t>(std::max<std::size_t>(cores / options.local, 1));
  return local;
}

// The run itself: turns the session until it has ended, showing how far it is.
void Turn(coordinator::RunSession* session, Progress::Form form) {
  Progress progress(form);
  bool going = true;
  while (going) {
    going = session->Turn(kTurn);
    progress.Show(session->engine(), session->TakeNotes(), MonotonicNow());
  }
  progress.Clear();
}

// Writes the report's files. What cannot be written is told, but keeps nothing else from being
// done.
bool WriteReports(const report::ResultsDirectory& directory, const std::string& text,
                  const std::string& json) {
  bool written = true;
  for (const auto& [name, content] :
       {std::pair<std::string, const std::string&>("report.txt", text), {"report.json", json}}) {
    if (const Status status = directory.Write(name, content); !status.ok()) {
      fmt::print(stderr, "cavalry run: {} was not saved: {}\n", name, StatusText(status));
      written = false;
    }
  }
  return written;
}

// Whether it could be written, to whoever still wants to read it.
bool Print(const std::string& text) {
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  // A reader that has seen enough is no failure.
  return errno == EPIPE;
}

int Report(const RunOptions& options, const run::RunEngine& engine,
           const report::ResultsDirectory& directory) {
  if (engine.end().at_once) {
    fmt::print(stderr, "cavalry run: quit; what was measured so far: cavalry report {}\n",
               directory.path());
    return kInterrupted;
  }
  report::Report report = report::MakeReport(engine.aggregator());
  const std::string json = report::RenderJson(report);
  const bool saved = WriteReports(directory, report::RenderText(report, directory.path()), json);
  if (!saved && report.exit_status == 0) {
    report.exit_status = kFailed;
    report.exit_reason = "the report could not be saved";
  }
  const std::string shown = options.json    ? json
                            : options.quiet ? fmt::format("{}\n", directory.path())
                                            : report::RenderText(report, directory.path());
  const bool printed = Print(shown);
  if ((options.quiet || options.json) && report.exit_status != 0) {
    fmt::print(stderr, "cavalry run: {} (exit status {})\n", report.exit_reason,
               report.exit_status);
  }
  if (!printed) fmt::print(stderr, "cavalry run: the report could not be written to the output\n");
  return report.exit_status == 0 && !printed ? kFailed : report.exit_status;
}

// A spec may come from anywhere: its programs run only for whoever says so.
Status CheckCommands(const RunOptions& options, const PreparedRun& prepared) {
  if (options.allow_commands) return absl::OkStatus();
  for (const run::PlannedStep& step : prepared.steps) {
    for (const v1::Preparation& preparation : step.before) {
      if (preparation.command().empty()) continue;
      return InvalidArgument(
          "condition '{}' runs the command '{}' on this machine; look at it under 'commands' of {} "
          "and say --allow-commands",
          step.step.condition(), preparation.command(), options.spec);
    }
  }
  return absl::OkStatus();
}

// From here on the spec is right and the port is ours.
int RunWith(const RunOptions& options, const PreparedRun& prepared, std::size_t agents,
            coordinator::RunSession* session) {
  auto directory =
      report::ResultsDirectory::Create(options.out, prepared.workload.name(), WallClockForLabels());
  if (!directory.ok()) return Fail(directory.status(), kFailed);
  auto journal = run::Journal::Create(directory->journal_path());
  if (!journal.ok()) return Fail(journal.status(), kFailed);
  const std::string spec = spec::WriteSpec(spec::RedactSecrets(prepared.workload));
  if (const Status saved = directory->Write("spec.yaml", spec); !saved.ok()) {
    return Fail(saved, kFailed);
  }
  run::RunEngine::Options engine = EngineOptions(prepared, agents, options.strict);
  engine.plan.allow_destroy = options.allow_destroy;
  engine.plan.on_lost = options.on_lost;
  engine.plan.read_counters = true;
  engine.plan.trace = options.trace;
  if (options.wait_agents) engine.plan.deadlines.wait_agents = *options.wait_agents;
  session->Start(std::move(engine), &*journal, LocalOptions(options));
  const bool silent = options.quiet || options.json;
  Turn(session, silent ? Progress::Form::kQuiet : Progress::FormOfStderr());
  // The report is safe on disk before any agent is let go.
  const int exit_status = Report(options, session->engine(), *directory);
  const bool at_once = session->engine().end().at_once;
  session->Close("the run is over", at_once ? 0 : MonotonicNow() + kLeaveTime);
  return exit_status;
}

}  // namespace

int RunCommand(const RunOptions& options) {
  const auto listen = ListenText(options);
  if (!listen.ok()) return Fail(listen.status(), kWrongUse);
  auto prepared = PrepareRun(options.spec, options.set);
  if (!prepared.ok()) return Fail(prepared.status(), kWrongUse);
  if (const Status allowed = CheckCommands(options, *prepared); !allowed.ok()) {
    return Fail(allowed, kWrongUse);
  }
  const std::size_t agents =
      Local(options) ? options.local : std::max<std::size_t>(options.agents, 1);
  if (!options.quiet && !options.json) {
    Print(RenderPlan(*prepared, {AgentsText(options, agents), options.allow_destroy}));
  }
  // Before any thread is started, so that all of them leave these signals to this one.
  auto interrupts = coordinator::Interrupts::Create();
  if (!interrupts.ok()) return Fail(interrupts.status(), kFailed);
  auto session = coordinator::RunSession::Open(*listen, &*interrupts);
  if (!session.ok()) return Fail(session.status(), kFailed);
  return RunWith(options, *prepared, agents, session->get());
}

}  // namespace cavalry::cli
