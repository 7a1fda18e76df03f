#include "agent/phase_runner.h"

#include "agent/phases/fill.h"
#include "agent/phases/outage.h"
#include "agent/phases/server.h"
#include "agent/phases/tables.h"
#include "agent/phases/targets.h"
#include "core/wire/status_codec.h"

namespace cavalry::agent {
namespace {

constexpr std::uint32_t kListedFaults = 10;

Status Audit(const PhaseContext& context, const StepLedger* ledger, v1::PhaseDone* done) {
  done->mutable_audit();
  if (ledger == nullptr || ledger->plan == nullptr) return absl::OkStatus();  // had no session
  const v1::Workload& workload = context.order.workload();
  const std::uint32_t list = workload.audit().has_list() ? workload.audit().list() : kListedFaults;
  const auto admin = AwaitAdmin(context);
  // Without a connection, all that was acknowledged is counted as unaudited.
  Status status = admin.status();
  status.Update(AuditWrites(*ledger, admin.ok() ? admin->get() : nullptr, list, context,
                            done->mutable_audit()));
  return status;
}

Status RunOne(const PhaseContext& context, const StepLedger* ledger, v1::PhaseDone* done) {
  switch (context.order.phase()) {
    case v1::PHASE_PREFLIGHT:
      return Preflight(context, done);
    case v1::PHASE_RESET:
      return ResetTables(context, done);
    case v1::PHASE_PREPARE:
      return PrepareTables(context, done);
    case v1::PHASE_FILL:
      return FillTables(context, done);
    case v1::PHASE_MARK_FILLED:
      return MarkTables(context, drivers::TableMark::kFilled, done);
    case v1::PHASE_MARK_USED:
      return MarkTables(context, drivers::TableMark::kUsed, done);
    case v1::PHASE_AUDIT:
      return Audit(context, ledger, done);
    case v1::PHASE_NATIVE:
      return RunNative(context, done);
    case v1::PHASE_COUNTERS:
      return ReadCounters(context, done);
    case v1::PHASE_CLEANUP:
      return CleanUpTables(context, done);
    default:
      return InvalidArgument("this agent knows no phase {}",
                             static_cast<int>(context.order.phase()));
  }
}

}  // namespace

PhaseRunner::~PhaseRunner() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void PhaseRunner::Start(v1::RunPhase order, const StepLedger* ledger, Send send) {
  if (thread_.joinable()) thread_.join();
  stop_ = false;
  running_ = true;
  thread_ = std::thread([this, order = std::move(order), ledger, send = std::move(send)] {
    Run(order, ledger, send);
  });
}

void PhaseRunner::Run(const v1::RunPhase& order, const StepLedger* ledger, const Send& send) {
  const PhaseContext context{order, threads_,
                             [&](std::uint64_t done, std::uint64_t total, std::string_view what) {
                               v1::FromAgent message;
                               v1::Progress* progress = message.mutable_progress();
                               progress->set_phase(order.phase());
                               progress->set_done(done);
                               progress->set_total(total);
                               progress->set_what(std::string(what));
                               send(std::move(message));
                             },
                             stop_};
  v1::FromAgent message;
  v1::PhaseDone* done = message.mutable_phase_done();
  done->set_phase(order.phase());
  const Status status = RunOne(context, ledger, done);
  wire::ToMessage(status, done->mutable_status());
  // Before the message: whoever reads it may order the next phase at once.
  running_ = false;
  send(std::move(message));
}

}  // namespace cavalry::agent
