// What people type: options, subcommands, help. Each subcommand has a file of its own.
#pragma once

namespace cavalry::cli {

// Parses and runs; returns the process's exit status (2 for wrong use).
int CommandLine(int argc, char** argv);

}  // namespace cavalry::cli
