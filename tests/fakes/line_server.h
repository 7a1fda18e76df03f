// A stub server for tests: requests and answers are lines, its behaviour is a function. One thread
// serves all connections on a port of the system's choice (or a Unix socket). Stops when destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/clock.h"
#include "core/base/unique_fd.h"

namespace cavalry::fakes {

// What the server does with one request.
struct LineReply {
  std::string text;       // sent as it is, with its line end; empty: no answer at all
  Nanos delay = 0;        // before it
  std::size_t piece = 0;  // bytes per write, with 1 ms between writes; 0: all at once
  bool close = false;     // the connection, after the answer
};

struct LineServerOptions {
  // `connection` counts from 0 in order of arrival; `request` from 0 on its connection.
  std::function<LineReply(std::uint64_t connection, std::uint64_t request, std::string_view line)>
      reply;
  bool accept = true;     // false: connections stay in the listener's queue
  std::string unix_path;  // not empty: listen there
  int backlog = 4096;
};

class LineServer {
 public:
  explicit LineServer(LineServerOptions options);
  ~LineServer();

  std::uint16_t port() const { return port_; }
  std::uint64_t connections() const { return connections_.load(); }
  std::uint64_t requests() const { return requests_.load(); }
  // Most lines that one read of a connection has brought.
  std::uint64_t most_lines_in_a_read() const { return most_lines_.load(); }
  std::uint64_t reads() const { return reads_.load(); }

 private:
  struct Connection;
  struct Pending;
  void Serve();
  void Listen();

  LineServerOptions options_;
  std::uint16_t port_ = 0;
  UniqueFd listener_;
  UniqueFd stop_;  // eventfd
  std::atomic<std::uint64_t> connections_{0};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> most_lines_{0};
  std::atomic<std::uint64_t> reads_{0};
  std::thread thread_;
};

}  // namespace cavalry::fakes
