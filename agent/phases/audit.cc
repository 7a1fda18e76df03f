#include "agent/phases/audit.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace cavalry::agent {
namespace {

using drivers::Field;
using load::InsertState;
using load::WriteState;

constexpr std::size_t kKeysPerRead = 500;
constexpr Nanos kProgressEvery = 500 * kMillisecond;

// A row read back: its fields by column, in bytes of its own. Empty: not found.
struct Row {
  bool found = false;
  std::vector<std::string> texts;
  std::vector<bool> nulls;

  Field At(std::uint32_t column) const { return {nulls[column], texts[column]}; }
};

// What one table's audit needs to know of how its rows were made.
class TableAuditor {
 public:
  TableAuditor(const run::LoadPlan& plan, std::uint32_t table, std::uint32_t list,
               v1::AuditResult* result)
      : plan_(plan), schema_(*plan.tables[table]), list_(list), result_(result) {
    for (const load::OperationRecipe& recipe : plan.recipes) {
      if (recipe.table == table && recipe.plan->kind == drivers::OperationKind::kInsert) {
        insert_ = &recipe;
      }
    }
  }

  // `updated`: the key was also updated or deleted in this step; then that audit judges its row.
  void CheckInsert(std::uint64_t key, InsertState state, bool updated, const Row& row) {
    if (state == InsertState::kUnknown) {
      result_->set_unknown(result_->unknown() + 1);
      return;
    }
    if (state == InsertState::kRefused) {
      if (row.found)
        Fault("unexpected", key, &v1::AuditResult::unexpected, &v1::AuditResult::set_unexpected);
      return;
    }
    if (updated) return;
    result_->set_acknowledged(result_->acknowledged() + 1);
    if (!row.found) {
      Fault("lost", key, &v1::AuditResult::lost, &v1::AuditResult::set_lost);
    } else if (!Equals(*insert_, key, 0, row)) {
      Fault("wrong", key, &v1::AuditResult::wrong, &v1::AuditResult::set_wrong);
    }
  }

  void CheckWrite(std::uint64_t key, const WriteState& state, const Row& row) {
    if (state.acknowledged != 0 || state.deleted) {
      result_->set_acknowledged(result_->acknowledged() + 1);
    }
    if (!row.found) {
      if (state.deleted) return;
      if (state.delete_unknown) {
        result_->set_unknown(result_->unknown() + 1);
      } else if (state.acknowledged != 0) {
        Fault("lost", key, &v1::AuditResult::lost, &v1::AuditResult::set_lost);
      } else {
        result_->set_unknown(result_->unknown() + 1);
      }
      return;
    }
    if (state.deleted) {
      Fault("stale", key, &v1::AuditResult::stale, &v1::AuditResult::set_stale);
      return;
    }
    if (state.acknowledged != 0 && Holds(state.operation, key, state.acknowledged, row)) return;
    if (state.unknown != 0 && Holds(state.unknown_operation, key, state.unknown, row)) {
      result_->set_unknown(result_->unknown() + 1);
      return;
    }
    if (state.acknowledged == 0) {
      result_->set_unknown(result_->unknown() + 1);
    } else if (IsOlder(key, state, row)) {
      Fault("stale", key, &v1::AuditResult::stale, &v1::AuditResult::set_stale);
    } else {
      Fault("wrong", key, &v1::AuditResult::wrong, &v1::AuditResult::set_wrong);
    }
  }

  const drivers::TableSchema& schema() const { return schema_; }

 private:
  using Getter = std::uint64_t (v1::AuditResult::*)() const;
  using Setter = void (v1::AuditResult::*)(std::uint64_t);

  void Fault(std::string_view kind, std::uint64_t key, Getter get, Setter set) {
    (result_->*set)((result_->*get)() + 1);
    if ((result_->*get)() <= list_) {
      result_->add_samples(fmt::format("{} {} {}", kind, schema_.name, key));
    }
  }

  bool Equals(const load::OperationRecipe& recipe, std::uint64_t key, std::uint64_t version,
              const Row& row) {
    recipe.values->Generate(key, version, &expected_);
    const std::vector<std::uint32_t>& columns = recipe.plan->columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ColumnType& type = schema_.columns[columns[i]].type;
      if (!load::Matches(expected_.values()[i], type, row.At(columns[i]))) return false;
    }
    return true;
  }

  bool Holds(std::uint16_t operation, std::uint64_t key, std::uint64_t version, const Row& row) {
    return Equals(plan_.recipes[operation], key, version, row);
  }

  // The versions that are known to have been there before; and, where the row carries its version
  // as a number, any smaller one.
  bool IsOlder(std::uint64_t key, const WriteState& state, const Row& row) {
    for (const std::uint64_t older : state.older) {
      if (older != 0 && Holds(state.operation, key, older, row)) return true;
    }
    if (Holds(state.operation, key, 0, row)) return true;
    const load::OperationRecipe& recipe = plan_.recipes[state.operation];
    for (std::size_t i = 0; i < recipe.plan->columns.size(); ++i) {
      if (recipe.values->rules()[i].kind != load::RuleKind::kNewVersion) continue;
      const std::string& text = row.texts[recipe.plan->columns[i]];
      const std::uint64_t version = std::strtoull(text.c_str(), nullptr, 10);
      return version < state.acknowledged && Holds(state.operation, key, version, row);
    }
    return false;
  }

  const run::LoadPlan& plan_;
  const drivers::TableSchema& schema_;
  const std::uint32_t list_;
  v1::AuditResult* result_;
  const load::OperationRecipe* insert_ = nullptr;
  load::RowBuffer expected_;
};

// Reads rows of keys in batches and hands each to a check.
class BatchReader {
 public:
  using Check = std::function<void(const Row&)>;

  BatchReader(drivers::Admin* admin, const drivers::TableSchema& schema)
      : admin_(admin), schema_(schema) {
    columns_.resize(schema.columns.size());
    std::iota(columns_.begin(), columns_.end(), 0U);
  }

  Status Add(std::uint64_t key, Check check) {
    keys_.push_back(key);
    checks_.push_back(std::move(check));
    return keys_.size() < kKeysPerRead ? absl::OkStatus() : Read();
  }

  Status Read() {
    if (keys_.empty()) return absl::OkStatus();
    std::unordered_map<std::uint64_t, Row> rows;
    const Status status = admin_->ReadRows(schema_, keys_, columns_,
                                           [&](std::uint64_t key, std::span<const Field> fields) {
                                             Row& row = rows[key];
                                             row.found = fields.size() == columns_.size();
                                             for (const Field& field : fields) {
                                               row.texts.emplace_back(field.text);
                                               row.nulls.push_back(field.is_null);
                                             }
                                           });
    CAVALRY_RETURN_IF_ERROR(status);
    static const Row kNotFound;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto found = rows.find(keys_[i]);
      checks_[i](found == rows.end() ? kNotFound : found->second);
    }
    done_ += keys_.size();
    keys_.clear();
    checks_.clear();
    return absl::OkStatus();
  }

  std::uint64_t done() const { return done_; }

 private:
  drivers::Admin* admin_;
  const drivers::TableSchema& schema_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::uint64_t> keys_;
  std::vector<Check> checks_;
  std::uint64_t done_ = 0;
};

// Keys of each state that would have to be read, for progress and for what stays unread.
struct Work {
  std::uint64_t keys = 0;
  std::uint64_t acknowledged = 0;
};

}  // namespace

Status AuditWrites(const StepLedger& step, drivers::Admin* admin, std::uint32_t list,
                   const PhaseContext& context, v1::AuditResult* result) {
  const run::LoadPlan& plan = *step.plan;
  Work work;
  for (const auto& ledger : step.ledgers) {
    result->set_unaudited(result->unaudited() + ledger->unaudited());
    for (std::size_t table = 0; table < plan.tables.size(); ++table) {
      ledger->ForEachInsert(table, [&](std::uint64_t, InsertState state) {
        ++work.keys;
        if (state == InsertState::kAcknowledged) ++work.acknowledged;
      });
      ledger->ForEachWrite(table, [&](std::uint64_t, const WriteState& state) {
        ++work.keys;
        if (state.acknowledged != 0 || state.deleted) ++work.acknowledged;
      });
    }
  }
  Status status;
  std::uint64_t read = 0;
  Nanos told = 0;
  for (std::uint32_t table = 0; table < plan.tables.size(); ++table) {
    TableAuditor auditor(plan, table, list, result);
    BatchReader reader(admin, auditor.schema());
    std::unordered_set<std::uint64_t> written;
    const auto go_on = [&](const Status& added) {
      status.Update(added);
      if (status.ok()) status.Update(context.CheckStop());
      const Nanos now = MonotonicNow();
      if (now - told < kProgressEvery) return;
      told = now;
      context.progress(read + reader.done(), work.keys, "keys");
    };
    for (const auto& ledger : step.ledgers) {
      ledger->ForEachWrite(table, [&](std::uint64_t key, const WriteState& state) {
        written.insert(key);
        if (!status.ok()) return;
        go_on(reader.Add(
            key, [&auditor, key, state](const Row& row) { auditor.CheckWrite(key, state, row); }));
      });
    }
    for (const auto& ledger : step.ledgers) {
      ledger->ForEachInsert(table, [&](std::uint64_t key, InsertState state) {
        if (!status.ok()) return;
        const bool updated = written.contains(key);
        go_on(reader.Add(key, [&auditor, key, state, updated](const Row& row) {
          auditor.CheckInsert(key, state, updated, row);
        }));
      });
    }
    if (status.ok()) status.Update(reader.Read());
    read += reader.done();
  }
  if (!status.ok() && work.acknowledged > result->acknowledged()) {
    result->set_unaudited(result->unaudited() + work.acknowledged - result->acknowledged());
  }
  return status;
}

}  // namespace cavalry::agent
