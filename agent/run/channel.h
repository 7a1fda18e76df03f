// A connection of the codec model: a socket, a codec and its tickets in flight. The requests of one
// turn of the loop go out in one send. When an operation's deadline passes and the codec cannot
// drop its answer, which could still come, the connection is given up: that operation is a
// time-out, the others in flight are broken.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "agent/run/connection.h"
#include "agent/run/loop.h"
#include "core/base/unique_fd.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/codec.h"

namespace cavalry::run {

class Channel final : public Connection,
                      private StreamHandler,
                      private WatchHandler,
                      private drivers::CompletionSink {
 public:
  // Whose numbers name operations in flight: those of the session's slots, or, when sessions share
  // the channel, its own.
  enum class Tickets : std::uint8_t { kOfSlots, kOwn };

  // `count`: slots that use it, at most one operation each.
  Channel(WorkerContext* context, ConnectionOwner* owner, const drivers::CodecFactory& factory,
          std::size_t endpoint, Tickets tickets, std::uint32_t count);

  void Execute(SessionSlot* slot) override;
  void Flush() override;

 private:
  enum class Socket : std::uint8_t { kNone, kConnecting, kOpen };

  // Connection
  void Open() override;
  void Drop() override;
  void OnConnectTimer(Nanos now) override;
  void OnReadyTimer(Nanos now) override;
  // WatchHandler: the socket is connected, or is not.
  void OnEvents(short events) override;
  // StreamHandler
  void OnReceived(std::string_view bytes) override;
  void OnSent() override;
  void OnLost(int error, std::size_t unsent) override;
  // CompletionSink
  void OnDone(drivers::Ticket ticket, const drivers::OpResult& result) override;

  void Connect();
  // The address that was tried refused: the next one is, if there is another.
  void ConnectElsewhere(int error);
  void OnConnected(UniqueFd socket);
  void Trace(std::string_view received);
  drivers::Ticket TicketFor(const SessionSlot& slot);
  // Takes the operation out of flight.
  SessionSlot* Release(drivers::Ticket ticket);
  // Ends operations whose deadline has passed; true: the connection must be given up.
  bool EndExpired(Nanos now);
  // All operations in flight end: not_sent those of which no byte can have left, the others as
  // `result` says.
  void EndInFlight(const drivers::OpResult& result, std::uint64_t written);

  const drivers::CodecFactory& factory_;
  const std::size_t endpoint_;
  const Tickets tickets_;
  const std::uint32_t node_;  // for the figures by node
  std::unique_ptr<drivers::Codec> codec_;
  Socket socket_ = Socket::kNone;
  UniqueFd connecting_;
  Loop::WatchId watch_ = 0;
  Loop::StreamId stream_ = 0;
  Nanos backlog_wait_ = 0;
  std::size_t address_ = 0;              // of the endpoint's, in turn: that which answered last
  std::size_t addresses_tried_ = 0;      // in this attempt
  drivers::ByteBuffer out_;              // encoded in this turn
  bool sending_ = false;                 // a send is to be confirmed
  bool unflushed_ = false;               // is in the worker's list
  bool tracing_ = false;                 // what is received may belong to a traced operation
  bool given_up_ = false;                // an answer asked for another connection
  std::uint64_t handed_over_ = 0;        // bytes given to the loop
  std::vector<SessionSlot*> in_flight_;  // by ticket; null: free
  std::vector<drivers::Ticket> free_tickets_;  // with Tickets::kOwn
};

}  // namespace cavalry::run
