#include "agent/load/ledger.h"

#include <algorithm>

#include "core/base/check.h"

namespace cavalry::load {

Ledger::Ledger(std::size_t tables) : tables_(tables) {}

void Ledger::RecordInsert(std::size_t table_index, std::uint64_t key, Outcome outcome, bool open) {
  Table& table = tables_[table_index];
  const std::uint64_t number = key / kPageKeys;
  if (number != table.last_page_number) {
    auto& page = table.pages[number];
    if (page == nullptr) page = std::make_unique<Page>();
    table.last_page_number = number;
    table.last_page = page.get();
  }
  const InsertState state = outcome == Outcome::kOk ? InsertState::kAcknowledged
                            : open                  ? InsertState::kUnknown
                                                    : InsertState::kRefused;
  std::uint64_t& word = (*table.last_page)[key % kPageKeys / 32];
  const unsigned shift = static_cast<unsigned>(key % 32) * 2;
  word = (word & ~(std::uint64_t{3} << shift)) | (static_cast<std::uint64_t>(state) << shift);
}

WriteState* Ledger::Write(std::size_t table, std::uint64_t key) {
  auto& writes = tables_[table].writes;
  const auto found = writes.find(key);
  if (found != writes.end()) return &found->second;
  if (keys_ >= kMaxLedgerKeys) {
    ++unaudited_;
    return nullptr;
  }
  ++keys_;
  return &writes[key];
}

void Ledger::RecordUpdate(std::size_t table, std::uint64_t key, std::uint16_t operation,
                          std::uint64_t version, Outcome outcome, bool open) {
  if (outcome != Outcome::kOk && !open) return;
  WriteState* const state = Write(table, key);
  if (state == nullptr) return;
  if (open) {
    state->unknown = version;
    state->unknown_operation = operation;
    return;
  }
  state->older = {state->acknowledged, state->older[0]};
  state->acknowledged = version;
  state->operation = operation;
}

void Ledger::RecordDelete(std::size_t table, std::uint64_t key, Outcome outcome, bool open) {
  if (outcome != Outcome::kOk && !open) return;
  WriteState* const state = Write(table, key);
  if (state == nullptr) return;
  (open ? state->delete_unknown : state->deleted) = true;
}

void Ledger::ForEachInsert(std::size_t table,
                           const std::function<void(std::uint64_t, InsertState)>& visit) const {
  for (const auto& [number, page] : tables_[table].pages) {
    for (std::uint64_t i = 0; i < kPageKeys; ++i) {
      const auto state = static_cast<InsertState>(((*page)[i / 32] >> (i % 32 * 2)) & 3);
      if (state != InsertState::kNone) visit(number * kPageKeys + i, state);
    }
  }
}

void Ledger::ForEachWrite(
    std::size_t table, const std::function<void(std::uint64_t, const WriteState&)>& visit) const {
  std::vector<std::uint64_t> keys;
  keys.reserve(tables_[table].writes.size());
  for (const auto& [key, state] : tables_[table].writes) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const std::uint64_t key : keys) visit(key, tables_[table].writes.find(key)->second);
}

}  // namespace cavalry::load
