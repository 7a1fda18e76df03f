#include "coordinator/run/key_book.h"

#include <algorithm>

#include <fmt/format.h>

#include "coordinator/spec/spec_check.h"
#include "core/base/mix.h"
#include "core/base/units.h"

namespace cavalry::run {
namespace {

// Writes of one iteration: inserts by table, and all of them for the versions.
struct WritesPerIteration {
  std::map<std::string, std::uint64_t> inserts;
  std::uint64_t all = 0;
};

WritesPerIteration CountWrites(const v1::Workload& workload) {
  WritesPerIteration writes;
  for (const v1::OperationSpec& operation : workload.operations()) {
    if (!spec::IsAuditedWrite(operation)) continue;
    const std::uint64_t times = spec::TimesPerIteration(workload, operation.name());
    writes.all += times;
    if (!operation.has_insert() || times == 0) continue;
    const v1::Insert& insert = operation.insert();
    writes.inserts[insert.table()] += times * (insert.has_batch() ? insert.batch() : 1);
  }
  return writes;
}

// Numbers that agents use keys for when they begin so many: those of a mix in whole blocks.
std::uint64_t NumbersWithKeys(const v1::Workload& workload, std::uint64_t numbers) {
  if (workload.script().mix_size() == 0) return numbers;
  return (numbers + kMixBlock - 1) / kMixBlock * kMixBlock;
}

void Raise(std::uint64_t value, std::uint64_t* target) { *target = std::max(*target, value); }

}  // namespace

void KeyBook::Learn(const std::string& owner, const v1::TableState& table, bool forget) {
  std::uint64_t& next = next_keys_[owner][table.table()];
  if (forget) next = 0;
  Raise(table.max_key() + 1, &next);
}

void KeyBook::Filled(const std::string& owner, const std::string& table, std::uint64_t rows) {
  Raise(rows + 1, &next_keys_[owner][table]);
}

std::uint64_t KeyBook::NextKey(const std::string& owner, const std::string& table) const {
  const auto of_owner = next_keys_.find(owner);
  if (of_owner == next_keys_.end()) return 1;
  const auto found = of_owner->second.find(table);
  return found == of_owner->second.end() ? 1 : std::max<std::uint64_t>(found->second, 1);
}

std::uint64_t KeyBook::NextVersion(const std::string& owner) const {
  const auto found = versions_.find(owner);
  return found == versions_.end() ? 1 : std::max<std::uint64_t>(found->second, 1);
}

void KeyBook::FillAssignment(const std::string& owner, const v1::Workload& workload,
                             v1::Assignment* assignment) const {
  for (const v1::Table& table : workload.tables()) {
    v1::TableKey* next = assignment->add_next_keys();
    next->set_table(table.name());
    next->set_key(NextKey(owner, table.name()));
  }
  assignment->set_next_version(NextVersion(owner));
}

void KeyBook::Advance(const std::string& owner, const v1::StepReport& report) {
  for (const v1::TableKey& key : report.next_keys())
    Raise(key.key(), &next_keys_[owner][key.table()]);
  Raise(report.next_version(), &versions_[owner]);
}

std::string KeyBook::AdvanceLost(const std::string& owner, const v1::Workload& workload,
                                 const v1::Assignment& before, std::uint64_t largest_number) {
  const WritesPerIteration writes = CountWrites(workload);
  if (writes.all == 0) return "";
  const std::uint64_t numbers = largest_number + 1;
  Raise(before.next_version() + numbers * writes.all, &versions_[owner]);
  std::string text;
  for (const v1::TableKey& key : before.next_keys()) {
    const auto inserts = writes.inserts.find(key.table());
    if (inserts == writes.inserts.end()) continue;
    std::uint64_t& next = next_keys_[owner][key.table()];
    Raise(key.key() + NumbersWithKeys(workload, numbers) * inserts->second, &next);
    text += fmt::format("{}keys of {} go on at {}", text.empty() ? "" : ", ", key.table(),
                        FormatCount(next));
  }
  return text;
}

}  // namespace cavalry::run
