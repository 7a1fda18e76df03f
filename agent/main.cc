// cavalry-agent: a load process. It dials its coordinator and opens no port.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include "agent/agent.h"
#include "agent/report/self_monitor.h"
#include "core/base/host_port.h"
#include "core/base/log.h"

namespace {

std::atomic<bool> quit_requested{false};

void OnSignal(int) { quit_requested = true; }

void SetUpSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

// A coordinator that dies closes the pipe: its child ends with it, whatever it is doing.
void TieLifeToParent(int fd) {
  std::thread([fd] {
    pollfd parent{fd, POLLIN, 0};
    while (true) {
      if (::poll(&parent, 1, -1) < 0) continue;
      char byte;
      if (::read(fd, &byte, 1) <= 0) break;
    }
    quit_requested = true;
    // Long enough for a stream to end in order, short enough that no load outlives its coordinator.
    ::alarm(5);
  }).detach();
}

// "" or why the coordinator cannot be dialled there, however often it is tried.
std::string WhyNotDialled(const std::string& address) {
  const auto parsed = cavalry::ParseHostPort(address);
  if (!parsed.ok()) return cavalry::StatusText(parsed.status());
  if (!parsed->host.empty() && parsed->port != 0) return "";
  return "'" + address + "': write HOST:PORT, where 'cavalry run --listen' listens, as db1:7400";
}

int Run(int argc, char** argv) {
  cavalry::agent::AgentOptions options;
  int parent_fd = -1;
  std::string loop = "auto";
  std::string priority = "auto";
  std::string log_level = "info";
  options.workers = std::max(1U, std::thread::hardware_concurrency());

  CLI::App app{
      "cavalry-agent: a load process of cavalry. It dials the coordinator, opens no port, and "
      "waits "
      "for the next run when one is over.\n\n"
      "  cavalry-agent --coordinator db-lab1:7400\n"};
  app.add_option("--coordinator", options.coordinator, "Where 'cavalry run --listen' listens")
      ->check(WhyNotDialled)
      ->type_name("HOST:PORT")
      ->required();
  app.add_option("--name", options.name, "Name in the report (default: the host's name)")
      ->type_name("NAME");
  app.add_option("--workers", options.workers, "Load threads (default: one per core)")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
  app.add_option("--loop", loop, "Event loop: auto, io_uring or epoll")
      ->check(CLI::IsMember({"auto", "io_uring", "epoll"}))
      ->capture_default_str();
  app.add_option("--priority", priority,
                 "Of load threads: auto (real-time where the system allows it) or normal")
      ->check(CLI::IsMember({"auto", "normal"}))
      ->capture_default_str();
  app.add_option("--log", log_level, "Log level: debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--parent-fd", parent_fd, "Pipe whose end ends this process")->group("");
  app.add_option("--local-token", options.local_token, "Proof of being a child")->group("");
  app.set_version_flag("--version", std::string("cavalry-agent ") + CAVALRY_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  cavalry::SetUpLog(options.name.empty() ? "cavalry-agent" : options.name, log_level);
  SetUpSignals();
  if (parent_fd >= 0) TieLifeToParent(parent_fd);
  using cavalry::run::LoopKind;
  options.loop = loop == "io_uring" ? LoopKind::kIoUring
                 : loop == "epoll"  ? LoopKind::kEpoll
                                    : LoopKind::kAuto;
  options.realtime = priority == "auto";
  options.max_open_files = cavalry::agent::RaiseOpenFileLimit();
  const cavalry::Status status = cavalry::agent::RunAgent(options, quit_requested);
  if (!status.ok() && !quit_requested) {
    spdlog::error("{}", cavalry::StatusText(status));
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return 1;
  }
}
