#include "coordinator/report/results_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "coordinator/report/iso_time.h"
#include "core/base/unique_fd.h"

namespace cavalry::report {
namespace {

constexpr std::size_t kMaxSlugBytes = 40;
constexpr int kMaxTries = 1000;

}  // namespace

std::string Slug(std::string_view name) {
  std::string slug;
  bool cut = false;  // within a word
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = c >= 'a' && c <= 'z';
    if (slug.size() == kMaxSlugBytes) {
      cut = digit || lower || upper;
      break;
    }
    if (digit || lower) {
      slug += c;
    } else if (upper) {
      slug += static_cast<char>(c - 'A' + 'a');
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  // A word that did not fit is left out whole, unless there is no other.
  if (cut && slug.find('-') != slug.npos) slug.erase(slug.rfind('-'));
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "run" : slug;
}

StatusOr<ResultsDirectory> ResultsDirectory::Create(const std::string& base, std::string_view name,
                                                    std::int64_t wall_ns) {
  std::error_code error;
  std::filesystem::create_directories(base, error);
  const auto failed = [](int number, const std::string& path) {
    return FailedPrecondition(
        "cannot make the results directory {}: {}; name another place with --out DIR", path,
        std::generic_category().message(number));
  };
  if (error) return failed(error.value(), base);
  const std::string first = fmt::format("{}/{}-{}", base, DirectoryTime(wall_ns), Slug(name));
  for (int i = 1; i <= kMaxTries; ++i) {
    const std::string path = i == 1 ? first : fmt::format("{}-{}", first, i);
    // mkdir alone decides who has the name, also between two runs that start together.
    if (::mkdir(path.c_str(), 0755) == 0) return ResultsDirectory(path);
    if (errno != EEXIST) return failed(errno, path);
  }
  return FailedPrecondition("{} and {} more of that name exist", first, kMaxTries - 1);
}

Status ResultsDirectory::Write(std::string_view file_name, std::string_view content) const {
  const std::string path = fmt::format("{}/{}", path_, file_name);
  const std::string temporary = path + ".tmp";
  const auto fail = [&](const char* what) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return ErrnoStatus(error, fmt::format("{} {}", what, path));
  };
  UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return fail("create");
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail("write");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  // A full disk may show only here.
  if (::fsync(file.get()) != 0) return fail("write");
  file.Reset();
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail("rename");
  return Status();
}

StatusOr<std::string> LastRun(const std::string& base) {
  std::error_code error;
  std::string last;
  for (std::filesystem::directory_iterator entry(base, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!std::filesystem::exists(entry->path() / "journal", ignored)) continue;
    last = std::max(last, name);
  }
  if (error) {
    return FailedPrecondition("no run in {}: {}", base,
                              std::generic_category().message(error.value()));
  }
  if (last.empty())
    return FailedPrecondition("{}: no run in it (no directory with a journal)", base);
  return fmt::format("{}/{}", base, last);
}

}  // namespace cavalry::report
