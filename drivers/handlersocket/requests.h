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
inline Port PortOf(OperationKind kind) { return IsWrite(kind) ? Port::kWrite : Port::kRead; }

// The columns that a plan's open_index names: those it returns or sets. A delete names none: it
// returns all of the row, or needs only that the index is not opened without any.
std::vector<std::uint32_t> OpenColumns(const OperationPlan& plan);

// A few bytes padded to a fixed size, so that they are copied without a loop.
template <std::size_t kBytes>
struct ShortBytes {
  std::array<char, kBytes> bytes{};
  std::uint32_t size = 0;
};

inline constexpr std::size_t kHeadBytes = 32;
inline constexpr std::size_t kTailBytes = 8;

// What stands in the answers to an operation.
enum class AnswerForm : std::uint8_t {
  kRows,      // rows of PlanRequest::columns values
  kCount,     // the number of changed rows
  kInserted,  // nothing, or the id that the server gave to the row
};

// One operation's request: `lines` lines, each of them `head`, then
//   keys    the key parts, parted by TAB, and `tail`, if there are rules for keys
//   values  TAB and a token per value, and LF, if there are rules for values
// So each kind has its form:
//   read, scan, delete, increment          keys
//   update                                 keys, values
//   insert                                 values; a line per row
//   multi_read, key of one column          values, which are the keys: the list of an IN
//   multi_read, key of several columns     keys; a line per key, for IN replaces one part only
// All lines begin with the digit of an index id: never with `Q` or `/`, which shut the server's
// listener down or drop the connection.
struct PlanRequest {
  PlanRequest(const OperationPlan& of, std::uint32_t index_id);

  const OperationPlan* plan;  // outlives the request
  OperationKind kind;
  AnswerForm answer;
  // Keys are one integer column, and tail fits short_tail: the bytes are there in both forms.
  bool is_short = false;
  bool values_are_keys = false;
  std::uint32_t lines = 1;
  std::uint32_t columns;  // in a row of an answer
  ShortBytes<kHeadBytes> short_head;
  ShortBytes<kTailBytes> short_tail;
  std::vector<ColumnRule> keys;    // one per key part
  std::vector<ColumnRule> values;  // one per value of a line
  std::string head;
  std::string tail;
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
  // (index, columns, filter columns) that plans of this endpoint need. Each is answered by one
  // line, in this order.
  const std::string& handshake() const { return handshake_; }
  std::size_t handshake_answers() const { return opened_.size() + (sends_secret_ ? 1 : 0); }
  // The first plan that needs the index whose open_index the answer is to, or null for the
  // authentication. REQUIRES: answer < handshake_answers().
  const OperationPlan* HandshakePlan(std::size_t answer) const;

  // The number of a plan's request. REQUIRES: a plan of this endpoint.
  std::uint32_t Find(const OperationPlan& plan) const;
  const PlanRequest& request(std::uint32_t number) const { return requests_[number]; }

 private:
  static constexpr std::uint32_t kNotHere = ~std::uint32_t{0};

  struct OpenIndex {
    std::string what;           // database, table, index and columns, as open_index has them
    const OperationPlan* plan;  // the first that needs it
  };

  // The id of the index that the plan needs; opens it if there is none yet.
  std::uint32_t Open(const OperationPlan& plan);

  const Port port_;
  const std::string label_;
  const std::string database_;
  const bool sends_secret_;
  std::string handshake_;
  // By index id. Ids are dense and count from 0: the server keeps an array as long as the largest.
  std::vector<OpenIndex> opened_;
  std::vector<PlanRequest> requests_;
  std::vector<std::uint32_t> numbers_;  // by plan index; kNotHere for plans of the other endpoint
};

}  // namespace cavalry::drivers::handlersocket
