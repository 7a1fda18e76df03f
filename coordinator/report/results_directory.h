// The directory of one run, results/<time>-<name>/: journal, spec.yaml, report.json, report.txt.
// Files are written whole or not at all; an error names the file. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cavalry::report {

class ResultsDirectory {
 public:
  // Makes <base>/<YYYYmmdd-HHMMSS>-<slug of name>/, with "-2", "-3", ... behind it if it is taken.
  // `base` is made with its parents if it is not there. `wall_ns`: ns since 1970, for the name.
  static StatusOr<ResultsDirectory> Create(const std::string& base, std::string_view name,
                                           std::int64_t wall_ns);

  const std::string& path() const { return path_; }
  std::string journal_path() const { return path_ + "/journal"; }

  // Replaces <directory>/<file_name> by `content`: a temporary file, synced, renamed.
  Status Write(std::string_view file_name, std::string_view content) const;

 private:
  explicit ResultsDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Letters, digits and single dashes, lower case, at most 40 bytes, never empty: "customer-by-key".
std::string Slug(std::string_view name);

// The last run by name under `base` that has a journal. The error says what was looked for.
StatusOr<std::string> LastRun(const std::string& base);

}  // namespace cavalry::report
