#include <algorithm>
#include <array>

#include "coordinator/spec/schema.h"
#include "coordinator/spec/spec_check.h"
#include "core/wire/operation_keys.h"

namespace cavalry::spec {
namespace {

using Steps = google::protobuf::RepeatedPtrField<v1::ScriptStep>;

constexpr std::array<std::string_view, 5> kImplicitOperations = {"begin", "commit", "rollback",
                                                                 "reset_connection", "change_user"};

const v1::OperationSpec* FindOperation(const v1::Workload& workload, std::string_view name) {
  for (const v1::OperationSpec& operation : workload.operations()) {
    if (operation.name() == name) return &operation;
  }
  return nullptr;
}

std::vector<const v1::Script*> ScriptsOf(const v1::Workload& workload) {
  std::vector<const v1::Script*> scripts;
  for (const v1::Stage& stage : workload.stages()) scripts.push_back(&stage.script());
  if (scripts.empty()) scripts.push_back(&workload.script());
  return scripts;
}

void AddName(const std::string& name, std::vector<std::string>* names) {
  const bool known = std::find(names->begin(), names->end(), name) != names->end();
  if (!name.empty() && !known) names->push_back(name);
}

void AddSteps(const Steps& steps, const Steps& transaction, std::vector<std::string>* names) {
  for (const v1::ScriptStep& step : steps) AddName(step.operation(), names);
  if (transaction.empty()) return;
  AddName("begin", names);
  for (const v1::ScriptStep& step : transaction) AddName(step.operation(), names);
  AddName("commit", names);
}

std::uint64_t Times(const Steps& steps, std::string_view operation) {
  std::uint64_t times = 0;
  for (const v1::ScriptStep& step : steps) {
    if (step.operation() == operation) times += step.has_repeat() ? step.repeat() : 1;
  }
  return times;
}

// Whether a statement may change something: all but those that begin with a word of reading.
bool MayWrite(const std::string& statement) {
  constexpr std::array<std::string_view, 10> kReading = {
      "select", "show", "do", "explain", "describe", "desc", "values", "with", "set", "(select"};
  const std::size_t begin = std::min(statement.find_first_not_of(" \t\r\n"), statement.size());
  const std::size_t end = std::min(statement.find_first_of(" \t\r\n;", begin), statement.size());
  std::string word = statement.substr(begin, end - begin);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(kReading.begin(), kReading.end(), word) == kReading.end();
}

// The table that an operation writes to; "" if it writes to none.
std::string TableWritten(const v1::OperationSpec& operation) {
  if (operation.has_insert()) return operation.insert().table();
  if (operation.has_update()) return operation.update().table();
  if (operation.has_delete_()) return operation.delete_().table();
  if (operation.has_increment()) return operation.increment().table();
  return "";
}

bool IsPreliminary(const v1::OperationSpec& operation) {
  return operation.has_begin() || operation.has_sleep() || operation.has_reset_connection() ||
         operation.has_change_user();
}

}  // namespace

std::uint64_t RowsOfStages(const v1::Workload& workload, std::string_view table) {
  std::uint64_t rows = 0;
  for (int i = 0; i < workload.stages_size(); ++i) {
    const v1::Workload stage = StageWorkload(workload, i);
    const v1::StopAfter& stop = stage.load().stop_after();
    if (!stop.has_iterations() || stop.has_duration() || stop.has_passes()) continue;
    for (const v1::OperationSpec& operation : stage.operations()) {
      if (!operation.has_insert() || operation.insert().table() != table) continue;
      const std::uint64_t batch = operation.insert().has_batch() ? operation.insert().batch() : 1;
      rows += stop.iterations() * batch *
              (Times(stage.script().steps(), operation.name()) +
               Times(stage.script().transaction(), operation.name()));
    }
  }
  return rows;
}

std::string DriverOf(const v1::Target& target) {
  const google::protobuf::OneofDescriptor* kind = target.GetDescriptor()->FindOneofByName("kind");
  const FieldDescriptor* member = target.GetReflection()->GetOneofFieldDescriptor(target, kind);
  return member == nullptr ? "" : member->name();
}

std::string OwnerOf(const v1::Target& target) {
  return target.tables_of().empty() ? target.name() : target.tables_of();
}

bool CanOwnTables(const v1::Target& target) {
  return target.kind_case() != v1::Target::KIND_NOT_SET && !target.has_handlersocket();
}

bool IsLoaded(const v1::Target& target) { return !target.has_load() || target.load(); }

std::vector<std::string> TableOwners(const v1::Workload& workload) {
  std::vector<std::string> owners;
  for (const v1::Target& target : workload.targets()) {
    std::string owner = OwnerOf(target);
    const bool known = std::find(owners.begin(), owners.end(), owner) != owners.end();
    if (IsLoaded(target) && !known) owners.push_back(std::move(owner));
  }
  return owners;
}

std::string KindName(const v1::OperationSpec& operation) {
  const google::protobuf::OneofDescriptor* kind =
      operation.GetDescriptor()->FindOneofByName("kind");
  const FieldDescriptor* member =
      operation.GetReflection()->GetOneofFieldDescriptor(operation, kind);
  return member == nullptr ? "" : member->name();
}

bool IsAuditedWrite(const v1::OperationSpec& operation) {
  return operation.has_insert() || operation.has_update() || operation.has_delete_();
}

bool IsImplicitOperation(std::string_view name) {
  return std::find(kImplicitOperations.begin(), kImplicitOperations.end(), name) !=
         kImplicitOperations.end();
}

std::vector<std::string> ImplicitOperations() {
  return {kImplicitOperations.begin(), kImplicitOperations.end()};
}

std::vector<std::string> OperationsOfScript(const v1::Workload& workload) {
  std::vector<std::string> names;
  for (const v1::Script* script : ScriptsOf(workload)) {
    AddSteps(script->steps(), script->transaction(), &names);
    for (const v1::MixEntry& entry : script->mix()) {
      AddSteps(entry.steps(), entry.transaction(), &names);
      if (entry.steps_size() == 0 && entry.transaction_size() == 0) AddName(entry.name(), &names);
    }
  }
  if (!names.empty()) return names;
  for (const v1::OperationSpec& operation : workload.operations()) {
    names.push_back(operation.name());
  }
  return names;
}

std::uint64_t TimesPerIteration(const v1::Workload& workload, std::string_view operation) {
  const v1::Script& script = workload.script();
  std::uint64_t times = Times(script.steps(), operation);
  for (const v1::MixEntry& entry : script.mix()) {
    times = std::max(times, Times(entry.steps(), operation));
  }
  return times;
}

const v1::OperationSpec* PassOperation(const v1::Workload& workload) {
  if (workload.script().mix_size() > 0) return nullptr;
  for (const v1::ScriptStep& step : workload.script().steps()) {
    const v1::OperationSpec* operation = FindOperation(workload, step.operation());
    if (operation == nullptr) return nullptr;
    if (IsPreliminary(*operation)) continue;
    const v1::Keys* keys = wire::KeysOf(*operation);
    const bool known =
        keys != nullptr && !keys->has_same_as() && !keys->has_latest() && !keys->has_from_file();
    return known ? operation : nullptr;
  }
  return nullptr;
}

std::vector<std::string> TablesWritten(const v1::Workload& workload) {
  std::vector<std::string> tables;
  for (const std::string& name : OperationsOfScript(workload)) {
    const v1::OperationSpec* operation = FindOperation(workload, name);
    if (operation == nullptr) continue;
    AddName(TableWritten(*operation), &tables);
    if (!operation->has_native() || !MayWrite(operation->native().statement())) continue;
    for (const v1::Table& table : workload.tables()) AddName(table.name(), &tables);
  }
  return tables;
}

bool ScriptWrites(const v1::Workload& workload) { return !TablesWritten(workload).empty(); }

bool HasAuditedWrites(const v1::Workload& workload) {
  const std::vector<std::string> names = OperationsOfScript(workload);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const v1::OperationSpec* operation = FindOperation(workload, name);
    return operation != nullptr && IsAuditedWrite(*operation);
  });
}

}  // namespace cavalry::spec
