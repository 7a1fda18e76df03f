// What one worker's sessions had acknowledged: inserted keys as pages of two bits, updated keys by
// operation with their last versions, deleted keys. Written by its worker during the step, read by
// the audit afterwards. Bounded: acknowledged writes to keys beyond kMaxLedgerKeys and
// kMaxLedgerPages are counted as unaudited.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/outcome.h"

namespace cavalry::load {

inline constexpr std::uint64_t kMaxLedgerKeys = 20'000'000;
inline constexpr std::uint64_t kMaxLedgerPages = 65'536;  // of 1 KiB; 268 million dense keys

enum class InsertState : std::uint8_t { kNone = 0, kAcknowledged = 1, kUnknown = 2, kRefused = 3 };

// What one operation's updates did to a key. Versions are above 0; 0: none.
struct UpdateState {
  std::uint64_t acknowledged = 0;        // of the last acknowledged update
  std::array<std::uint64_t, 2> older{};  // acknowledged before it, newest first
  std::uint64_t unknown = 0;             // of the last update with an open answer
  // When `acknowledged` was entered: rises over all updates of the ledger, so that the last writer
  // of a column that several operations set is known.
  std::uint64_t order = 0;
  bool several_unknown = false;  // there was another open answer before `unknown`
};

// All that was written to one key but its insert.
struct KeyWrites {
  bool deleted = false;         // acknowledged delete
  bool delete_unknown = false;  // delete with an open answer
  // By index of the operation, in order of their last acknowledged update; those without one first.
  std::vector<std::pair<std::uint16_t, UpdateState>> updates;

  bool acknowledged() const;
};

class Ledger {
 public:
  // `tables`: number of tables in the step.
  explicit Ledger(std::size_t tables);

  // `open`: the write may or may not have been done (broken, timeout, or the server said so).
  void RecordInsert(std::size_t table, std::uint64_t key, Outcome outcome, bool open);
  void RecordUpdate(std::size_t table, std::uint64_t key, std::uint16_t operation,
                    std::uint64_t version, Outcome outcome, bool open);
  void RecordDelete(std::size_t table, std::uint64_t key, Outcome outcome, bool open);
  // One insert of `rows` rows whose keys the server gave: `first_key` and those behind it; 0: it
  // did not tell. Only that they are there can be audited, see keys_given.
  void RecordGivenInserts(std::size_t table, std::uint64_t first_key, std::uint32_t rows,
                          Outcome outcome, bool open);
  // Acknowledged writes that cannot be audited: to a key that has several writers, increments.
  void CountUnaudited(std::uint64_t writes = 1) { unaudited_ += writes; }

  // In rising key order.
  void ForEachInsert(std::size_t table,
                     const std::function<void(std::uint64_t, InsertState)>& visit) const;
  void ForEachWrite(std::size_t table,
                    const std::function<void(std::uint64_t, const KeyWrites&)>& visit) const;
  InsertState InsertOf(std::size_t table, std::uint64_t key) const;
  bool Written(std::size_t table, std::uint64_t key) const;
  // The server gave the keys of some inserts into the table: what those rows hold is not known.
  bool keys_given(std::size_t table) const { return tables_[table].keys_given; }
  std::uint64_t unaudited() const { return unaudited_; }
  // Rows of inserts with an open answer whose keys the server would have given.
  std::uint64_t unknown_without_key() const { return unknown_without_key_; }
  std::uint64_t keys() const { return keys_; }

 private:
  static constexpr std::uint64_t kPageKeys = 4096;
  using Page = std::array<std::uint64_t, kPageKeys / 32>;
  enum DeleteBits : std::uint8_t { kDeleted = 1, kDeleteUnknown = 2 };
  struct OperationUpdates {
    std::uint16_t operation = 0;
    absl::flat_hash_map<std::uint64_t, UpdateState> keys;
  };
  struct Table {
    bool keys_given = false;
    std::map<std::uint64_t, std::unique_ptr<Page>> pages;  // by key / kPageKeys
    std::uint64_t last_page_number = ~std::uint64_t{0};
    Page* last_page = nullptr;
    std::vector<OperationUpdates> updates;  // few: searched one by one
    absl::flat_hash_map<std::uint64_t, std::uint8_t> deletes;
  };
  Page* PageOf(Table* table, std::uint64_t key);
  KeyWrites WritesOf(const Table& table, std::uint64_t key) const;

  std::vector<Table> tables_;
  std::uint64_t pages_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t unaudited_ = 0;
  std::uint64_t unknown_without_key_ = 0;
};

}  // namespace cavalry::load
