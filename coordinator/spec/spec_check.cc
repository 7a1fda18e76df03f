#include "coordinator/spec/spec_check.h"

#include <algorithm>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/load_points.h"
#include "coordinator/spec/scalar.h"
#include "coordinator/spec/schema.h"
#include "core/base/units.h"

namespace cavalry::spec {
namespace {

constexpr int kMaxListSize = 4'096;  // the columns that MariaDB allows

// Keys of a top-level list.
std::vector<std::string> NamesIn(const v1::Workload& workload, const std::string& list) {
  const FieldDescriptor* field = v1::Workload::descriptor()->FindFieldByName(list);
  const google::protobuf::Reflection* reflection = workload.GetReflection();
  std::vector<std::string> names;
  for (int i = 0; i < reflection->FieldSize(workload, field); ++i) {
    const Message& element = reflection->GetRepeatedMessage(workload, field, i);
    names.push_back(element.GetReflection()->GetString(element, KeyFieldOf(field)));
  }
  return names;
}

// "tables" -> "table".
std::string Singular(std::string_view list) { return std::string(list.substr(0, list.size() - 1)); }

// Every text that names a target, table or operation (refers_to in workload.proto).
void CheckReferences(Checker* checker) {
  VisitFields(checker->written(), "",
              [&](const Message& message, const FieldDescriptor* field, const std::string& path) {
                const std::string list = RefersTo(field);
                if (list.empty()) return;
                const std::vector<std::string> names = NamesIn(checker->written(), list);
                std::vector<std::string> known = names;
                if (field->containing_type() == v1::ScriptStep::descriptor()) {
                  for (std::string& name : ImplicitOperations()) known.push_back(std::move(name));
                }
                const int size =
                    field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
                for (int i = 0; i < size; ++i) {
                  const std::string name = ScalarText(message, field, i);
                  if (std::find(known.begin(), known.end(), name) != known.end()) continue;
                  const bool near = !NearestName(name, known).empty();
                  checker->Fault(field->is_repeated() ? fmt::format("{}[{}]", path, i) : path,
                                 "no {} '{}'{}", Singular(list), name,
                                 Suggestion(name, near ? known : names, "there are"));
                }
              });
}

void CheckRanges(Checker* checker) {
  VisitFields(checker->written(), "",
              [&](const Message& message, const FieldDescriptor* field, const std::string& path) {
                if (field->message_type() != v1::Range::descriptor() || field->is_repeated())
                  return;
                const auto& range = static_cast<const v1::Range&>(
                    message.GetReflection()->GetMessage(message, field));
                if (range.first() > range.last()) {
                  checker->Fault(path, "{}..{} ends before it begins", range.first(), range.last());
                }
              });
}

// Whether no list is longer than any spec needs: later checks compare lists with one another.
bool CheckListSizes(const SpecDocument& document, FaultList* faults) {
  VisitFields(document.workload, "",
              [&](const Message& message, const FieldDescriptor* field, const std::string& path) {
                if (!field->is_repeated()) return;
                const int size = message.GetReflection()->FieldSize(message, field);
                if (size <= kMaxListSize) return;
                faults->AddAt(document.Where(path),
                              fmt::format("{}: {} entries; at most {}", path, size, kMaxListSize));
              });
  return faults->empty();
}

void CheckPoint(const SpecDocument& document, FaultList* faults) {
  Checker checker(document, faults);
  CheckTargets(&checker);
  CheckTables(&checker);
  CheckReferences(&checker);
  CheckRanges(&checker);
  CheckOperations(&checker);
  CheckScripts(&checker);
  CheckLoads(&checker);
  CheckConditions(&checker);
  CheckRun(&checker);
  CheckSweep(&checker);
}

}  // namespace

Status CheckSpec(const SpecDocument& document) {
  FaultList faults = FaultList::InFile(document.file);
  if (!CheckListSizes(document, &faults)) return faults.ToStatus();
  CheckPoint(document, &faults);
  // Load points of a spec that is wrong in itself would repeat its faults.
  CAVALRY_RETURN_IF_ERROR(faults.ToStatus());
  if (document.workload.sweep_size() == 0) return absl::OkStatus();
  const std::size_t points = CountLoadPoints(document.workload);
  for (std::size_t number = 0; number < points; ++number) {
    const StatusOr<SweptDocument> point = MakeSweptDocument(document, number);
    if (point.ok()) {
      CheckPoint(point->document, &faults);
    } else {
      faults.AddLine(StatusText(point.status()));
    }
  }
  return faults.ToStatus();
}

}  // namespace cavalry::spec
