#include "coordinator/cli/report_command.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "coordinator/report/rebuild.h"
#include "coordinator/report/report.h"
#include "coordinator/report/results_directory.h"
#include "core/base/status.h"

namespace cavalry::cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

int Fail(const Status& status, int exit_status) {
  fmt::print(stderr, "cavalry report: {}\n", StatusText(status));
  return exit_status;
}

StatusOr<std::string> FindDirectory(const ReportOptions& options) {
  if (options.directory.empty()) {
    auto last = report::LastRun(options.results);
    if (last.ok()) return last;
    return FailedPrecondition("{}; name the directory of a run", StatusText(last.status()));
  }
  struct stat info {};
  if (::stat(options.directory.c_str(), &info) != 0) {
    return ErrnoStatus(errno, fmt::format("no run at {}", options.directory));
  }
  if (!S_ISDIR(info.st_mode)) {
    return FailedPrecondition("{}: not a directory; name the directory of a run",
                              options.directory);
  }
  if (::stat((options.directory + "/journal").c_str(), &info) != 0 && errno == ENOENT) {
    return FailedPrecondition(
        "{} is no results directory: there is no journal in it; name the directory of a run",
        options.directory);
  }
  return options.directory;
}

}  // namespace

int ReportCommand(const ReportOptions& options) {
  if (options.format != "text" && options.format != "json") {
    return Fail(InvalidArgument("--format {}: there are text and json", options.format), kWrongUse);
  }
  auto directory = FindDirectory(options);
  if (!directory.ok()) return Fail(directory.status(), kFailed);
  auto run = report::RebuildRun(*directory + "/journal");
  if (!run.ok()) return Fail(run.status(), kFailed);
  const report::Report report = report::MakeReport(**run);
  const std::string text = options.format == "json" ? report::RenderJson(report)
                                                    : report::RenderText(report, *directory);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Fail(ErrnoStatus(errno, "write the report"), kFailed);
  }
  return kDone;
}

}  // namespace cavalry::cli
