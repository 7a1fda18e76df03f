#include "agent/phases/audit.h"

#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "agent/phases/outage.h"
#include "agent/phases/row_auditor.h"
#include "agent/plan.h"
#include "core/base/clock.h"

namespace cavalry::agent {
namespace {

using drivers::Field;
using load::InsertState;
using load::KeyWrites;
using load::Ledger;

constexpr std::size_t kKeysPerRead = 500;
constexpr Nanos kProgressEvery = 500 * kMillisecond;

// Reads rows by their numbers, in batches where the number is the key, and hands each to a check.
class BatchReader {
 public:
  using Check = std::function<void(const Row&)>;

  // `base` makes all columns of the table's rows.
  BatchReader(drivers::Admin* admin, const drivers::TableSchema& schema,
              const load::RowGenerator& base, const PhaseContext& context, Nanos patience)
      : admin_(admin), schema_(schema), base_(base), context_(context), patience_(patience) {
    columns_.resize(schema.columns.size());
    std::iota(columns_.begin(), columns_.end(), 0U);
  }

  Status Add(std::uint64_t key, Check check) {
    if (!schema_.key_is_number) return ReadOne(key, check);
    keys_.push_back(key);
    checks_.push_back(std::move(check));
    return keys_.size() < kKeysPerRead ? absl::OkStatus() : Read();
  }

  Status Read() {
    if (keys_.empty()) return absl::OkStatus();
    std::unordered_map<std::uint64_t, Row> rows;
    bool whole = true;
    const auto take = [&](std::uint64_t key, std::span<const Field> fields) {
      whole = whole && fields.size() == columns_.size();
      Row row{true, {}, {}};
      for (const Field& field : fields) {
        row.texts.emplace_back(field.text);
        row.nulls.push_back(field.is_null);
      }
      rows[key] = std::move(row);
    };
    CAVALRY_RETURN_IF_ERROR(OutliveOutages(
        admin_, context_,
        [&] {
          rows.clear();
          return admin_->ReadRows(schema_, keys_, columns_, take);
        },
        patience_));
    if (!whole) return DataLoss("{}: a row came back without all its columns", schema_.name);
    static const Row kNotFound;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto found = rows.find(keys_[i]);
      checks_[i](found == rows.end() ? kNotFound : found->second);
    }
    keys_.clear();
    checks_.clear();
    return absl::OkStatus();
  }

 private:
  // By the values that the row of this number has in its key columns.
  Status ReadOne(std::uint64_t number, const Check& check) {
    base_.Generate(number, 0, &buffer_);
    key_.clear();
    for (const std::uint32_t column : schema_.key_columns) {
      key_.push_back(buffer_.values()[column]);
    }
    Row row;
    const auto take = [&row](std::span<const Field> fields) {
      row.found = true;
      for (const Field& field : fields) {
        row.texts.emplace_back(field.text);
        row.nulls.push_back(field.is_null);
      }
    };
    CAVALRY_RETURN_IF_ERROR(OutliveOutages(
        admin_, context_,
        [&] {
          row = {};
          return admin_->ReadRow(schema_, key_, columns_, take).status();
        },
        patience_));
    if (row.found && row.texts.size() != columns_.size()) {
      return DataLoss("{}: a row came back without all its columns", schema_.name);
    }
    check(row);
    return absl::OkStatus();
  }

  drivers::Admin* admin_;
  const drivers::TableSchema& schema_;
  const load::RowGenerator& base_;
  const PhaseContext& context_;
  const Nanos patience_;
  load::RowBuffer buffer_;
  std::vector<drivers::Value> key_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::uint64_t> keys_;
  std::vector<Check> checks_;
};

// Every key of a table in a ledger, once, with all that was written to it.
void ForEachKey(const Ledger& ledger, std::size_t table,
                const std::function<void(std::uint64_t, InsertState, const KeyWrites&)>& visit) {
  ledger.ForEachWrite(table, [&](std::uint64_t key, const KeyWrites& writes) {
    visit(key, ledger.InsertOf(table, key), writes);
  });
  static const KeyWrites kNone;
  ledger.ForEachInsert(table, [&](std::uint64_t key, InsertState state) {
    if (!ledger.Written(table, key)) visit(key, state, kNone);
  });
}

class StepAudit {
 public:
  StepAudit(const StepLedger& step, drivers::Admin* admin, std::uint32_t list,
            const PhaseContext& context, Nanos patience, v1::AuditResult* result)
      : step_(step),
        admin_(admin),
        list_(list),
        context_(context),
        patience_(patience),
        result_(result) {}

  Status Run() {
    std::uint64_t acknowledged = 0;
    for (const auto& ledger : step_.ledgers) {
      result_->set_unaudited(result_->unaudited() + ledger->unaudited());
      result_->set_unknown(result_->unknown() + ledger->unknown_without_key());
      for (std::size_t table = 0; table < step_.plan->tables.size(); ++table) {
        ForEachKey(*ledger, table, [&](std::uint64_t, InsertState insert, const KeyWrites& writes) {
          ++keys_;
          if (RowAuditor::IsAcknowledged(insert, writes)) ++acknowledged;
        });
      }
    }
    Status status;
    for (std::uint32_t table = 0; status.ok() && table < step_.plan->tables.size(); ++table) {
      status = AuditTable(table);
    }
    // What was read back has been counted as acknowledged; the rest was not read.
    result_->set_unaudited(result_->unaudited() + acknowledged - result_->acknowledged());
    return status;
  }

 private:
  Status AuditTable(std::uint32_t table) {
    const drivers::TableSchema& schema = *step_.plan->tables[table];
    if (admin_ == nullptr) return absl::OkStatus();
    CAVALRY_ASSIGN_OR_RETURN(const load::RowGenerator base, MakeBase(table));
    RowAuditor::Options options{
        table, !schema.use_as_is && context_.order.workload().reset() != v1::RESET_NEVER, list_,
        &base};
    for (const auto& ledger : step_.ledgers) {
      options.presence_only = options.presence_only || ledger->keys_given(table);
    }
    RowAuditor auditor(*step_.plan, options, result_);
    BatchReader reader(admin_, schema, base, context_, patience_);
    Status status;
    for (const auto& ledger : step_.ledgers) {
      ForEachKey(*ledger, table,
                 [&](std::uint64_t key, InsertState insert, const KeyWrites& writes) {
                   if (status.ok()) status = context_.CheckStop();
                   if (!status.ok()) return;
                   status = reader.Add(key, [&auditor, key, insert, writes](const Row& row) {
                     auditor.Check(key, insert, writes, row);
                   });
                   Tell();
                 });
    }
    if (status.ok()) status = reader.Read();
    return status;
  }

  // How the table's rows are made, from the order: a plan holds the rules of its operations only.
  StatusOr<load::RowGenerator> MakeBase(std::uint32_t table) const {
    const drivers::TableSchema& schema = *step_.plan->tables[table];
    const v1::Workload& workload = context_.order.workload();
    for (const v1::Table& spec : workload.tables()) {
      if (spec.name() != schema.name) continue;
      CAVALRY_ASSIGN_OR_RETURN(TablePlan plan, MakeTablePlan(spec, workload.seed()));
      if (plan.schema->schema_hash != schema.schema_hash) break;
      std::vector<std::uint32_t> columns(schema.columns.size());
      std::iota(columns.begin(), columns.end(), 0U);
      return MakeGenerator(schema, std::move(columns), std::move(plan.rules), workload.seed());
    }
    return InvalidArgument("audit: table '{}' is not as it was in the step", schema.name);
  }

  void Tell() {
    ++seen_;
    const Nanos now = MonotonicNow();
    if (now - told_ < kProgressEvery) return;
    told_ = now;
    context_.progress(seen_, keys_, "keys");
  }

  const StepLedger& step_;
  drivers::Admin* admin_;
  const std::uint32_t list_;
  const PhaseContext& context_;
  const Nanos patience_;
  v1::AuditResult* result_;
  std::uint64_t keys_ = 0;
  std::uint64_t seen_ = 0;
  Nanos told_ = 0;
};

}  // namespace

Status AuditWrites(const StepLedger& step, drivers::Admin* admin, std::uint32_t list,
                   const PhaseContext& context, v1::AuditResult* result, Nanos patience) {
  return StepAudit(step, admin, list, context, patience, result).Run();
}

}  // namespace cavalry::agent
