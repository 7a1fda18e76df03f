#include "core/stats/operation_counters.h"

#include <numeric>

namespace cavalry::stats {

std::uint64_t OperationCounters::ended() const {
  return std::accumulate(by_outcome.begin(), by_outcome.end(), std::uint64_t{0});
}

std::uint64_t OperationCounters::failed() const {
  return ended() - (*this)[Outcome::kOk] - (*this)[Outcome::kMiss] - (*this)[Outcome::kSent];
}

void OperationCounters::Add(const OperationCounters& other) {
  attempted += other.attempted;
  for (std::size_t i = 0; i < kOutcomeCount; ++i) by_outcome[i] += other.by_outcome[i];
  rows += other.rows;
  bytes += other.bytes;
  wrong_answers += other.wrong_answers;
  keys_asked += other.keys_asked;
  keys_found += other.keys_found;
}

void IterationCounters::Add(const IterationCounters& other) {
  attempted += other.attempted;
  ok += other.ok;
  failed += other.failed;
  dropped += other.dropped;
  abandoned += other.abandoned;
}

void ErrorTable::Count(std::string_view code, Outcome outcome, std::string_view text,
                       std::uint64_t count) {
  code = code.substr(0, kMaxCodeBytes);
  auto entry = entries_.find(std::pair(code, outcome));
  if (entry == entries_.end() && entries_.size() >= kMaxKinds) {
    // At most one further entry a class, so the bound holds.
    code = "other";
    entry = entries_.find(std::pair(code, outcome));
  }
  if (entry == entries_.end()) {
    entry = entries_.try_emplace({std::string(code), outcome}).first;
    entry->second.outcome = outcome;
    entry->second.text = text.substr(0, kMaxTextBytes);
  }
  entry->second.count += count;
}

void ErrorTable::Add(const ErrorTable& other) {
  for (const auto& [key, entry] : other.entries_) {
    Count(key.first, key.second, entry.text, entry.count);
  }
}

}  // namespace cavalry::stats
