#include "coordinator/cli/command_line.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "coordinator/cli/check_command.h"
#include "coordinator/cli/init_command.h"
#include "coordinator/cli/report_command.h"
#include "coordinator/cli/run_command.h"
#include "core/base/units.h"

namespace cavalry::cli {
namespace {

constexpr int kWrongUse = 2;
constexpr std::size_t kMaxAgents = 4096;
constexpr std::size_t kMaxLocalAgents = 256;
constexpr std::uint32_t kMaxTrace = 1000;

void PrintFirstScreen() {
  fmt::print(
      "cavalry {}: compare storage back-ends under load\n"
      "  cavalry init URL      write a first spec        (or a preset: cavalry presets)\n"
      "  cavalry check SPEC    plan, what it touches    (--connect also asks the servers)\n"
      "  cavalry run SPEC      run here                 (--agents N for more hosts)\n"
      "  cavalry report [DIR]  show the last run, or another; --format json\n"
      "Specs to begin with: configs/quickstart.yaml; every option: configs/all-options.yaml\n"
      "cavalry --help, cavalry run --help\n",
      CAVALRY_VERSION);
}

const char kRunFooter[] =
    "Examples:\n"
    "  cavalry run configs/quickstart.yaml --local 2\n"
    "  cavalry run spec.yaml --set load.sessions=64 --set load.stop_after.duration=10s\n"
    "  cavalry run spec.yaml --listen 0.0.0.0:7400 --agents 4 --insecure\n"
    "      and on each of four hosts: cavalry-agent --coordinator THIS_HOST:7400\n"
    "Units: durations 250ms, 5s, 2m; sizes 4KiB, 1MiB; counts 20k, 1.5M.\n"
    "Ctrl-C stops and reports; again: quits.\n"
    "Exit status: 0 all well, 1 could not be done, 2 wrong use or spec, 3 a threshold failed,\n"
    "  4 partial or not judged, 130 interrupted.\n";

// What was typed wrongly, for which command, and where help is.
std::string WrongUse(const CLI::App* app, const CLI::Error& error) {
  std::string command = "cavalry";
  for (const CLI::App* given : app->get_subcommands()) command += " " + given->get_name();
  std::string text = error.what();
  const std::vector<std::string> extras = app->remaining();
  if (app->get_subcommands().empty() && !extras.empty() && !extras.front().starts_with("-")) {
    text = fmt::format("'{}' is no command; there are init, presets, check, run and report",
                       extras.front());
  }
  return fmt::format("{}: {}; see '{} --help'\n", command, text, command);
}

// A duration as an option's value: "60s".
void AddDuration(CLI::App* app, const std::string& name, std::optional<Nanos>* target,
                 const std::string& text) {
  app->add_option_function<std::string>(
         name,
         [target, name](const std::string& value) {
           const auto parsed = ParseDuration(value);
           if (!parsed.ok()) throw CLI::ValidationError(name, StatusText(parsed.status()));
           *target = *parsed;
         },
         text)
      ->type_name("DURATION");
}

void AddRun(CLI::App* app, RunOptions* options) {
  CLI::App* run = app->add_subcommand("run", "Run a spec and report");
  run->footer(kRunFooter);
  run->add_option("SPEC", options->spec, "The spec, a YAML file")->required()->type_name("FILE");
  run->add_option("--set", options->set, "Set a value of the spec: load.sessions=64 (repeatable)")
      ->type_name("PATH=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  CLI::Option* local =
      run->add_option("--local", options->local, "Agents to start on this machine (default 1)")
          ->check(CLI::Range(std::size_t{1}, kMaxLocalAgents))
          ->type_name("N");
  run->add_option("--agents", options->agents,
                  "Agents to wait for instead, which dial the address of --listen")
      ->check(CLI::Range(std::size_t{1}, kMaxAgents))
      ->type_name("N")
      ->excludes(local);
  run->add_option("--listen", options->listen, "Where agents of other hosts dial: 0.0.0.0:7400")
      ->type_name("HOST:PORT")
      ->excludes(local);
  AddDuration(run, "--wait-agents", &options->wait_agents,
              "How long to wait for them (default 60s)");
  run->add_flag("--insecure", options->insecure,
                "Let --listen be reached from other hosts in plain text");
  run->add_option("--out", options->out, "Where results directories are made (default results)")
      ->type_name("DIR");
  CLI::Option* quiet = run->add_flag("--quiet", options->quiet, "Print only where the results are");
  run->add_flag("--json", options->json, "Print only report.json")->excludes(quiet);
  run->add_flag("--strict", options->strict,
                "Exit with 4 when the generator was or may have been the limit");
  run->add_option("--loop", options->loop, "Event loop of local agents: auto, io_uring, epoll")
      ->check(CLI::IsMember({"auto", "io_uring", "epoll"}))
      ->type_name("LOOP");
  run->add_option("--priority", options->priority,
                  "Of local agents' load threads: auto (real-time where the system\n"
                  "allows it: they never wait for cores that others use) or normal")
      ->check(CLI::IsMember({"auto", "normal"}))
      ->type_name("PRIORITY");
  run->add_option("--allow-destroy", options->allow_destroy,
                  "A table that may be emptied or dropped though cavalry did not\n"
                  "create it: shop.orders (repeatable)")
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  run->add_flag("--allow-commands", options->allow_commands,
                "Run the programs of the spec's 'commands', on this machine");
  run->add_option("--trace", options->trace,
                  "Show the bytes of the first N operations of each step")
      ->check(CLI::Range(std::uint32_t{1}, kMaxTrace))
      ->type_name("N");
  run->add_option_function<std::string>(
         "--on-lost-agent",
         [options](const std::string& value) {
           options->on_lost = value == "stop" ? run::LostPolicy::kStop : run::LostPolicy::kContinue;
         },
         "When an agent is lost: continue with the others (default), or\nstop and report")
      ->check(CLI::IsMember({"continue", "stop"}))
      ->type_name("POLICY");
}

void AddCheck(CLI::App* app, CheckOptions* options) {
  CLI::App* check = app->add_subcommand("check", "Check a spec and print its plan; change nothing");
  check->footer(
      "Examples:\n"
      "  cavalry check spec.yaml\n"
      "  cavalry check spec.yaml --connect --set targets.sql.mysql.host=db1\n"
      "Exit status: 0 all well, 1 a server cannot be reached, 2 wrong use or spec.\n");
  check->add_option("SPEC", options->spec, "The spec, a YAML file")->required()->type_name("FILE");
  check->add_option("--set", options->set, "Set a value of the spec (repeatable)")
      ->type_name("PATH=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  check->add_flag("--connect", options->connect, "Also connect to every target");
  check->add_option("--allow-destroy", options->allow_destroy, "As for run, for the plan")
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

void AddReport(CLI::App* app, ReportOptions* options) {
  CLI::App* report = app->add_subcommand("report", "Show a run again, from its journal");
  report->footer(
      "Examples:\n"
      "  cavalry report\n"
      "  cavalry report results/20261130-212743-customer-by-key --format json\n");
  report->add_option("DIR", options->directory, "A results directory (default: the last run)")
      ->type_name("FOLDER");
  report->add_option("--results", options->results, "Where the last run is looked for")
      ->type_name("DIR")
      ->capture_default_str();
  report->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
}

void AddInit(CLI::App* app, InitOptions* options) {
  CLI::App* init = app->add_subcommand("init", "Write a first spec for a server, or a preset");
  init->footer(
      "Examples:\n"
      "  cavalry init mysql://root@127.0.0.1:3306/test\n"
      "  cavalry init quickstart mine.yaml\n"
      "Nothing is overwritten; without an argument, a terminal is asked.\n");
  init->add_option("WHAT", options->what, "A preset, or mysql://USER@HOST:PORT/DATABASE");
  init->add_option("FILE", options->file, "Where to (default cavalry.yaml)")->type_name("FILE");
  app->add_subcommand("presets", "List the specs that come with cavalry");
}

}  // namespace

int CommandLine(int argc, char** argv) {
  CLI::App app("cavalry: a distributed load generator that compares storage back-ends\n");
  app.name("cavalry");
  app.set_version_flag("--version", std::string("cavalry ") + CAVALRY_VERSION);
  app.require_subcommand(0, 1);
  app.failure_message(WrongUse);
  app.footer("Each has --help with examples: cavalry run --help\n");
  RunOptions run;
  CheckOptions check;
  ReportOptions report;
  AddRun(&app, &run);
  AddCheck(&app, &check);
  AddReport(&app, &report);
  InitOptions init;
  AddInit(&app, &init);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUse;
  }
  if (app.got_subcommand("run")) return RunCommand(run);
  if (app.got_subcommand("check")) return CheckCommand(check);
  if (app.got_subcommand("init")) return InitCommand(init);
  if (app.got_subcommand("presets")) return PresetsCommand();
  if (app.got_subcommand("report")) return ReportCommand(report);
  PrintFirstScreen();
  return 0;
}

}  // namespace cavalry::cli
