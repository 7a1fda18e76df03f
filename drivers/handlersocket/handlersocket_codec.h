// One HandlerSocket connection as a sans-I/O state machine (drivers/core/codec.h): authentication
// and open_index first, then pipelined requests, answered in order. An operation of several lines
// (a batch) ends with the answer to its last one. One thread; `requests` must outlive it. After
// warm-up neither Encode nor Feed allocates, but for the text of a refused value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/core/codec.h"
#include "drivers/handlersocket/requests.h"

namespace cavalry::drivers::handlersocket {

// Bounds of what is sent and not yet answered. The server buffers answers without limit, so the
// client has to hold back. Beyond the bytes goes at most one request.
inline constexpr std::size_t kMaxInFlight = 4096;
inline constexpr std::size_t kMaxBytesInFlight = std::size_t{1024} * 1024;
// An answer's line, which holds all rows of a scan.
inline constexpr std::size_t kMaxLineBytes = std::size_t{64} * 1024 * 1024;

// Codes of a false Encode.
inline constexpr std::string_view kCodeValue = "value";           // a column cannot hold a value
inline constexpr std::string_view kCodeQueueFull = "queue_full";  // a bound above
// Code of an answer that is not HandlerSocket's.
inline constexpr std::string_view kCodeProtocol = "protocol";

// What is needed of an operation to read its answer.
struct Pending {
  RowVisitor* rows = nullptr;
  std::uint32_t request = 0;  // its number
  Ticket ticket = 0;
  std::size_t bytes = 0;  // of its request
};

// First in, first out; grows to kMaxInFlight, so that ten thousand idle connections cost little.
class PendingQueue {
 public:
  std::size_t size() const { return size_; }
  bool full() const { return size_ == kMaxInFlight; }
  // REQUIRES: not full().
  void Push(const Pending& pending) {
    if (size_ == capacity_) Grow();
    ring_[(first_ + size_++) & (capacity_ - 1)] = pending;
  }
  // REQUIRES: not empty.
  const Pending& front() const { return ring_[first_]; }
  void Pop() {
    first_ = (first_ + 1) & (capacity_ - 1);
    --size_;
  }

 private:
  void Grow();

  std::unique_ptr<Pending[]> ring_;
  std::size_t capacity_ = 0;  // zero or a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

class HandlerSocketCodec final : public Codec {
 public:
  explicit HandlerSocketCodec(const EndpointRequests& requests) : requests_(requests) {}
  HandlerSocketCodec(const HandlerSocketCodec&) = delete;
  HandlerSocketCodec& operator=(const HandlerSocketCodec&) = delete;

  ConnectionState Start(ByteBuffer& out) override;
  bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) override;
  // The sink may call Encode, but neither Feed nor the destructor.
  ConnectionState Feed(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) override;
  const OpResult& error() const override { return error_; }

 private:
  // An answer's code and number of columns, and what follows.
  struct Answer {
    std::uint32_t code = 0;
    std::uint32_t columns = 0;
    bool has_tokens = false;
    std::string_view tokens;  // behind the TAB that follows the columns
  };

  static bool ParseAnswer(std::string_view line, Answer& answer);

  // Append parts of a request; false after RefuseValue or at the buffer's bound.
  bool AppendShortKey(const PlanRequest& request, const Value& key, ByteBuffer& out);
  bool AppendLines(const PlanRequest& request, const Operation& operation, ByteBuffer& out);
  bool AppendKey(const PlanRequest& request, std::span<const Value> parts, ByteBuffer& out);
  bool AppendValues(const PlanRequest& request, std::span<const Value> values, ByteBuffer& out);
  bool AppendValue(const ColumnRule& rule, const Value& value, ByteBuffer& out);
  bool RefuseValue(ValueFault fault, const ColumnRule& rule, const Value& value);
  bool RefuseFull();

  // Each takes one whole line; false when the connection is of no further use (error_ is set).
  bool TakeLine(std::string_view line, CompletionSink& sink);
  bool TakeHandshakeAnswer(std::string_view line, const Answer& answer);
  bool TakeRows(std::string_view line, const Answer& answer, const PlanRequest& request,
                RowVisitor* rows, OpResult& result);
  bool VisitRows(std::string_view line, const Answer& answer, RowVisitor& rows, OpResult& result);
  bool CountTokens(const Answer& answer, std::size_t& count) const;
  bool TakeCount(std::string_view line, const Answer& answer, OpResult& result);
  bool TakeInserted(std::string_view line, const Answer& answer, OpResult& result);
  // Adds a line's result to its batch's. True when that was the last line; then `result` is the
  // whole batch's.
  bool AddToBatch(const PlanRequest& request, OpResult& result);

  // Fills in what an answer with a code other than 0 says.
  void Reject(const Answer& answer, const PlanRequest& request, OpResult& result);
  std::string DescribeRequestError(std::string_view word) const;
  std::string DescribeSecretError() const;
  std::string DescribeOpenError(const Answer& answer, std::string_view word,
                                const OperationPlan& plan) const;
  std::string_view WriteCode(std::uint32_t code, std::string_view word);
  // Always false: the peer broke the protocol.
  bool Break(std::string_view what, std::string_view line);

  const EndpointRequests& requests_;
  ConnectionState state_ = ConnectionState::kHandshake;
  std::size_t handshake_answers_ = 0;  // taken so far
  PendingQueue pending_;
  std::size_t bytes_in_flight_ = 0;
  std::uint32_t batch_lines_ = 0;  // answered lines of the front operation, if it has several
  OpResult batch_;                 // what they came to
  std::string batch_code_;         // of its first refused line, or the first fatal one
  std::string batch_text_;
  ByteBuffer partial_;         // the line that has not ended yet
  ByteBuffer unescaped_;       // values of the line being visited
  std::vector<Field> fields_;  // of the row being visited
  std::array<char, 64> code_{};
  std::string text_;
  OpResult error_;
};

}  // namespace cavalry::drivers::handlersocket
