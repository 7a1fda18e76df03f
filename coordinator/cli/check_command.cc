#include "coordinator/cli/check_command.h"

#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "coordinator/cli/plan_text.h"
#include "coordinator/cli/prepared_run.h"
#include "coordinator/run_session.h"

namespace cavalry::cli {
namespace {

constexpr int kWell = 0;
constexpr int kFailed = 1;
constexpr int kWrongSpec = 2;
constexpr int kInterrupted = 130;
constexpr Nanos kTurn = 100 * kMillisecond;
constexpr Nanos kLeaveTime = 3 * kSecond;

int Fail(const Status& status, int exit_status) {
  fmt::print(stderr, "cavalry check: {}\n", StatusText(status));
  return exit_status;
}

// What preflight found of each target's server, then the last line.
void PrintWell(const CheckOptions& options, const PreparedRun& prepared,
               const report::Aggregator& found) {
  std::map<std::string, std::string> first;  // target that said the same
  for (const v1::ServerInfo& server : found.servers()) {
    std::string text;
    for (const v1::NameValue& variable : server.variables()) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", variable.name(), variable.value());
    }
    const auto [same, is_new] = first.emplace(text, server.target());
    fmt::print("{}", PlanLine(server.target(), is_new ? text : "as " + same->second));
  }
  for (const v1::Warning& warning : found.warnings()) {
    fmt::print("{}", PlanLine("warning", warning.text()));
  }
  const int targets = prepared.workload.targets_size();
  fmt::print("OK: {} target{} {}; nothing was changed\n", targets, targets == 1 ? "" : "s",
             options.connect ? "answered" : "checked without connecting (--connect also connects)");
}

}  // namespace

int CheckCommand(const CheckOptions& options) {
  auto prepared = PrepareRun(options.spec, options.set);
  if (!prepared.ok()) return Fail(prepared.status(), kWrongSpec);
  fmt::print("{}", RenderPlan(*prepared, {"", options.allow_destroy}));
  std::fflush(stdout);

  auto interrupts = coordinator::Interrupts::Create();
  if (!interrupts.ok()) return Fail(interrupts.status(), kFailed);
  auto session = coordinator::RunSession::Open("127.0.0.1:0", &*interrupts);
  if (!session.ok()) return Fail(session.status(), kFailed);
  run::RunEngine::Options engine = EngineOptions(*prepared, /*agents=*/1, /*strict=*/false);
  engine.plan.connect = options.connect;
  engine.plan.preflight_only = true;
  engine.plan.allow_destroy = options.allow_destroy;
  (*session)->Start(std::move(engine), /*journal=*/nullptr, coordinator::LocalAgents::Options());
  while ((*session)->Turn(kTurn)) {
  }
  const run::EndRun& end = (*session)->engine().end();
  int exit_status = kWell;
  if (end.end == v1::RUN_END_INTERRUPTED) {
    exit_status = kInterrupted;
  } else if (!end.status.ok()) {
    const bool wrong = end.status.code() == absl::StatusCode::kInvalidArgument;
    exit_status = Fail(end.status, wrong ? kWrongSpec : kFailed);
  } else {
    PrintWell(options, *prepared, (*session)->engine().aggregator());
  }
  (*session)->Close("checked", end.at_once ? 0 : MonotonicNow() + kLeaveTime);
  return exit_status;
}

}  // namespace cavalry::cli
