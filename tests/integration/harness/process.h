// A program that a test starts, watches and ends: its output goes to files, every wait has a
// deadline, signals go to its own process id. Destroyed, it kills what is left. One thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/unique_fd.h"

namespace cavalry::e2e {

// Long enough for a loaded machine: for what must happen, not for how fast.
inline constexpr Nanos kPatience = 60 * kSecond;

struct ProcessOptions {
  std::vector<std::string> arguments;    // the program first; with a slash, or found in PATH
  std::string directory;                 // to run in; "" the test's own
  std::vector<std::string> environment;  // "NAME=value", beside the test's own
  std::string output;                    // its files: OUTPUT.out and OUTPUT.err
};

class Process {
 public:
  // Starts it. A program that cannot be started fails the test, and has ended with 127.
  explicit Process(ProcessOptions options);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  // What it has printed so far.
  std::string out() const;
  std::string err() const;

  void Signal(int number) const;
  // Waits for its end: its exit status, or 128 + the signal that ended it. One that takes longer
  // than `patience` fails the test, is killed, and gives -1.
  int Wait(Nanos patience = kPatience);
  bool running();
  // Time from its start to its end, once it has been waited for.
  Nanos lasted() const { return ended_ - started_; }

  // Process ids of the children of all its threads.
  std::vector<pid_t> Children() const;
  // Waits until its standard error (or output) has the text; false when it ended before.
  bool AwaitText(const std::string& text, Nanos patience = kPatience);

 private:
  void Reap(bool kill);

  ProcessOptions options_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  Nanos started_ = 0;
  Nanos ended_ = 0;
  int status_ = -1;  // as Wait() returns it
  bool reaped_ = false;
};

// Asks until `is` says true; false after `patience`.
bool Await(const std::function<bool()>& is, Nanos patience = kPatience);

// Whether a process of this id is there and not a zombie.
bool Alive(pid_t pid);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& text);

}  // namespace cavalry::e2e
