#include "agent/target_plan.h"

#include <algorithm>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "core/base/check.h"
#include "core/wire/enum_word.h"
#include "drivers/registry.h"

namespace cavalry::agent {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const v1::Target* FindTarget(const v1::Workload& workload, std::string_view name) {
  for (const v1::Target& target : workload.targets()) {
    if (target.name() == name) return &target;
  }
  return nullptr;
}

// The options message of a target's kind; null when the kind is not set.
const FieldDescriptor* KindField(const v1::Target& target) {
  return target.GetReflection()->GetOneofFieldDescriptor(
      target, target.GetDescriptor()->FindOneofByName("kind"));
}

std::string ScalarText(const Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetString(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_UINT32:
      return fmt::format("{}", reflection->GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", reflection->GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::format("{}", reflection->GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", reflection->GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", reflection->GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return wire::EnumWord(*reflection->GetEnum(message, &field));
    default:
      return "";
  }
}

// The elements of a list of texts, separated by commas.
std::string ListText(const Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  std::string text;
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    if (i > 0) text += ',';
    text += reflection->GetRepeatedString(message, &field, i);
  }
  return text;
}

// Adds the set fields of `options` under `prefix`.
void AddSettings(const Message& options, const std::string& prefix, Settings* settings) {
  const auto* reflection = options.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(options, &fields);
  for (const FieldDescriptor* field : fields) {
    Setting setting{prefix + std::string(field->name()), "", false, ""};
    if (field->is_repeated()) {
      CAVALRY_CHECK(field->cpp_type() == FieldDescriptor::CPPTYPE_STRING);
      setting.value = ListText(options, *field);
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      setting.value = ScalarText(options, *field);
    } else if (field->message_type() == v1::SecretText::descriptor()) {
      v1::SecretText secret;
      secret.CopyFrom(reflection->GetMessage(options, field));
      setting.secret = true;
      setting.value = secret.value();
      setting.from = secret.from();
    } else {
      setting.value = "true";
      const std::string inner = setting.name + ".";
      settings->Add(std::move(setting));
      AddSettings(reflection->GetMessage(options, field), inner, settings);
      continue;
    }
    settings->Add(std::move(setting));
  }
}

}  // namespace

Settings ToSettings(const Message& options) {
  Settings settings;
  AddSettings(options, "", &settings);
  return settings;
}

StatusOr<TargetPlan> MakeTargetPlan(const v1::Workload& workload, std::string_view name) {
  const v1::Target* target = FindTarget(workload, name);
  if (target == nullptr) return InvalidArgument("no target is named '{}'", name);
  const FieldDescriptor* kind = KindField(*target);
  if (kind == nullptr) return InvalidArgument("{}: no kind of back-end is given", name);
  TargetPlan plan;
  plan.name = target->name();
  plan.loaded = !target->has_load() || target->load();
  plan.owner = target->tables_of().empty() ? target->name() : target->tables_of();
  plan.driver = drivers::FindDriver(kind->name());
  if (plan.driver == nullptr) {
    return FailedPrecondition("{}: this agent has no driver '{}'", name, kind->name());
  }
  const Message& options = target->GetReflection()->GetMessage(*target, kind);
  plan.settings = ToSettings(options);
  if (plan.owner == plan.name) return plan;
  // Only one hop, so that targets that name each other end here.
  const v1::Target* owner = FindTarget(workload, plan.owner);
  if (owner == nullptr || (!owner->tables_of().empty() && owner->tables_of() != plan.owner)) {
    return InvalidArgument("{}: tables_of names '{}', which has no tables of its own", name,
                           plan.owner);
  }
  const FieldDescriptor* database = kind->message_type()->FindFieldByName("database");
  if (database != nullptr && !plan.settings.Has("database")) {
    CAVALRY_ASSIGN_OR_RETURN(const TargetPlan owner_plan, MakeTargetPlan(workload, plan.owner));
    plan.settings.Add({"database", owner_plan.settings.Text("database", ""), false, ""});
  }
  return plan;
}

Status CheckOperations(const TargetPlan& target,
                       const std::vector<drivers::OperationPlan>& operations) {
  const std::vector<drivers::OperationKind>& can = target.driver->operations();
  for (const drivers::OperationPlan& operation : operations) {
    if (std::find(can.begin(), can.end(), operation.kind) == can.end()) {
      return InvalidArgument("{}: the {} driver cannot {} (operation '{}')", target.name,
                             target.driver->kind(), drivers::OperationKindName(operation.kind),
                             operation.name);
    }
  }
  return Annotate(target.driver->Check(target.settings, operations), target.name);
}

}  // namespace cavalry::agent
