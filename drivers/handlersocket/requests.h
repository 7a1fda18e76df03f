// The requests of one endpoint with all that does not change from operation to operation made
// beforehand: what is sent first, and each plan's first and last bytes. Built once per step and
// target by the factory, then only read; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/core/operation.h"
#include "drivers/handlersocket/value_check.h"

namespace cavalry::drivers::handlersocket {

enum class Port : std::uint8_t { kRead, kWrite };

// Where an operation goes. Finds are allowed on the write port too, but are slower there.
inline Port PortOf(OperationKind kind) {
  return kind == OperationKind::kRead ? Port::kRead : Port::kWrite;
}

// A few bytes padded to a fixed size, so that they are copied without a loop.
template <std::size_t kBytes>
struct ShortBytes {
  std::array<char, kBytes> bytes{};
  std::uint32_t size = 0;

  std::string_view view() const { return {bytes.data(), size}; }
};

inline constexpr std::size_t kHeadBytes = 32;
inline constexpr std::size_t kTailBytes = 8;

// One operation's request is `head`, then
//   read, delete  the key, `tail`
//   update        the key, `tail`, TAB and a token per value, LF
//   insert        TAB and a token per value, LF
// All begin with the digit of an index id: never with `Q` or `/`, which shut the server's listener
// down or drop the connection.
struct PlanRequest {
  PlanRequest(const OperationPlan& of, std::uint32_t id);

  const OperationPlan* plan;  // outlives the request
  std::uint32_t index_id;
  OperationKind kind;
  std::uint32_t columns;  // in a row of a read's answer
  ShortBytes<kHeadBytes> head;
  ShortBytes<kTailBytes> tail;
  ColumnRule key;
  std::vector<ColumnRule> values;  // insert, update: one per plan->columns
};

class EndpointRequests {
 public:
  // `secret` empty: none is sent. `plans`: all of the step, in order of their index; they outlive
  // this. REQUIRES: Driver::Check passed, so that the names can be sent.
  EndpointRequests(Port port, std::string label, std::string_view database, std::string_view secret,
                   const std::vector<OperationPlan>& plans);

  Port port() const { return port_; }
  const std::string& label() const { return label_; }
  const std::string& database() const { return database_; }
  bool sends_secret() const { return sends_secret_; }

  // The requests to send first: authentication if there is a secret, then an open_index for each
  // plan of this endpoint. Each is answered by one line, in this order.
  const std::string& handshake() const { return handshake_; }
  std::size_t handshake_answers() const { return opened_.size() + (sends_secret_ ? 1 : 0); }
  // The plan whose open_index the answer is to, or null for the authentication.
  // REQUIRES: answer < handshake_answers().
  const OperationPlan* HandshakePlan(std::size_t answer) const;

  // REQUIRES: a plan of this endpoint.
  const PlanRequest& Find(const OperationPlan& plan) const;
  const PlanRequest& opened(std::uint32_t index_id) const { return opened_[index_id]; }

 private:
  static constexpr std::uint32_t kNotHere = ~std::uint32_t{0};

  const Port port_;
  const std::string label_;
  const std::string database_;
  const bool sends_secret_;
  std::string handshake_;
  // By index id. Ids are dense and count from 0: the server keeps an array as long as the largest.
  std::vector<PlanRequest> opened_;
  std::vector<std::uint32_t> ids_;  // by plan index; kNotHere for plans of the other endpoint
};

}  // namespace cavalry::drivers::handlersocket
