#include "coordinator/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/check.h"

namespace cavalry::coordinator {
namespace {

constexpr std::size_t kMostPrinted = 2'000;  // the last bytes are kept

}  // namespace

StatusOr<Program> Program::Start(const std::vector<std::string>& arguments, Nanos deadline) {
  CAVALRY_CHECK(!arguments.empty());
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd output(pipe[0]);
  const UniqueFd child_end(pipe[1]);
  fcntl(output.get(), F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, child_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, child_end.get(), STDERR_FILENO);
  // A group of its own: Ctrl-C is for the coordinator, which blocks and ignores signals that a
  // program expects.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv.front(), &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return ErrnoStatus(error, fmt::format("start {}", arguments.front()));
  UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  return Program(pid, std::move(output), std::move(ended), arguments.front(), deadline);
}

Program::Program(pid_t pid, UniqueFd output, UniqueFd ended, std::string name, Nanos deadline)
    : pid_(pid),
      output_(std::move(output)),
      ended_(std::move(ended)),
      name_(std::move(name)),
      deadline_(deadline) {}

Program::Program(Program&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      ended_(std::move(other.ended_)),
      name_(std::move(other.name_)),
      deadline_(other.deadline_),
      printed_(std::move(other.printed_)) {}

Program::~Program() = default;

void Program::ReadOutput() {
  std::array<char, 4096> bytes;
  while (true) {
    const ssize_t count = read(output_.get(), bytes.data(), bytes.size());
    if (count <= 0) break;
    printed_.append(bytes.data(), static_cast<std::size_t>(count));
    if (printed_.size() > kMostPrinted) printed_.erase(0, printed_.size() - kMostPrinted);
  }
}

std::optional<Status> Program::Poll(Nanos now) {
  ReadOutput();
  const bool late = now >= deadline_;
  if (late) kill(-pid_, SIGKILL);
  int how = 0;
  const pid_t reaped = waitpid(pid_, &how, late ? 0 : WNOHANG);
  if (reaped == 0) return std::nullopt;
  ReadOutput();
  pid_ = -1;
  const std::string said = printed_.empty() ? "" : fmt::format("; it said: {}", printed_);
  if (late) return DeadlineExceeded("{} did not end within ready_within{}", name_, said);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return absl::OkStatus();
  if (WIFEXITED(how)) return Unavailable("{} exited with {}{}", name_, WEXITSTATUS(how), said);
  return Unavailable("{} was ended by signal {}{}", name_, WTERMSIG(how), said);
}

}  // namespace cavalry::coordinator
