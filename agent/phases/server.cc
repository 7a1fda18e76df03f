#include "agent/phases/server.h"

#include "agent/phases/targets.h"

namespace cavalry::agent {

Status RunNative(const PhaseContext& context, v1::PhaseDone* done) {
  const v1::RunPhase& order = context.order;
  CAVALRY_ASSIGN_OR_RETURN(const std::unique_ptr<drivers::Admin> admin,
                           ConnectAdmin(order.workload(), order.target()));
  const auto rows = admin->RunNative(order.statement());
  if (!rows.ok()) {
    return Annotate(rows.status(), fmt::format("{}: {}", order.target(), order.statement()));
  }
  done->set_rows(*rows);
  return absl::OkStatus();
}

Status ReadCounters(const PhaseContext& context, v1::PhaseDone* done) {
  CAVALRY_ASSIGN_OR_RETURN(const std::unique_ptr<drivers::Admin> admin,
                           ConnectAdmin(context.order.workload(), context.order.target()));
  CAVALRY_ASSIGN_OR_RETURN(const auto counters, admin->Counters());
  for (const auto& [name, value] : counters) {
    v1::NameValue* counter = done->add_server();
    counter->set_name(name);
    counter->set_value(std::to_string(value));
  }
  return absl::OkStatus();
}

}  // namespace cavalry::agent
