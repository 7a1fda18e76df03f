// Runs a HandlerSocket codec against canned answers, cut anywhere, and writes down all that came of
// it. A test describes a conversation once; TalkAtEveryCut() holds it whole and in pieces and
// demands the same transcript each time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/core/codec.h"
#include "drivers/core/operation.h"
#include "drivers/handlersocket/handlersocket_factory.h"

namespace cavalry::drivers::handlersocket {

// A table `customer` with the operations find (C_CUSTKEY, C_NAME, C_ADDRESS), add, change (C_NAME,
// C_ADDRESS), drop and get (V), each also reachable by its index.
class SamplePlans {
 public:
  enum Index : std::uint32_t { kFind, kAdd, kChange, kDrop, kGet };

  SamplePlans();
  SamplePlans(const SamplePlans&) = delete;
  SamplePlans& operator=(const SamplePlans&) = delete;

  const std::vector<OperationPlan>& all() const { return plans_; }
  std::vector<OperationPlan>& all() { return plans_; }
  TableSchema& table() { return table_; }

 private:
  TableSchema table_;
  std::vector<OperationPlan> plans_;
};

Column MakeColumn(std::string name, std::string_view type, bool nullable = false);

// One operation of a conversation.
struct Ask {
  std::uint32_t plan = SamplePlans::kFind;  // index
  Value key;
  std::vector<Value> values;
  std::vector<Value> keys;  // instead of `key`, if not empty
  bool visit = true;        // whether its rows are looked at
};

using Row = std::vector<std::optional<std::string>>;

// An operation that ended.
struct Done {
  Ticket ticket = 0;
  Outcome outcome = Outcome::kOk;
  Severity severity = Severity::kNormal;
  bool outcome_unknown = false;
  bool retryable = false;
  std::uint32_t rows = 0;
  std::uint64_t insert_id = 0;
  std::uint64_t bytes = 0;
  std::string code;
  std::string text;
  std::vector<Row> visited;

  bool operator==(const Done&) const = default;
};

// Collects rows and results.
class Collector final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override;
  void OnDone(Ticket ticket, const OpResult& result) override;

  std::vector<Done> done;

 private:
  std::vector<Row> visited_;
};

struct Conversation {
  Port port = Port::kRead;
  const std::vector<OperationPlan>* plans = nullptr;  // null: the sample plans
  std::string secret;
  std::string greeting;  // the answers to the handshake
  std::vector<Ask> asks;
  std::string answers;
};

struct Transcript {
  std::string handshake;  // what the codec sent first
  std::string requests;   // what it sent for the asks
  std::size_t refused = 0;
  ConnectionState state = ConnectionState::kHandshake;
  std::vector<Done> done;
  Done error;  // when refused != 0 or failed

  bool operator==(const Transcript&) const = default;
};
// So that a failing test shows what differs.
std::ostream& operator<<(std::ostream& out, const Transcript& transcript);

// The bytes in pieces of `fragment_bytes`; the first piece has `first_bytes` more.
struct Cut {
  std::size_t first_bytes = 0;
  std::size_t fragment_bytes = 0;
};
Transcript Talk(const Conversation& conversation, Cut cut);

// Whole; in fragments of 1, 2, 3, 5, 10 and 100 bytes; in two pieces cut at every byte. Reports a
// difference as a test failure and returns the transcript of the whole.
Transcript TalkAtEveryCut(const Conversation& conversation);

// The greeting that accepts everything on `port`, with a secret or without.
std::string Welcome(Port port, bool secret);

// A codec of the sample plans for a test's own use, with its handshake done.
struct ReadyCodec {
  explicit ReadyCodec(Port port);

  SamplePlans plans;
  HandlerSocketFactory factory;
  std::unique_ptr<Codec> codec;
  ByteBuffer out;
};

}  // namespace cavalry::drivers::handlersocket
