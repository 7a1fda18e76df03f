// A TCP relay in front of a server, on a free port of loopback, for faults on the way: it passes
// connections on, or accepts them and says nothing, or is gone. One thread of its own; the methods
// may be called from the test's. What it reads waits for the other side, so it slows as that does.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

#include "core/base/unique_fd.h"

namespace cavalry::e2e {

class Relay {
 public:
  // To a port of 127.0.0.1.
  explicit Relay(int target_port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  int accepted() const { return accepted_.load(); }
  int open() const { return open_.load(); }

  // Connections after the next `count` are accepted and get no answer.
  void SilenceAfter(int count) { pass_until_ = accepted_.load() + count; }
  // Closes the listener: further connections are refused. Those that are open go on.
  void RefuseNew() { Command('r'); }
  // Nothing comes back any more over the connections that are open; new ones are passed on.
  void SilenceOpen() { Command('s'); }
  // Closes all open connections; new ones are passed on.
  void CutAll() { Command('c'); }

 private:
  struct Pair;
  void Command(char what);
  void Work();
  void Accept();
  static bool Pump(int from, int to, std::string* waiting);

  int target_port_;
  int port_ = 0;
  UniqueFd listener_;
  UniqueFd command_read_;
  UniqueFd command_write_;
  std::atomic<int> accepted_{0};
  std::atomic<int> open_{0};
  std::atomic<int> pass_until_;
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace cavalry::e2e
