#include "coordinator/local_agents.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fmt/format.h>

extern char** environ;

namespace cavalry::coordinator {
namespace {

constexpr int kLifeFdInChild = 3;
constexpr int kEndPollMs = 20;

StatusOr<std::pair<UniqueFd, UniqueFd>> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

// Frees the two objects that posix_spawn takes.
struct SpawnSettings {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       sigdescr_np(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

std::string AgentProgram() {
  std::array<char, PATH_MAX> self;
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  if (length > 0) {
    std::string path(self.data(), static_cast<std::size_t>(length));
    path = path.substr(0, path.rfind('/')) + "/cavalry-agent";
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "cavalry-agent";
}

StatusOr<LocalAgents> LocalAgents::Start(const Options& options) {
  LocalAgents agents;
  CAVALRY_ASSIGN_OR_RETURN(auto life, MakePipe());
  agents.life_ = std::move(life.second);
  const std::string program = options.program.empty() ? AgentProgram() : options.program;
  for (std::size_t i = 1; i <= options.count; ++i) {
    Child child;
    child.name = fmt::format("local{}", i);
    CAVALRY_RETURN_IF_ERROR(Spawn(options, program, life.first.get(), &child));
    agents.children_.push_back(std::move(child));
  }
  return agents;
}

Status LocalAgents::Spawn(const Options& options, const std::string& program, int life_fd,
                          Child* child) {
  CAVALRY_ASSIGN_OR_RETURN(auto output, MakePipe());
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.files, output.second.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.files, output.second.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&settings.files, life_fd, kLifeFdInChild);
  posix_spawn_file_actions_addclosefrom_np(&settings.files, kLifeFdInChild + 1);

  // Our threads block the signals that end a run; a child must not inherit that.
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &usual);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  // Only what is wrong: the lines stand between ours.
  std::vector<std::string> arguments = {program, "--coordinator", options.coordinator};
  for (const auto& [option, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"--name", child->name},
           {"--parent-fd", std::to_string(kLifeFdInChild)},
           {"--workers", std::to_string(options.workers)},
           {"--loop", options.loop},
           {"--priority", options.priority},
           {"--log", "warning"},
           {"--local-token", options.token}}) {
    arguments.emplace_back(option);
    arguments.push_back(value);
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const int error = posix_spawnp(&child->pid, program.c_str(), &settings.files,
                                 &settings.attributes, argv.data(), environ);
  if (error != 0) {
    child->pid = -1;
    return Unavailable("cannot start {}: {}; cavalry-agent must stand beside cavalry, or in PATH",
                       program, std::strerror(error));
  }
  child->output = std::move(output.first);
  fcntl(child->output.get(), F_SETFL, O_NONBLOCK);
  return absl::OkStatus();
}

LocalAgents::~LocalAgents() { End(0); }

std::vector<int> LocalAgents::fds() const {
  std::vector<int> fds;
  for (const Child& child : children_) {
    if (child.output.valid()) fds.push_back(child.output.get());
  }
  return fds;
}

void LocalAgents::ReadOutput(Child* child, std::vector<std::string>* lines) {
  std::array<char, 4096> buffer;
  while (child->output.valid()) {
    const ssize_t got = read(child->output.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) child->output.Reset();
    for (ssize_t i = 0; i < got; ++i) {
      const char c = buffer[static_cast<std::size_t>(i)];
      if (c != '\n' && child->line.size() < kMaxLineBytes) child->line += c;
      if (c != '\n') continue;
      if (lines != nullptr) lines->push_back(fmt::format("{}: {}", child->name, child->line));
      child->tail.push_back(std::exchange(child->line, {}));
      if (child->tail.size() > kTailLines) child->tail.pop_front();
    }
  }
}

void LocalAgents::Reap(Child* child, bool wait, std::vector<std::string>* lines) {
  if (child->pid < 0) return;
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child->pid, &status, wait ? 0 : WNOHANG);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return;
  child->pid = -1;
  ReadOutput(child, lines);
  Exit exit;
  exit.name = child->name;
  exit.how = ended < 0 ? "is gone" : HowItEnded(status);
  if (!child->line.empty()) child->tail.push_back(std::exchange(child->line, {}));
  for (const std::string& line : child->tail) exit.tail += "\n  " + line;
  exits_.push_back(std::move(exit));
}

void LocalAgents::Poll(std::vector<std::string>* lines) {
  for (Child& child : children_) {
    ReadOutput(&child, lines);
    Reap(&child, /*wait=*/false, lines);
  }
}

std::size_t LocalAgents::running() const {
  std::size_t count = 0;
  for (const Child& child : children_) count += child.pid >= 0 ? 1 : 0;
  return count;
}

void LocalAgents::End(Nanos deadline) {
  while (true) {
    Poll(nullptr);
    if (running() == 0 || MonotonicNow() >= deadline) break;
    std::vector<pollfd> fds;
    for (const int fd : this->fds()) fds.push_back({fd, POLLIN, 0});
    poll(fds.data(), fds.size(), kEndPollMs);
  }
  for (Child& child : children_) {
    if (child.pid < 0) continue;
    kill(child.pid, SIGKILL);
    Reap(&child, /*wait=*/true, nullptr);
  }
  life_.Reset();
}

}  // namespace cavalry::coordinator
