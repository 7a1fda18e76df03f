// What a session asks of a driver: an operation, planned once per step and issued many times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/column_type.h"
#include "core/base/outcome.h"
#include "drivers/core/value.h"

namespace cavalry::drivers {

struct Column {
  std::string name;
  ColumnType type;
  bool nullable = false;
};

// Immutable during a step.
struct TableSchema {
  std::string name;
  std::vector<Column> columns;
  std::uint32_t key_column = 0;   // index in columns; an integer type
  std::uint64_t rows = 0;         // after fill, keys 1..rows
  std::string engine;             // of SQL targets; never empty
  bool use_as_is = false;         // existing: use
  std::uint64_t schema_hash = 0;  // of columns, key, engine, value rules and seed
};

enum class OperationKind : std::uint8_t { kRead, kInsert, kUpdate, kDelete };

// "read", "insert", "update", "delete".
std::string_view OperationKindName(OperationKind kind);

// One operation of the spec. Immutable during a step; drivers build statements from it once.
struct OperationPlan {
  std::string name;
  std::uint32_t index = 0;  // position among the step's operations
  OperationKind kind = OperationKind::kRead;
  const TableSchema* table = nullptr;
  // Indexes into table->columns. Read: what is returned. Insert: all columns, in order. Update:
  // what is set. Delete: empty.
  std::vector<std::uint32_t> columns;
};

// Takes the rows of a read while its answer is parsed. The fields are valid during the call only.
class RowVisitor {
 public:
  virtual void OnRow(std::span<const Field> fields) = 0;  // in the order of OperationPlan::columns

 protected:
  ~RowVisitor() = default;
};

// One operation to do. All it points to must live until it is done.
struct Operation {
  const OperationPlan* plan = nullptr;
  Value key;                      // read, update, delete; for insert the key is among values
  std::span<const Value> values;  // insert, update: one per plan->columns
  RowVisitor* rows = nullptr;     // may be null: rows are counted only
};

// What became of it. The views are valid until the next call on the same client; both are empty for
// ok and miss, so that those allocate and copy nothing.
struct OpResult {
  Outcome outcome = Outcome::kOk;
  Severity severity = Severity::kNormal;
  bool outcome_unknown =
      false;  // the write may have been done: broken, timeout, or the server said so
  bool reprepared = false;
  std::uint32_t rows = 0;   // rows returned or changed
  std::uint64_t bytes = 0;  // payload bytes received
  std::string_view code;    // the server's own code: "1062", "1 121", "2 readonly"
  std::string_view text;    // what it said, or what we say
};

}  // namespace cavalry::drivers
