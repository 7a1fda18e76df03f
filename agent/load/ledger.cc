#include "agent/load/ledger.h"

#include <algorithm>

namespace cavalry::load {
namespace {

constexpr std::uint64_t kKeysPerWord = 32;

unsigned ShiftOf(std::uint64_t key) { return static_cast<unsigned>(key % kKeysPerWord) * 2; }

// The entry of `key`, or null when it has none and the ledger is full.
template <typename Map>
typename Map::mapped_type* FindOrAdd(Map* map, std::uint64_t key, std::uint64_t* keys) {
  const auto found = map->find(key);
  if (found != map->end()) return &found->second;
  if (*keys >= kMaxLedgerKeys) return nullptr;
  ++*keys;
  return &(*map)[key];
}

}  // namespace

bool KeyWrites::acknowledged() const {
  return deleted || std::any_of(updates.begin(), updates.end(),
                                [](const auto& update) { return update.second.acknowledged != 0; });
}

Ledger::Ledger(std::size_t tables) : tables_(tables) {}

Ledger::Page* Ledger::PageOf(Table* table, std::uint64_t key) {
  const std::uint64_t number = key / kPageKeys;
  if (number == table->last_page_number) return table->last_page;
  auto found = table->pages.find(number);
  if (found == table->pages.end()) {
    if (pages_ >= kMaxLedgerPages) return nullptr;
    ++pages_;
    found = table->pages.emplace(number, std::make_unique<Page>()).first;
  }
  table->last_page_number = number;
  table->last_page = found->second.get();
  return table->last_page;
}

void Ledger::RecordInsert(std::size_t table, std::uint64_t key, Outcome outcome, bool open) {
  Page* const page = PageOf(&tables_[table], key);
  if (page == nullptr) {
    if (outcome == Outcome::kOk) ++unaudited_;
    return;
  }
  const InsertState state = outcome == Outcome::kOk ? InsertState::kAcknowledged
                            : open                  ? InsertState::kUnknown
                                                    : InsertState::kRefused;
  std::uint64_t& word = (*page)[key % kPageKeys / kKeysPerWord];
  const unsigned shift = ShiftOf(key);
  word = (word & ~(std::uint64_t{3} << shift)) | (static_cast<std::uint64_t>(state) << shift);
}

void Ledger::RecordGivenInserts(std::size_t table, std::uint64_t first_key, std::uint32_t rows,
                                Outcome outcome, bool open) {
  if (open) unknown_without_key_ += rows;
  if (outcome != Outcome::kOk) return;
  if (first_key == 0) {
    unaudited_ += rows;
    return;
  }
  tables_[table].keys_given = true;
  for (std::uint32_t i = 0; i < rows; ++i) RecordInsert(table, first_key + i, outcome, false);
}

void Ledger::RecordUpdate(std::size_t table, std::uint64_t key, std::uint16_t operation,
                          std::uint64_t version, Outcome outcome, bool open) {
  if (outcome != Outcome::kOk && !open) return;
  auto& updates = tables_[table].updates;
  auto found = std::find_if(updates.begin(), updates.end(), [&](const OperationUpdates& entry) {
    return entry.operation == operation;
  });
  if (found == updates.end()) {
    updates.push_back({operation, {}});
    found = updates.end() - 1;
  }
  UpdateState* const state = FindOrAdd(&found->keys, key, &keys_);
  if (state == nullptr) {
    if (!open) ++unaudited_;
    return;
  }
  if (open) {
    // An open write stays open for good: the server may do it after a later one was acknowledged.
    state->several_unknown = state->unknown != 0;
    state->unknown = version;
    return;
  }
  state->older = {state->acknowledged, state->older[0]};
  state->acknowledged = version;
  state->order = ++order_;
}

void Ledger::RecordDelete(std::size_t table, std::uint64_t key, Outcome outcome, bool open) {
  if (outcome != Outcome::kOk && !open) return;
  std::uint8_t* const state = FindOrAdd(&tables_[table].deletes, key, &keys_);
  if (state == nullptr) {
    if (!open) ++unaudited_;
    return;
  }
  *state = static_cast<std::uint8_t>(*state | (open ? kDeleteUnknown : kDeleted));
}

void Ledger::ForEachInsert(std::size_t table,
                           const std::function<void(std::uint64_t, InsertState)>& visit) const {
  for (const auto& [number, page] : tables_[table].pages) {
    for (std::uint64_t i = 0; i < kPageKeys; ++i) {
      const auto state = static_cast<InsertState>(((*page)[i / kKeysPerWord] >> ShiftOf(i)) & 3);
      if (state != InsertState::kNone) visit(number * kPageKeys + i, state);
    }
  }
}

InsertState Ledger::InsertOf(std::size_t table, std::uint64_t key) const {
  const auto found = tables_[table].pages.find(key / kPageKeys);
  if (found == tables_[table].pages.end()) return InsertState::kNone;
  const std::uint64_t word = (*found->second)[key % kPageKeys / kKeysPerWord];
  return static_cast<InsertState>((word >> ShiftOf(key)) & 3);
}

bool Ledger::Written(std::size_t table, std::uint64_t key) const {
  const Table& of = tables_[table];
  return of.deletes.contains(key) ||
         std::any_of(of.updates.begin(), of.updates.end(),
                     [&](const OperationUpdates& entry) { return entry.keys.contains(key); });
}

KeyWrites Ledger::WritesOf(const Table& table, std::uint64_t key) const {
  KeyWrites writes;
  if (const auto found = table.deletes.find(key); found != table.deletes.end()) {
    writes.deleted = (found->second & kDeleted) != 0;
    writes.delete_unknown = (found->second & kDeleteUnknown) != 0;
  }
  for (const OperationUpdates& entry : table.updates) {
    const auto found = entry.keys.find(key);
    if (found != entry.keys.end()) writes.updates.emplace_back(entry.operation, found->second);
  }
  std::sort(writes.updates.begin(), writes.updates.end(),
            [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
  return writes;
}

void Ledger::ForEachWrite(std::size_t table_index,
                          const std::function<void(std::uint64_t, const KeyWrites&)>& visit) const {
  const Table& table = tables_[table_index];
  std::vector<std::uint64_t> keys;
  for (const OperationUpdates& entry : table.updates) {
    for (const auto& [key, state] : entry.keys) keys.push_back(key);
  }
  for (const auto& [key, state] : table.deletes) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::uint64_t key : keys) visit(key, WritesOf(table, key));
}

}  // namespace cavalry::load
