// Agents that the coordinator starts itself, as child processes. They are in process groups of
// their own, so that Ctrl-C reaches only the coordinator, which lets them drain; their lives are
// tied to a pipe, so that none outlives it. What they print is read here, passed on or kept. One
// thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace cavalry::coordinator {

class LocalAgents {
 public:
  static constexpr std::size_t kTailLines = 20;       // kept of what an agent printed
  static constexpr std::size_t kMaxLineBytes = 4096;  // longer lines are cut

  struct Options {
    std::size_t count = 1;
    std::string coordinator;    // "127.0.0.1:40123"
    std::string token;          // its proof to be ours
    std::uint32_t workers = 1;  // of each
    std::string loop = "auto";
    std::string priority = "auto";
    std::string program;  // "" beside this program, then in PATH
  };
  struct Exit {
    std::string name;
    std::string how;   // "ended with status 1", "was killed by signal 9 (Killed)"
    std::string tail;  // the last lines it printed, each after a line feed; "" if none
  };

  LocalAgents() = default;
  // Starts them. The error says which program was looked for and where.
  static StatusOr<LocalAgents> Start(const Options& options);
  // Ends those that are left.
  ~LocalAgents();
  LocalAgents(LocalAgents&&) = default;
  LocalAgents& operator=(LocalAgents&&) = default;

  // Descriptors that become readable when an agent prints or ends.
  std::vector<int> fds() const;
  // Reads what they printed and reaps those that ended; never waits. Whole lines go to `lines`,
  // unless null.
  void Poll(std::vector<std::string>* lines);
  // Agents that ended since the last call.
  std::vector<Exit> TakeExits() { return std::exchange(exits_, {}); }
  std::size_t running() const;

  // Ends the pipe that their lives are tied to, as the end of this process does.
  void CloseLife() { life_.Reset(); }
  // Waits for them to end by themselves until the deadline, then kills them.
  void End(Nanos deadline);

 private:
  struct Child {
    std::string name;
    pid_t pid = -1;  // -1: reaped
    UniqueFd output;
    std::string line;
    std::deque<std::string> tail;
  };
  static Status Spawn(const Options& options, const std::string& program, int life_fd,
                      Child* child);
  void ReadOutput(Child* child, std::vector<std::string>* lines);
  void Reap(Child* child, bool wait, std::vector<std::string>* lines);

  std::vector<Child> children_;
  std::vector<Exit> exits_;
  UniqueFd life_;  // write end: its closing ends the agents
};

// The cavalry-agent beside this program, or its bare name for a search in PATH.
std::string AgentProgram();

}  // namespace cavalry::coordinator
