// `cavalry report [DIR] [--format text|json]`: makes the report again from a run's journal.
#pragma once

#include <string>

namespace cavalry::cli {

struct ReportOptions {
  std::string directory;  // "" the last run in `results`
  std::string results = "results";
  std::string format = "text";  // "text" or "json"
};

// Prints the report to stdout, errors to stderr. Returns 0; 1 if there is no such run or its
// journal cannot be read; 2 for an unknown format. The run's own exit status stands in the report.
int ReportCommand(const ReportOptions& options);

}  // namespace cavalry::cli
