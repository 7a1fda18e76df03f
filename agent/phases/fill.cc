#include "agent/phases/fill.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "agent/load/key_sequence.h"
#include "agent/phases/targets.h"
#include "agent/plan.h"
#include "core/base/clock.h"

namespace cavalry::agent {
namespace {

constexpr std::uint64_t kRowsPerBatch = 1'000;
constexpr std::size_t kMaxBatchBytes = 1024 * 1024;
constexpr Nanos kProgressEvery = 500 * kMillisecond;

// Rows of one batch, with the bytes they point to.
class Batch {
 public:
  explicit Batch(std::size_t rows) : rows_(rows) {}

  std::span<const drivers::Value> Generate(const load::RowGenerator& generator, std::uint64_t first,
                                           std::uint64_t count) {
    values_.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      generator.Generate(first + i, 0, &rows_[i]);
      values_.insert(values_.end(), rows_[i].values().begin(), rows_[i].values().end());
    }
    return values_;
  }

 private:
  std::vector<load::RowBuffer> rows_;
  std::vector<drivers::Value> values_;
};

// One table's share; threads take batches from it until it is used up or one of them fails.
class TableFill {
 public:
  TableFill(const PhaseContext& context, TablePlan table, const v1::KeyShare& share)
      : context_(context), table_(std::move(table)), share_(share) {
    std::vector<std::uint32_t> columns(table_.schema->columns.size());
    std::iota(columns.begin(), columns.end(), 0U);
    generator_.emplace(*table_.schema, columns, table_.rules, context.order.workload().seed());
    batch_rows_ = std::clamp<std::uint64_t>(
        kMaxBatchBytes / std::max<std::size_t>(generator_->max_bytes() + 16 * columns.size(), 1), 1,
        kRowsPerBatch);
  }

  Status Run() {
    const std::uint64_t batches = (share_.count() + batch_rows_ - 1) / batch_rows_;
    const auto threads = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(batches, 1, std::max<std::uint32_t>(context_.threads, 1)));
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([this] { FillBatches(); });
    }
    for (std::thread& thread : running) thread.join();
    return status_;
  }

 private:
  void Fail(const Status& status) {
    std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = status;
    failed_ = true;
  }

  void FillBatches() {
    auto admin = ConnectAdmin(context_.order.workload(), context_.order.target());
    if (!admin.ok()) return Fail(admin.status());
    Batch batch(batch_rows_);
    while (!failed_) {
      if (const Status stop = context_.CheckStop(); !stop.ok()) return Fail(stop);
      const std::uint64_t begin = next_.fetch_add(batch_rows_);
      if (begin >= share_.count()) return;
      const std::uint64_t count = std::min(batch_rows_, share_.count() - begin);
      const auto values = batch.Generate(*generator_, share_.first() + begin, count);
      const Status status = (*admin)->InsertRows(*table_.schema, values);
      if (!status.ok()) {
        return Fail(Annotate(
            status, fmt::format("{}: fill of {}", context_.order.target(), table_.schema->name)));
      }
      Tell(written_.fetch_add(count) + count);
    }
  }

  void Tell(std::uint64_t written) {
    const Nanos now = MonotonicNow();
    std::lock_guard lock(mutex_);
    if (now - told_ < kProgressEvery && written < share_.count()) return;
    told_ = now;
    context_.progress(written, share_.count(), "rows");
  }

  const PhaseContext& context_;
  TablePlan table_;
  const v1::KeyShare& share_;
  std::optional<load::RowGenerator> generator_;
  std::uint64_t batch_rows_ = 1;
  std::atomic<std::uint64_t> next_{0}, written_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status status_;   // guarded by mutex_
  Nanos told_ = 0;  // guarded by mutex_
};

}  // namespace

Status FillTables(const PhaseContext& context, v1::PhaseDone* done) {
  const Nanos began = MonotonicNow();
  const v1::Workload& workload = context.order.workload();
  for (const v1::KeyShare& share : context.order.shares()) {
    if (share.count() == 0) continue;
    const auto spec =
        std::find_if(workload.tables().begin(), workload.tables().end(),
                     [&](const auto& table) { return table.name() == share.table(); });
    if (spec == workload.tables().end()) {
      return InvalidArgument("fill: no table is named '{}'", share.table());
    }
    if (share.first() > load::kMaxKey || share.count() > load::kMaxKey - share.first() + 1) {
      return InvalidArgument("fill of {}: keys end at {}", share.table(), load::kMaxKey);
    }
    CAVALRY_ASSIGN_OR_RETURN(TablePlan table, MakeTablePlan(*spec, workload.seed()));
    if (table.schema->use_as_is || workload.reset() == v1::RESET_NEVER) {
      return FailedPrecondition("fill: {} is used as it is, so it is not filled", share.table());
    }
    CAVALRY_RETURN_IF_ERROR(TableFill(context, std::move(table), share).Run());
    done->set_rows(done->rows() + share.count());
  }
  done->set_duration_ns(static_cast<std::uint64_t>(MonotonicNow() - began));
  return absl::OkStatus();
}

}  // namespace cavalry::agent
