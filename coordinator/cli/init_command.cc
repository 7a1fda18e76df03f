#include "coordinator/cli/init_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "coordinator/cli/presets.h"
#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"
#include "core/base/unique_fd.h"

namespace cavalry::cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr std::string_view kScheme = "mysql://";

int Fail(const Status& status, int exit_status) {
  fmt::print(stderr, "cavalry init: {}\n", StatusText(status));
  return exit_status;
}

// {0} host, {1} port, {2} user, {3} database.
constexpr char kSpec[] = R"(# How fast can rows of {3} on {0} be read by key, at how many sessions?
# cavalry check FILE shows what this does, cavalry run FILE does it. Every key of a spec is told in the preset
# all-options: cavalry init all-options all-options.yaml
name: first look at {3}

targets:
  sql:
    mysql:
      host: {0}
      port: {1}
      user: {2}
      password: {{ env: CAVALRY_PASSWORD }}   # export CAVALRY_PASSWORD=... (empty: none)
      database: {3}
      statements: text             # or prepared

# A table of its own, which cavalry creates and fills; yours are not touched.
tables:
  cavalry_first:
    rows: 10k
    primary_key: id
    columns:
      id: {{ type: int }}
      name: {{ type: varchar(25), value: "Customer#{{id:09}}" }}

operations:
  find: {{ read: {{ keys: uniform }} }}

load: {{ warmup: 1s, stop_after: {{ duration: 5s }} }}
sweep: {{ load.sessions: [1, 16] }}  # a step each
)";

bool IsPlain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

std::string Ask(const std::string& question, const std::string& otherwise) {
  fmt::print(stderr, "{} [{}]: ", question, otherwise);
  std::string answer;
  std::getline(std::cin, answer);
  return answer.empty() ? otherwise : answer;
}

StatusOr<std::string> AskForUrl() {
  if (isatty(STDIN_FILENO) == 0) {
    return InvalidArgument(
        "name a preset (see cavalry presets) or a server, as in cavalry init "
        "mysql://root@127.0.0.1:3306/test");
  }
  const std::string host = Ask("MySQL or MariaDB server", "127.0.0.1");
  const std::string port = Ask("Port", "3306");
  const std::string user = Ask("User", "root");
  return fmt::format("{}{}@{}:{}/{}", kScheme, user, host, port, Ask("Database", "test"));
}

StatusOr<std::string> TextOf(const std::string& what) {
  for (const Preset& preset : Presets()) {
    if (preset.name == what) return std::string(preset.text);
  }
  if (what.starts_with(kScheme)) return SpecForUrl(what);
  if (!what.empty()) {
    return InvalidArgument(
        "'{}' is no preset (see cavalry presets) and no URL as mysql://root@127.0.0.1:3306/test",
        what);
  }
  CAVALRY_ASSIGN_OR_RETURN(const std::string url, AskForUrl());
  return SpecForUrl(url);
}

// A file that is there already is left alone.
Status WriteNew(const std::string& path, std::string_view text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid() && errno == EEXIST) {
    return FailedPrecondition("{} is there already; name another file: cavalry init WHAT FILE",
                              path);
  }
  if (!fd.valid()) return ErrnoStatus(errno, path);
  while (!text.empty()) {
    const ssize_t written = write(fd.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) return ErrnoStatus(errno, path);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

// The first line of comment.
std::string_view Title(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.substr(std::min(line.find_first_not_of("# "), line.size()));
}

}  // namespace

StatusOr<std::string> SpecForUrl(std::string_view url) {
  const auto wrong = [url](std::string_view why) {
    return InvalidArgument("{}: {}; write mysql://USER@HOST:PORT/DATABASE", url, why);
  };
  std::string_view rest = url.substr(kScheme.size());
  const auto at = rest.find('@');
  const std::string_view user = at == std::string_view::npos ? "root" : rest.substr(0, at);
  if (user.find(':') != std::string_view::npos) {
    return InvalidArgument("a password does not belong into a spec: export it as CAVALRY_PASSWORD");
  }
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos) return wrong("the database is missing");
  const std::string_view database = rest.substr(slash + 1);
  const std::string_view address = rest.substr(0, slash);
  const auto colon = address.rfind(':');
  const std::string_view host = address.substr(0, colon);
  const std::string_view port =
      colon == std::string_view::npos ? "3306" : address.substr(colon + 1);
  for (const std::string_view part : {user, host, port, database}) {
    if (!IsPlain(part)) return wrong(fmt::format("'{}' is not understood", part));
  }
  return fmt::format(kSpec, host, port, user, database);
}

int InitCommand(const InitOptions& options) {
  const auto text = TextOf(options.what);
  if (!text.ok()) return Fail(text.status(), kWrongUse);
  // What a preset asks of the environment may be unset here; its text is loaded by a test.
  if (options.what.empty() || options.what.starts_with(kScheme)) {
    const auto document = spec::ParseSpec(*text, options.file);
    if (!document.ok()) return Fail(document.status(), kWrongUse);
    if (const Status right = spec::CheckSpec(*document); !right.ok()) return Fail(right, kWrongUse);
  }
  if (const Status written = WriteNew(options.file, *text); !written.ok()) {
    return Fail(written, kFailed);
  }
  fmt::print(
      "{0} is written. See what it does, then run it:\n"
      "  cavalry check {0} --connect\n"
      "  cavalry run {0}\n",
      options.file);
  return kDone;
}

int PresetsCommand() {
  for (const Preset& preset : Presets()) {
    fmt::print("{:<24} {}\n", preset.name, Title(preset.text));
  }
  return kDone;
}

}  // namespace cavalry::cli
