// A scripted TCP server on a free port of loopback, for tests of clients: it says and does exactly
// what a test wants, cuts answers where it likes, closes, resets or stays silent. Each connection
// runs the script once, on a thread of its own. What a client sends is kept, for the test to look
// at. No call blocks for longer than the server lives: all of them end when it stops.
//
//   StubServer server([](StubConnection& client) {
//     while (client.ReadLine() == "ping\n") client.Write("pong\n");
//     client.Reset();
//   });
//   Connect("127.0.0.1", server.port());
//
// The script runs on several threads at once when several clients connect: what it shares with the
// test needs a lock. Beyond kMaxConnections it refuses clients by closing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/base/unique_fd.h"

namespace cavalry::fakes {

class StubServer;

// The server's side of one connection. For the script's thread only.
class StubConnection {
 public:
  StubConnection(StubServer& server, std::size_t number, UniqueFd fd)
      : server_(server), number_(number), fd_(std::move(fd)) {}

  // Counts connections from 0.
  std::size_t number() const { return number_; }

  // The next line with its LF. Shorter, perhaps empty, when the client closed first or the server
  // is stopping.
  std::string ReadLine();
  // The next `bytes` bytes; fewer as above.
  std::string Read(std::size_t bytes);
  // What has arrived, at least one byte; empty as above.
  std::string ReadSome();
  // Reads until the client closes. False when the server is stopping.
  bool ReadToEnd();
  // False when the client is gone or the server is stopping.
  bool Write(std::string_view bytes);

  // Ends the connection in order, as leaving the script does.
  void Close() { fd_.Reset(); }
  // Ends it with a reset (RST): the client sees ECONNRESET.
  void Reset();

 private:
  bool Fill();  // waits for bytes; false at the end

  StubServer& server_;
  const std::size_t number_;
  UniqueFd fd_;
  std::string unread_;
};

class StubServer {
 public:
  static constexpr std::size_t kMaxConnections = 1024;

  // Listens at once.
  explicit StubServer(std::function<void(StubConnection&)> script);
  StubServer(const StubServer&) = delete;
  StubServer& operator=(const StubServer&) = delete;
  ~StubServer() { Stop(); }

  std::uint16_t port() const { return port_; }

  // Closes the listener and all connections, and waits for the scripts to end. A client that
  // connects afterwards is refused.
  void Stop();

  // Connections accepted so far.
  std::size_t connections() const;
  // All bytes that the scripts have read of a connection so far.
  std::string received(std::size_t connection) const;
  // Waits for so many connections to be accepted, or for so many scripts to have ended.
  bool WaitForConnections(std::size_t count, Nanos timeout) const;
  bool WaitForEnds(std::size_t count, Nanos timeout) const;

 private:
  friend class StubConnection;

  void Accept();
  void Serve(std::size_t number, UniqueFd fd);
  void Keep(std::size_t connection, std::string_view bytes);
  // Waits for `events` on a descriptor; false when the server is stopping.
  bool Wait(int fd, short events) const;

  const std::function<void(StubConnection&)> script_;
  UniqueFd listener_;
  UniqueFd stop_;  // an eventfd, readable when stopping
  std::uint16_t port_ = 0;

  mutable absl::Mutex mutex_;
  std::vector<std::string> received_ ABSL_GUARDED_BY(mutex_);
  std::size_t ended_ ABSL_GUARDED_BY(mutex_) = 0;

  std::list<std::thread> scripts_;  // the accepting thread's until that has ended
  std::thread accepting_;
};

}  // namespace cavalry::fakes
