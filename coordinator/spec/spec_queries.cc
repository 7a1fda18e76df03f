#include <algorithm>

#include "coordinator/spec/schema.h"
#include "coordinator/spec/spec_check.h"

namespace cavalry::spec {
namespace {

// The table that an operation writes to; "" if it writes to none.
std::string TableWritten(const v1::OperationSpec& operation) {
  if (operation.has_insert()) return operation.insert().table();
  if (operation.has_update()) return operation.update().table();
  if (operation.has_delete_()) return operation.delete_().table();
  return "";
}

}  // namespace

std::string DriverOf(const v1::Target& target) {
  const google::protobuf::OneofDescriptor* kind = target.GetDescriptor()->FindOneofByName("kind");
  const FieldDescriptor* member = target.GetReflection()->GetOneofFieldDescriptor(target, kind);
  return member == nullptr ? "" : member->name();
}

std::string OwnerOf(const v1::Target& target) {
  return target.tables_of().empty() ? target.name() : target.tables_of();
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

std::vector<std::string> TablesWritten(const v1::Workload& workload) {
  std::vector<std::string> tables;
  for (const v1::ScriptStep& step : workload.script().steps()) {
    for (const v1::OperationSpec& operation : workload.operations()) {
      if (operation.name() != step.operation()) continue;
      std::string table = TableWritten(operation);
      const bool known = std::find(tables.begin(), tables.end(), table) != tables.end();
      if (!table.empty() && !known) tables.push_back(std::move(table));
    }
  }
  return tables;
}

bool ScriptWrites(const v1::Workload& workload) { return !TablesWritten(workload).empty(); }

}  // namespace cavalry::spec
