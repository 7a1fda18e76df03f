// An operation of the spec as CQL: planned once per step, read by all codecs. Immutable; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::cassandra {

// CQL native protocol v5, section 3, [consistency].
enum class Consistency : std::uint16_t {
  kAny = 0,
  kOne = 1,
  kTwo = 2,
  kThree = 3,
  kQuorum = 4,
  kAll = 5,
  kLocalQuorum = 6,
  kEachQuorum = 7,
  kSerial = 8,
  kLocalSerial = 9,
  kLocalOne = 10,
};

// How a column's values are written: the CQL type that a ColumnType is created as.
enum class CqlType : std::uint8_t {
  kTinyint,
  kSmallint,
  kInt,
  kBigint,
  kVarint,  // bigint unsigned, which no CQL integer of fixed size holds
  kBoolean,
  kFloat,
  kDouble,
  kDecimal,
  kText,
  kBlob,
  kDate,
  kTime,
  kTimestamp,
};

// One `?` of a statement, in order.
struct Parameter {
  enum class Source : std::uint8_t {
    kKey,    // Operation::key.values()[index]
    kValue,  // Operation::values[index]
    kFixed,  // `fixed`, the same each time; PlanStatement makes none
  };
  Source source = Source::kKey;
  std::uint32_t index = 0;
  CqlType type = CqlType::kBigint;
  std::string fixed;  // as it goes on the wire, without its length
};

struct StatementPlan {
  const OperationPlan* operation = nullptr;
  // Names qualified by the keyspace, a `?` per parameter. Of a batch (insert, batch > 1): the
  // statement of one row.
  std::string cql;
  // Of a batch: of the first row; row r adds r * columns. Of a native statement the types are not
  // known: what the server says when it prepares the statement goes before them.
  std::vector<Parameter> parameters;
  bool is_batch = false;     // operation->batch rows in one BATCH
  bool logged = false;       // of a batch
  bool reads = false;        // answers rows that the operation counts and visits
  bool conditional = false;  // answers rows whose first column is [applied]
  // What each column of the answer is shown as, in order; SQL's forms: see value_format.h. Empty:
  // taken from the answer's own metadata (native).
  std::vector<Column> columns;
  Consistency consistency = Consistency::kLocalOne;
  Consistency serial = Consistency::kSerial;
  // Where the partition key's parts are among the parameters, in its order; empty: no routing.
  std::vector<std::uint32_t> routing;
};

// How statements are sent, of the target's settings; defaults as in
// proto/cavalry/v1/workload.proto.
struct StatementOptions {
  std::string keyspace;
  Consistency read = Consistency::kLocalOne;
  Consistency write = Consistency::kLocalOne;
  Consistency serial = Consistency::kSerial;
  bool prepared = true;
  bool conditional = false;
  bool logged_batches = false;
  std::uint32_t page_size = 5000;

  static StatementOptions FromSettings(const Settings& settings);
};

// REQUIRES: CheckOperation passed.
StatementPlan PlanStatement(const StatementOptions& options, const OperationPlan& operation);

// What this back-end cannot do, in a sentence that names the operation and what to change.
Status CheckOperation(const StatementOptions& options, const OperationPlan& operation);

// The CQL type that a column of this type is created as: "bigint", "decimal", "blob".
CqlType CqlTypeOf(const ColumnType& type);
std::string_view CqlTypeName(CqlType type);

// Appends the statement with the values in place of each `?` (statements: text); a text's quotes
// doubled, blobs in hex. Of a batch: BEGIN … APPLY BATCH with all rows, as one statement. False: a
// value that cannot be written; nothing was appended.
bool AppendText(const StatementPlan& plan, const Operation& operation, ByteBuffer& out);

}  // namespace cavalry::drivers::cassandra
