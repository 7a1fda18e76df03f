// Schema work on a target that owns tables: reset, prepare, fill, audit, cleanup. Blocking; one
// connection; one thread at a time. Never part of the load. Nothing that cavalry did not create is
// emptied or dropped: the mark in a table's comment decides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers {

// What is known of a table. `filled`: marked, same schema hash, rows as wanted (by count), not
// written to since its fill.
struct TableInfo {
  bool exists = false;
  bool marked = false;
  bool same_schema = false;  // marked with the same schema hash
  bool filled = false;
  // Exact; of a table that is neither marked nor used as it is, the server's estimate.
  std::uint64_t rows = 0;
  std::uint64_t max_key = 0;
};

enum class TableMark { kEmpty, kFilled, kUsed };

class Admin {
 public:
  virtual ~Admin() = default;

  // Fails with the server's own code and text, and what to do.
  virtual Status Connect() = 0;
  // Version and settings that a reader of the report wants.
  virtual StatusOr<std::vector<std::pair<std::string, std::string>>> ServerVariables() = 0;
  // Limits that would end a run with so many sessions, each with so many different operations, the
  // largest request of which has so many bytes (0: not known): sentences, each naming the variable
  // to raise.
  virtual StatusOr<std::vector<std::string>> Limits(std::uint64_t sessions,
                                                    std::uint64_t operations = 1,
                                                    std::uint64_t request_bytes = 0) = 0;
  // `count` false: only what needs no look at the rows; those are then an estimate, and `filled`
  // and `max_key` are not told.
  virtual StatusOr<TableInfo> Describe(const TableSchema& table, bool count = true) = 0;
  // Creates the table with its mark (kEmpty). REQUIRES: it does not exist.
  virtual Status Create(const TableSchema& table) = 0;
  // Mark to InsertRows look at the mark themselves right before, and refuse a table without one.
  // DDL waits for locks a few seconds only; an error then names who holds the lock.
  virtual Status Mark(const TableSchema& table, TableMark mark) = 0;
  // Empties the table, which is then marked kEmpty.
  virtual Status Truncate(const TableSchema& table) = 0;
  // With `allow_unmarked` (the user has named the table) also one that has no mark.
  virtual Status Drop(const TableSchema& table, bool allow_unmarked = false) = 0;
  // Writes rows in batches: row-major values, a multiple of the table's columns. A batch is
  // committed on its own.
  virtual Status InsertRows(const TableSchema& table, std::span<const Value> values) = 0;
  // Reads the given keys (any order) with the given columns; `visit` gets key and fields of each
  // row found.
  virtual Status ReadRows(
      const TableSchema& table, std::span<const std::uint64_t> keys,
      std::span<const std::uint32_t> columns,
      const std::function<void(std::uint64_t, std::span<const Field>)>& visit) = 0;
  // The same for one row by the values of its key columns: for tables whose key is no number. Gives
  // whether it was found.
  virtual StatusOr<bool> ReadRow(const TableSchema& table, std::span<const Value> key,
                                 std::span<const std::uint32_t> columns,
                                 const std::function<void(std::span<const Field>)>& visit) = 0;
  // Runs a statement in the server's own language, reads all its rows and drops them; their number.
  virtual StatusOr<std::uint64_t> RunNative(std::string_view statement) = 0;
  // Counters since the server's start that a reader of the report wants as differences over a step:
  // pages read from disk, flushes, bytes sent, ….
  virtual StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> Counters() = 0;
  // Columns and types that the table really has fit the schema (existing: use).
  virtual Status CheckColumns(const TableSchema& table) = 0;
  // A secret that another driver needs: LookUpSecret("handlersocket", "secret").
  virtual StatusOr<std::string> LookUpSecret(std::string_view driver, std::string_view setting) = 0;
};

}  // namespace cavalry::drivers
