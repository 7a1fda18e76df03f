#include "agent/phases/row_auditor.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "agent/writers.h"

namespace cavalry::agent {
namespace {

using load::InsertState;
using load::KeyWrites;
using Result = v1::AuditResult;

constexpr std::size_t kNobody = ~std::size_t{0};

}  // namespace

RowAuditor::RowAuditor(const run::LoadPlan& plan, const Options& options, v1::AuditResult* result)
    : plan_(plan),
      options_(options),
      schema_(*plan.tables[options.table]),
      unknown_values_(UnknownColumns(schema_, plan.operations)),
      result_(result) {}

bool RowAuditor::IsAcknowledged(InsertState insert, const KeyWrites& writes) {
  return insert == InsertState::kAcknowledged || writes.acknowledged();
}

void RowAuditor::Check(std::uint64_t key, InsertState insert, const KeyWrites& writes,
                       const Row& row) {
  const bool acknowledged = IsAcknowledged(insert, writes);
  if (acknowledged) result_->set_acknowledged(result_->acknowledged() + 1);
  if (insert == InsertState::kRefused) {
    if (row.found) Fault("unexpected", key, &Result::unexpected, &Result::set_unexpected);
  } else if (!row.found) {
    CheckAbsent(key, writes, acknowledged);
  } else if (writes.deleted) {
    Fault("stale", key, &Result::stale, &Result::set_stale);
  } else if (!acknowledged) {
    CountUnknown();
  } else {
    CheckPresent(key, insert != InsertState::kNone, writes, row);
  }
}

void RowAuditor::Fault(std::string_view kind, std::uint64_t key, Getter get, Setter set) {
  (result_->*set)((result_->*get)() + 1);
  if ((result_->*get)() <= options_.list) {
    result_->add_samples(fmt::format("{} {} {}", kind, schema_.name, key));
  }
}

void RowAuditor::CheckAbsent(std::uint64_t key, const KeyWrites& writes, bool acknowledged) {
  if (writes.deleted) return;
  if (writes.delete_unknown || !acknowledged) return CountUnknown();
  Fault("lost", key, &Result::lost, &Result::set_lost);
}

void RowAuditor::CheckPresent(std::uint64_t key, bool inserted, const KeyWrites& writes,
                              const Row& row) {
  if (options_.presence_only) return;
  Writes held;
  if (inserted || options_.filled_by_us) held.push_back({options_.base, 0, nullptr});
  for (const auto& [operation, state] : writes.updates) {
    if (state.acknowledged == 0) continue;
    held.push_back({&*plan_.recipes[operation].values, state.acknowledged, &state});
  }
  if (Holds(key, held, ColumnsOf(held, inserted), row)) return;
  if (HoldsUnknown(key, held, writes, inserted, row)) return CountUnknown();
  // Each write is judged by the columns that none wrote after it.
  const std::vector<std::size_t> writers = LastWriters(held, inserted);
  for (std::size_t i = 0; i < held.size(); ++i) {
    Columns own;
    for (std::uint32_t column = 0; column < writers.size(); ++column) {
      if (writers[column] == i && !unknown_values_[column]) own.push_back(column);
    }
    if (Holds(key, held, own, row) || HoldsOlder(key, held, i, own, row)) continue;
    return Fault("wrong", key, &Result::wrong, &Result::set_wrong);
  }
  Fault("stale", key, &Result::stale, &Result::set_stale);
}

bool RowAuditor::Holds(std::uint64_t key, const Writes& writes, const Columns& columns,
                       const Row& row) {
  if (buffers_.size() < writes.size()) buffers_.resize(writes.size());
  expected_.assign(schema_.columns.size(), nullptr);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    writes[i].values->Generate(key, writes[i].version, &buffers_[i]);
    const std::vector<std::uint32_t>& written = writes[i].values->columns();
    for (std::size_t j = 0; j < written.size(); ++j) {
      expected_[written[j]] = &buffers_[i].values()[j];
    }
  }
  return std::all_of(columns.begin(), columns.end(), [&](std::uint32_t column) {
    return expected_[column] != nullptr &&
           load::Matches(*expected_[column], schema_.columns[column].type, row.At(column));
  });
}

bool RowAuditor::HoldsUnknown(std::uint64_t key, const Writes& held, const KeyWrites& writes,
                              bool inserted, const Row& row) {
  Writes all = held;
  Writes reversed = held;
  for (const auto& [operation, state] : writes.updates) {
    if (state.unknown == 0) continue;
    // The versions of the others are not known any more: nothing can be said of the row.
    if (state.several_unknown) return true;
    const Write open{&*plan_.recipes[operation].values, state.unknown, &state};
    Writes with_one = held;
    with_one.push_back(open);
    if (Holds(key, with_one, ColumnsOf(with_one, inserted), row)) return true;
    all.push_back(open);
    reversed.insert(reversed.begin() + static_cast<std::ptrdiff_t>(held.size()), open);
  }
  if (all.size() <= held.size() + 1) return false;
  const Columns columns = ColumnsOf(all, inserted);
  return Holds(key, all, columns, row) || Holds(key, reversed, columns, row);
}

bool RowAuditor::HoldsOlder(std::uint64_t key, const Writes& held, std::size_t index,
                            const Columns& columns, const Row& row) {
  const load::UpdateState* const state = held[index].state;
  if (state == nullptr) return false;  // before a fill or insert there was no row
  Writes older = held;
  for (const std::uint64_t version : state->older) {
    older[index].version = version;
    if (version != 0 && Holds(key, older, columns, row)) return true;
  }
  // Where the row carries its version as a number, any smaller one.
  const load::RowGenerator& values = *held[index].values;
  for (std::size_t i = 0; i < values.columns().size(); ++i) {
    if (values.rules()[i].kind != load::RuleKind::kNewVersion) continue;
    older[index].version = std::strtoull(row.texts[values.columns()[i]].c_str(), nullptr, 10);
    if (older[index].version < state->acknowledged && Holds(key, older, columns, row)) return true;
  }
  older.erase(older.begin() + static_cast<std::ptrdiff_t>(index));
  return Holds(key, older, columns, row);
}

std::vector<std::size_t> RowAuditor::LastWriters(const Writes& writes, bool inserted) const {
  std::vector<std::size_t> writers(schema_.columns.size(), kNobody);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    // What a filled row holds in columns that this step did not write is not this step's matter.
    if (writes[i].state == nullptr && !inserted) continue;
    for (const std::uint32_t column : writes[i].values->columns()) writers[column] = i;
  }
  return writers;
}

RowAuditor::Columns RowAuditor::ColumnsOf(const Writes& writes, bool inserted) const {
  const std::vector<std::size_t> writers = LastWriters(writes, inserted);
  Columns columns;
  for (std::uint32_t column = 0; column < writers.size(); ++column) {
    if (writers[column] != kNobody && !unknown_values_[column]) columns.push_back(column);
  }
  return columns;
}

}  // namespace cavalry::agent
