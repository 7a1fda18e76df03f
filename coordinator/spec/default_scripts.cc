#include <algorithm>
#include <set>

#include "coordinator/spec/default_parts.h"
#include "coordinator/spec/schema.h"
#include "coordinator/spec/spec_check.h"

namespace cavalry::spec {
namespace {

using google::protobuf::Reflection;
using Steps = google::protobuf::RepeatedPtrField<v1::ScriptStep>;

void FillRepeats(Steps* steps) {
  for (v1::ScriptStep& step : *steps) {
    if (!step.has_repeat()) step.set_repeat(1);
  }
}

void AddStep(std::string_view operation, Steps* steps) {
  v1::ScriptStep* step = steps->Add();
  step->set_operation(std::string(operation));
  step->set_repeat(1);
}

// A transaction as steps between begin and commit.
void UnfoldTransaction(Steps* transaction, Steps* steps) {
  if (transaction->empty()) return;
  AddStep("begin", steps);
  for (const v1::ScriptStep& step : *transaction) *steps->Add() = step;
  AddStep("commit", steps);
  transaction->Clear();
}

void FillMix(v1::Script* script) {
  for (v1::MixEntry& entry : *script->mutable_mix()) {
    if (!entry.has_weight()) entry.set_weight(1);
    UnfoldTransaction(entry.mutable_transaction(), entry.mutable_steps());
    if (entry.steps_size() == 0) AddStep(entry.name(), entry.mutable_steps());
    FillRepeats(entry.mutable_steps());
  }
}

void FillScript(const v1::Workload& workload, v1::Script* script) {
  FillMix(script);
  UnfoldTransaction(script->mutable_transaction(), script->mutable_steps());
  if (script->steps_size() == 0 && script->mix_size() == 0) {
    for (const v1::OperationSpec& operation : workload.operations()) {
      AddStep(operation.name(), script->mutable_steps());
    }
  }
  FillRepeats(script->mutable_steps());
  if (!script->name().empty()) return;
  const bool one = script->steps_size() == 1 && script->steps(0).repeat() == 1;
  script->set_name(one ? script->steps(0).operation() : "script");
}

const v1::OperationSpec* FindOperation(const v1::Workload& workload, std::string_view name) {
  for (const v1::OperationSpec& operation : workload.operations()) {
    if (operation.name() == name) return &operation;
  }
  return nullptr;
}

void AddImplicit(const std::string& name, v1::Workload* workload) {
  if (!IsImplicitOperation(name) || FindOperation(*workload, name) != nullptr) return;
  v1::OperationSpec* operation = workload->add_operations();
  operation->set_name(name);
  const FieldDescriptor* kind = operation->GetDescriptor()->FindFieldByName(name);
  operation->GetReflection()->MutableMessage(operation, kind);
}

void AddImplicitOperations(v1::Workload* workload) {
  bool begins = false;
  bool rolls_back = false;
  for (const std::string& name : OperationsOfScript(*workload)) {
    AddImplicit(name, workload);
    const v1::OperationSpec* operation = FindOperation(*workload, name);
    begins = begins || (operation != nullptr && operation->has_begin());
  }
  for (const v1::OperationSpec& operation : workload->operations()) {
    rolls_back = rolls_back || operation.has_rollback();
  }
  // What a failed iteration ends with.
  if (begins && !rolls_back) AddImplicit("rollback", workload);
}

// Sleeps are no operations of an agent's: behind the others they leave the indexes of these alone.
void PutSleepsLast(v1::Workload* workload) {
  auto* operations = workload->mutable_operations();
  std::stable_partition(operations->pointer_begin(), operations->pointer_end(),
                        [](const v1::OperationSpec* operation) { return !operation->has_sleep(); });
}

// Load `from` with what `over` says instead.
v1::Load Overlaid(const v1::Load& from, const v1::Load& over) {
  v1::Load load = from;
  const Reflection* reflection = over.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(over, &fields);
  // Whole keys: a stage that counts iterations does not keep the duration of the spec's load.
  for (const FieldDescriptor* field : fields) reflection->ClearField(&load, field);
  load.MergeFrom(over);
  return load;
}

}  // namespace

void FillScripts(v1::Workload* workload) {
  if (workload->stages_size() == 0) {
    FillScript(*workload, workload->mutable_script());
  }
  for (v1::Stage& stage : *workload->mutable_stages()) {
    FillScript(*workload, stage.mutable_script());
  }
  AddImplicitOperations(workload);
  PutSleepsLast(workload);
}

void FillStageLoads(v1::Workload* workload) {
  for (v1::Stage& stage : *workload->mutable_stages()) {
    *stage.mutable_load() = Overlaid(workload->load(), stage.load());
  }
}

v1::Workload StageWorkload(const v1::Workload& workload, int stage) {
  v1::Workload of_stage = workload;
  of_stage.clear_stages();
  *of_stage.mutable_script() = workload.stages(stage).script();
  *of_stage.mutable_load() = workload.stages(stage).load();
  return of_stage;
}

}  // namespace cavalry::spec
