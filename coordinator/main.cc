// cavalry: the coordinator, and the only program that people type.
#include <csignal>
#include <cstdio>
#include <exception>

#include "coordinator/cli/command_line.h"
#include "core/base/log.h"

int main(int argc, char** argv) {
  // A reader of our output that goes away must not end a run.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    cavalry::SetUpLog("cavalry", "warning");
    return cavalry::cli::CommandLine(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cavalry: %s\n", error.what());
    return 1;
  }
}
