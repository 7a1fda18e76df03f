// The gRPC server that agents dial: one bidirectional stream each. Its threads only move messages:
// what arrives is put into one queue that the coordinator's single thread takes from, what is sent
// waits in a bounded queue per stream with one write outstanding. Nothing here blocks on an agent.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/control_link.h"
#include "core/base/status.h"

namespace cavalry::coordinator {

// Both sides: the largest message either accepts.
inline constexpr int kMaxMessageBytes = 64 * 1024 * 1024;
// Events of one stream that wait for the coordinator; then the stream is not read until it catches
// up.
inline constexpr std::size_t kMaxEventsPerStream = 64;
// Messages that wait for one agent; then its stream is closed, since it reads nothing.
inline constexpr std::size_t kMaxOutgoing = 1024;
// Streams at the same time; more are turned away.
inline constexpr std::size_t kMaxStreams = 4096;

class ControlService final : public ControlLink {
 public:
  // Listens on "host:port"; port 0 picks a free one. The error says who may hold the port and what
  // to do.
  static StatusOr<std::unique_ptr<ControlService>> Start(const std::string& address);
  // Cancels what is open and waits until it is gone (seconds at most).
  ~ControlService() override;

  int port() const;
  // Readable while events wait.
  int event_fd() const;
  // Every event so far, in order of arrival per stream.
  std::vector<ControlEvent> TakeEvents();

  void Send(StreamId stream, const v1::ToAgent& message) override;
  void Close(StreamId stream, bool after_writing) override;

 private:
  class Stream;
  class Service;
  struct Shared;
  struct Server;
  ControlService();

  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Server> server_;
};

}  // namespace cavalry::coordinator
