// Small plans for tests of a run, made without a spec file. Header-only; tests only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/run/run_plan.h"
#include "core/base/clock.h"

namespace cavalry::testing {

inline v1::Workload MakeWorkload(std::uint32_t sessions = 4) {
  v1::Workload workload;
  workload.set_name("test");
  v1::Target* sql = workload.add_targets();
  sql->set_name("sql");
  sql->mutable_mysql();
  v1::Target* hs = workload.add_targets();
  hs->set_name("hs");
  hs->set_tables_of("sql");
  hs->mutable_handlersocket();
  v1::Table* table = workload.add_tables();
  table->set_name("customer");
  table->set_rows(1000);
  table->add_primary_key("id");
  v1::ColumnSpec* column = table->add_columns();
  column->set_name("id");
  column->set_type("int");
  v1::OperationSpec* find = workload.add_operations();
  find->set_name("find");
  find->mutable_read()->set_table("customer");
  v1::Range* range = find->mutable_read()->mutable_keys()->mutable_sequential()->mutable_range();
  range->set_first(1);
  range->set_last(1000);
  v1::OperationSpec* add = workload.add_operations();
  add->set_name("add");
  add->mutable_insert()->set_table("customer");
  workload.mutable_script()->set_name("find");
  workload.mutable_script()->add_steps()->set_operation("find");
  v1::Load* load = workload.mutable_load();
  load->set_sessions(sessions);
  load->set_warmup(std::uint64_t{kSecond});
  load->mutable_stop_after()->set_duration(5 * std::uint64_t{kSecond});
  load->set_operation_timeout(10 * std::uint64_t{kSecond});
  load->set_connect_timeout(5 * std::uint64_t{kSecond});
  load->set_drain_timeout(5 * std::uint64_t{kSecond});
  load->set_pipeline(1);
  load->set_connect_rate(2000);
  workload.set_rounds(1);
  workload.set_order(v1::ORDER_SAME);
  workload.set_reset(v1::RESET_RUN);
  workload.set_cleanup(v1::CLEANUP_KEEP);
  workload.mutable_audit()->set_enabled(false);
  workload.set_seed(42);
  return workload;
}

// The script inserts, and its writes are audited.
inline v1::Workload MakeWritingWorkload(std::uint32_t sessions = 4) {
  v1::Workload workload = MakeWorkload(sessions);
  workload.mutable_script()->mutable_steps(0)->set_operation("add");
  workload.mutable_audit()->set_enabled(true);
  return workload;
}

// One step a name in `targets`, all with the same workload.
inline run::RunPlan MakePlan(const v1::Workload& workload, const std::vector<std::string>& targets,
                             std::size_t agents) {
  run::RunPlan plan;
  plan.run_id = "run-1";
  plan.workload = workload;
  plan.agents = agents;
  std::uint64_t id = 0;
  for (const std::string& target : targets) {
    run::PlannedStep step;
    step.step.set_id(++id);
    step.step.set_round(1);
    step.step.set_target(target);
    step.step.set_driver(target == "sql" ? "mysql" : "handlersocket");
    step.step.set_sessions(workload.load().sessions());
    step.step.set_stage("measure");
    step.workload = workload;
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

}  // namespace cavalry::testing
