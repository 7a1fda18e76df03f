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
  bool auto_increment = false;
  std::string default_sql;  // empty: none
  // SQL that the server works out in place of the value of filled and inserted rows; empty: the
  // value. Where a driver cannot send it, the value fits the column all the same.
  std::string server_sql;
};

struct Index {
  std::string name;
  std::vector<std::uint32_t> columns;  // indexes into TableSchema::columns
  bool unique = false;
};

// Immutable during a step.
struct TableSchema {
  std::string name;
  std::vector<Column> columns;
  std::vector<std::uint32_t> key_columns = {0};  // of the primary key, in order; at least one
  // The only key column holds the row's number itself.
  bool key_is_number = true;
  std::vector<Index> indexes;     // beside the primary key
  std::uint64_t rows = 0;         // after fill, numbered 1..rows
  std::string engine;             // of SQL targets; never empty
  std::string charset;            // of SQL targets; empty: utf8mb4
  std::string collation;          // empty: the character set's
  std::string row_format;         // empty: the engine's
  std::string partition_by;       // empty: none
  bool use_as_is = false;         // existing: use
  std::uint64_t schema_hash = 0;  // of all that makes the rows what they are, and seed

  const Column& key_column() const { return columns[key_columns.front()]; }
};

enum class OperationKind : std::uint8_t {
  kRead,
  kMultiRead,
  kScan,
  kInsert,
  kUpdate,
  kDelete,
  kIncrement,
  kNative,
  kBegin,
  kCommit,
  kRollback,
  kResetConnection,
  kChangeUser,
};

// "read", "multi_read", …: the field's name in a spec.
std::string_view OperationKindName(OperationKind kind);
// Insert, update, delete, increment.
bool IsWrite(OperationKind kind);
// Whether the kind works on a table: OperationPlan::table is set.
bool HasTable(OperationKind kind);

enum class Comparison : std::uint8_t {
  kEqual,
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
  kNotEqual
};

// A condition on the rows of a scan.
struct Filter {
  std::uint32_t column = 0;  // index in table->columns
  Comparison comparison = Comparison::kEqual;
  bool is_null = false;    // compares with NULL, by kEqual or kNotEqual
  std::string value;       // as SQL prints it
  bool ends_scan = false;  // the first row that does not fit ends the scan
};

// Where a scan goes.
struct ScanPlan {
  std::string index;                   // name; empty: the primary key
  std::vector<std::uint32_t> columns;  // the index's columns that Operation::key gives values for
  Comparison comparison = Comparison::kGreaterEqual;  // never kNotEqual
  std::uint32_t limit = 100;
  std::uint32_t offset = 0;
  std::vector<Filter> filters;
  std::vector<std::uint64_t> in;  // values that replace the first key value in turn; empty: none
};

// One operation of the spec. Immutable during a step; drivers build statements from it once.
struct OperationPlan {
  std::string name;
  std::uint32_t index = 0;  // position among the step's operations
  OperationKind kind = OperationKind::kRead;
  const TableSchema* table = nullptr;  // null where the kind has none (HasTable)
  // Indexes into table->columns. Reads and scans: what is returned. Insert: what is given. Update:
  // what is set. Increment: the one column. Else empty.
  std::vector<std::uint32_t> columns;
  // Of insert and update, one per column: SQL that the server works out in place of the value,
  // which is then not looked at; empty: the value. The vector itself is empty when no column has
  // one.
  std::vector<std::string> server_values;
  std::uint32_t batch = 1;  // insert: rows a request; multi_read: keys a request
  std::int64_t amount = 1;  // increment
  // Update, increment, delete: `columns` as they were before are returned; of a delete, which has
  // none, all of the row.
  bool returning = false;
  ScanPlan scan;                 // scan
  std::string statement;         // native
  std::uint32_t parameters = 0;  // native: values that Operation::values gives
};

// Takes the rows of a read while its answer is parsed. The fields are valid during the call only.
class RowVisitor {
 public:
  virtual void OnRow(std::span<const Field> fields) = 0;  // in the order of OperationPlan::columns

 protected:
  ~RowVisitor() = default;
};

// The values of an operation's key columns, or one number. Copyable views.
class Key {
 public:
  Key() = default;
  Key(Value number) : one_(number) {}  // NOLINT(google-explicit-constructor): a key is a value
  // `values` must live until the operation is done.
  explicit Key(std::span<const Value> values) : values_(values) {}
  std::span<const Value> values() const {
    return values_.empty() ? std::span<const Value>(&one_, 1) : values_;
  }
  const Value& first() const { return values_.empty() ? one_ : values_.front(); }

 private:
  Value one_;
  std::span<const Value> values_;
};

// One operation to do. All it points to must live until it is done.
struct Operation {
  const OperationPlan* plan = nullptr;
  // Read, update, delete, increment: one value per key column. Multi_read: `batch` keys, row-major.
  // Scan: one value per plan->scan.columns. Else not looked at.
  Key key;
  // Insert: `batch` rows of one value per plan->columns, row-major. Update: one per plan->columns.
  // Native: one per parameter.
  std::span<const Value> values;
  RowVisitor* rows = nullptr;  // may be null: rows are counted only
};

// What became of it. The views are valid until the next call on the same client; both are empty for
// ok and miss, so that those allocate and copy nothing.
struct OpResult {
  Outcome outcome = Outcome::kOk;
  Severity severity = Severity::kNormal;
  bool outcome_unknown =
      false;  // the write may have been done: broken, timeout, or the server said so
  bool reprepared = false;
  // Rejected so that the same may well succeed when it is tried again from the transaction's begin
  // (deadlock, lock wait timeout, record changed meanwhile).
  bool retryable = false;
  std::uint32_t rows = 0;       // rows returned or changed; of a multi_read the keys found
  std::uint64_t insert_id = 0;  // that the server gave to an insert; 0: none
  std::uint64_t bytes = 0;      // payload bytes received
  std::string_view code;        // the server's own code: "1062", "1 121", "2 readonly"
  std::string_view text;        // what it said, or what we say
  std::string_view warning;     // what the server remarked on an answer of any class; mostly empty
};

}  // namespace cavalry::drivers
