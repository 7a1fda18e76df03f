// What one worker's sessions had acknowledged: inserted keys as pages of two bits, updated and
// deleted keys with their last state. Written by its worker during the step, read by the audit
// afterwards. Bounded: writes to keys beyond kMaxLedgerKeys are counted as unaudited.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/outcome.h"

namespace cavalry::load {

inline constexpr std::uint64_t kMaxLedgerKeys = 20'000'000;

enum class InsertState : std::uint8_t { kNone = 0, kAcknowledged = 1, kUnknown = 2, kRefused = 3 };

// Last state of a key that was updated or deleted. Version 0: the row as filled.
struct WriteState {
  std::uint64_t acknowledged = 0;        // version of the last acknowledged update; 0 none
  std::array<std::uint64_t, 2> older{};  // versions acknowledged before it, newest first; 0 none
  std::uint64_t unknown = 0;             // version of the last update with an open answer; 0 none
  std::uint16_t operation = 0;           // of `acknowledged`: index of the operation
  std::uint16_t unknown_operation = 0;   // of `unknown`
  bool deleted = false;                  // acknowledged delete
  bool delete_unknown = false;           // delete with an open answer
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
  // An acknowledged write to a key that has several writers: it cannot be audited.
  void CountUnaudited() { ++unaudited_; }

  // In rising key order.
  void ForEachInsert(std::size_t table,
                     const std::function<void(std::uint64_t, InsertState)>& visit) const;
  void ForEachWrite(std::size_t table,
                    const std::function<void(std::uint64_t, const WriteState&)>& visit) const;
  std::uint64_t unaudited() const { return unaudited_; }
  std::uint64_t keys() const { return keys_; }

 private:
  static constexpr std::uint64_t kPageKeys = 4096;
  using Page = std::array<std::uint64_t, kPageKeys / 32>;
  struct Table {
    std::map<std::uint64_t, std::unique_ptr<Page>> pages;  // by key / kPageKeys
    std::uint64_t last_page_number = ~std::uint64_t{0};
    Page* last_page = nullptr;
    absl::flat_hash_map<std::uint64_t, WriteState> writes;
  };
  WriteState* Write(std::size_t table, std::uint64_t key);

  std::vector<Table> tables_;
  std::uint64_t keys_ = 0;
  std::uint64_t unaudited_ = 0;
};

}  // namespace cavalry::load
