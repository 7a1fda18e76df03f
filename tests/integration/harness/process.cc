#include "tests/integration/harness/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <gtest/gtest.h>

namespace cavalry::e2e {
namespace {

constexpr int kNoProgram = 127;
constexpr int kBySignal = 128;
constexpr useconds_t kAskEveryUs = 20'000;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The test's own environment with `changes`, which win.
std::vector<std::string> Environment(const std::vector<std::string>& changes) {
  std::vector<std::string> variables = changes;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool changed = false;
    for (const std::string& change : changes) changed = changed || change.rfind(name, 0) == 0;
    if (!changed) variables.push_back(text);
  }
  return variables;
}

}  // namespace

Process::Process(ProcessOptions options) : options_(std::move(options)) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
  const std::string out = options_.output + ".out";
  const std::string err = options_.output + ".err";
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kWrite, 0600);
  if (!options_.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options_.directory.c_str());
  }
  // A group of its own, as a shell gives each of its jobs.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::vector<std::string> environment = Environment(options_.environment);
  started_ = MonotonicNow();
  const int error = posix_spawnp(&pid_, options_.arguments.at(0).c_str(), &actions, &attributes,
                                 Pointers(options_.arguments).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    ADD_FAILURE() << options_.arguments[0] << ": " << std::strerror(error);
    pid_ = -1;
    status_ = kNoProgram;
    reaped_ = true;
    ended_ = started_;
    return;
  }
  pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  EXPECT_TRUE(pidfd_.valid());
}

Process::Process(Process&& other) noexcept
    : options_(std::move(other.options_)),
      pid_(other.pid_),
      pidfd_(std::move(other.pidfd_)),
      started_(other.started_),
      ended_(other.ended_),
      status_(other.status_),
      reaped_(std::exchange(other.reaped_, true)) {}

Process::~Process() {
  if (!reaped_) Reap(/*kill=*/true);
}

std::string Process::out() const { return ReadFile(options_.output + ".out"); }
std::string Process::err() const { return ReadFile(options_.output + ".err"); }

void Process::Signal(int number) const {
  if (reaped_) return;
  EXPECT_EQ(::kill(pid_, number), 0) << std::strerror(errno);
}

void Process::Reap(bool kill) {
  // One that was stopped could not even be ended otherwise.
  if (kill) ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ended_ = MonotonicNow();
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
  reaped_ = true;
}

int Process::Wait(Nanos patience) {
  if (reaped_) return status_;
  const Nanos deadline = MonotonicNow() + patience;
  while (true) {
    const Nanos left = deadline - MonotonicNow();
    if (left <= 0) break;
    pollfd end{pidfd_.get(), POLLIN, 0};
    if (::poll(&end, 1, static_cast<int>(left / kMillisecond) + 1) > 0) {
      Reap(/*kill=*/false);
      return status_;
    }
  }
  ADD_FAILURE() << options_.arguments[0] << " did not end in " << patience / kSecond
                << " s\n--- it printed\n"
                << out() << "--- and on standard error\n"
                << err();
  Reap(/*kill=*/true);
  status_ = -1;
  return status_;
}

bool Process::running() {
  if (reaped_) return false;
  pollfd end{pidfd_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 0;
}

std::vector<pid_t> Process::Children() const {
  std::vector<pid_t> children;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid_) + "/task";
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::ifstream list(task.path() / "children");
    children.insert(children.end(), std::istream_iterator<pid_t>(list),
                    std::istream_iterator<pid_t>());
  }
  return children;
}

bool Process::AwaitText(const std::string& text, Nanos patience) {
  const auto there = [&] {
    return err().find(text) != std::string::npos || out().find(text) != std::string::npos;
  };
  Await([&] { return there() || !running(); }, patience);
  return there();
}

bool Await(const std::function<bool()>& is, Nanos patience) {
  const Nanos deadline = MonotonicNow() + patience;
  while (!is()) {
    if (MonotonicNow() >= deadline) return false;
    usleep(kAskEveryUs);
  }
  return true;
}

bool Alive(pid_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") Z") != 0;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  EXPECT_TRUE(file.good()) << path;
}

}  // namespace cavalry::e2e
