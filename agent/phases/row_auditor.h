// Judges the rows of one table's written keys against what the ledger says of them (design.md
// section 6). Pure: rows are handed in. The audit's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/load/ledger.h"
#include "agent/load/row_generator.h"
#include "agent/run/load_plan.h"
#include "cavalry/v1/results.pb.h"

namespace cavalry::agent {

// A row read back: its fields by column, in bytes of its own.
struct Row {
  bool found = false;
  std::vector<std::string> texts;
  std::vector<bool> nulls;

  drivers::Field At(std::uint32_t column) const { return {nulls[column], texts[column]}; }
};

class RowAuditor {
 public:
  struct Options {
    std::uint32_t table = 0;                   // index among the plan's
    bool filled_by_us = true;                  // its rows follow the rules until they are written
    std::uint32_t list = 10;                   // faults of each kind to name
    const load::RowGenerator* base = nullptr;  // all columns, as filled and inserted
    // Only whether rows are there is looked at: the server gave their keys, and what they hold
    // follows from no number.
    bool presence_only = false;
  };

  // All must outlive it.
  RowAuditor(const run::LoadPlan& plan, const Options& options, v1::AuditResult* result);

  // Judges all that was written to a key by its last state: each key once.
  void Check(std::uint64_t key, load::InsertState insert, const load::KeyWrites& writes,
             const Row& row);

  // Whether the key counts as acknowledged.
  static bool IsAcknowledged(load::InsertState insert, const load::KeyWrites& writes);

 private:
  using Getter = std::uint64_t (v1::AuditResult::*)() const;
  using Setter = void (v1::AuditResult::*)(std::uint64_t);
  using Columns = std::vector<std::uint32_t>;

  // A write that the row is expected to hold, in order of writing.
  struct Write {
    const load::RowGenerator* values = nullptr;
    std::uint64_t version = 0;
    const load::UpdateState* state = nullptr;  // null: filled or inserted
  };
  using Writes = std::vector<Write>;

  void CountUnknown() { result_->set_unknown(result_->unknown() + 1); }
  void Fault(std::string_view kind, std::uint64_t key, Getter get, Setter set);
  void CheckAbsent(std::uint64_t key, const load::KeyWrites& writes, bool acknowledged);
  void CheckPresent(std::uint64_t key, bool inserted, const load::KeyWrites& writes,
                    const Row& row);

  // Whether the columns are as the writes leave them, each by its last writer.
  bool Holds(std::uint64_t key, const Writes& writes, const Columns& columns, const Row& row);
  // Whether they are so with one or all of the open writes done as well.
  bool HoldsUnknown(std::uint64_t key, const Writes& held, const load::KeyWrites& writes,
                    bool inserted, const Row& row);
  // Whether the columns of held[index] are as before that write.
  bool HoldsOlder(std::uint64_t key, const Writes& held, std::size_t index, const Columns& columns,
                  const Row& row);

  // For each column the index of its last writer; kNobody for columns that nothing is known of.
  std::vector<std::size_t> LastWriters(const Writes& writes, bool inserted) const;
  Columns ColumnsOf(const Writes& writes, bool inserted) const;

  const run::LoadPlan& plan_;
  const Options options_;
  const drivers::TableSchema& schema_;
  const std::vector<bool> unknown_values_;  // by column; set by the server or step by step
  v1::AuditResult* result_;
  std::vector<load::RowBuffer> buffers_;         // by write
  std::vector<const drivers::Value*> expected_;  // by column; null: not known
};

}  // namespace cavalry::agent
