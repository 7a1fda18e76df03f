// A program that a spec's command names, run without a shell on this machine. It is not ended with
// the coordinator: half a restart would be worse than a whole one. One thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace cavalry::coordinator {

class Program {
 public:
  // `arguments`: the program first, looked for in PATH. At `deadline` it is ended. REQUIRES:
  // arguments is not empty.
  static StatusOr<Program> Start(const std::vector<std::string>& arguments, Nanos deadline);

  Program(Program&& other) noexcept;
  Program& operator=(Program&&) = delete;
  ~Program();

  // Readable when it has ended.
  int fd() const { return ended_.get(); }
  // To be called every now and then: takes what it prints. Nothing while it runs; ok when it ended
  // with 0; else how it ended, and the end of what it printed.
  std::optional<Status> Poll(Nanos now);

 private:
  Program(pid_t pid, UniqueFd output, UniqueFd ended, std::string name, Nanos deadline);
  void ReadOutput();

  pid_t pid_ = -1;  // -1: reaped, or moved from
  UniqueFd output_;
  UniqueFd ended_;  // a pidfd
  std::string name_;
  Nanos deadline_ = 0;
  std::string printed_;
};

}  // namespace cavalry::coordinator
