#include "coordinator/spec/schema.h"

#include <fmt/format.h>

#include "core/base/check.h"

namespace cavalry::spec {

using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;

Shorthand ShorthandOf(const Descriptor* message, const FieldDescriptor* key_field) {
  const std::string& option = message->options().GetExtension(v1::shorthand);
  Shorthand shorthand;
  if (option.empty()) {
    if (key_field == nullptr || message->field_count() != 2) return shorthand;
    shorthand.kind = Shorthand::Kind::kField;
    shorthand.first = message->field(message->field(0) == key_field ? 1 : 0);
    return shorthand;
  }
  std::string second;
  std::string first = option;
  shorthand.kind = Shorthand::Kind::kField;
  if (const std::size_t colon = option.find(':'); colon != std::string::npos) {
    shorthand.kind = Shorthand::Kind::kKeyValue;
    first = option.substr(0, colon);
    second = option.substr(colon + 1);
  } else if (const std::size_t dots = option.find(".."); dots != std::string::npos) {
    shorthand.kind = Shorthand::Kind::kRange;
    first = option.substr(0, dots);
    second = option.substr(dots + 2);
  }
  shorthand.first = message->FindFieldByName(first);
  CAVALRY_CHECK(shorthand.first != nullptr);
  if (shorthand.kind != Shorthand::Kind::kField) {
    shorthand.second = message->FindFieldByName(second);
    CAVALRY_CHECK(shorthand.second != nullptr);
  }
  return shorthand;
}

const FieldDescriptor* KeyFieldOf(const FieldDescriptor* field) {
  const std::string& name = field->options().GetExtension(v1::keyed_by);
  if (name.empty()) return nullptr;
  const FieldDescriptor* key_field = field->message_type()->FindFieldByName(name);
  CAVALRY_CHECK(key_field != nullptr);
  return key_field;
}

v1::Unit UnitOf(const FieldDescriptor* field) { return field->options().GetExtension(v1::unit); }

bool IsSecret(const FieldDescriptor* field) { return field->options().GetExtension(v1::secret); }

std::string RefersTo(const FieldDescriptor* field) {
  return field->options().GetExtension(v1::refers_to);
}

const OneofDescriptor* OneofOf(const FieldDescriptor* field) {
  return field->real_containing_oneof();
}

std::vector<std::string> KeysOf(const Descriptor* message, const FieldDescriptor* key_field) {
  std::vector<std::string> keys;
  for (int i = 0; i < message->field_count(); ++i) {
    if (message->field(i) != key_field) keys.push_back(message->field(i)->name());
  }
  return keys;
}

std::vector<std::string> OneofMembers(const Descriptor* message) {
  std::vector<std::string> members;
  for (int i = 0; i < message->field_count(); ++i) {
    if (OneofOf(message->field(i)) != nullptr) members.push_back(message->field(i)->name());
  }
  return members;
}

std::string EnumWord(const EnumValueDescriptor* value) {
  // The prefix of _UNSPECIFIED, which stands first, is that of all values (a rule of
  // options.proto).
  constexpr std::string_view kZero = "UNSPECIFIED";
  const std::string& zero = value->type()->value(0)->name();
  CAVALRY_CHECK(zero.size() > kZero.size());
  std::string word = value->name().substr(zero.size() - kZero.size());
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word;
}

std::vector<std::string> EnumWords(const EnumDescriptor* type) {
  std::vector<std::string> words;
  for (int i = 1; i < type->value_count(); ++i) words.push_back(EnumWord(type->value(i)));
  return words;
}

std::string Join(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

std::string ElementPath(std::string_view path, const Message& message, const FieldDescriptor* field,
                        int index) {
  const FieldDescriptor* key_field = KeyFieldOf(field);
  if (key_field == nullptr) return fmt::format("{}[{}]", path, index);
  const Message& element = message.GetReflection()->GetRepeatedMessage(message, field, index);
  return Join(path, element.GetReflection()->GetString(element, key_field));
}

void VisitFields(const Message& message, const std::string& path, const FieldVisitor& visit) {
  const Reflection* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string field_path = Join(path, field->name());
    visit(message, field, field_path);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      VisitFields(reflection->GetMessage(message, field), field_path, visit);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      VisitFields(reflection->GetRepeatedMessage(message, field, i),
                  ElementPath(field_path, message, field, i), visit);
    }
  }
}

void VisitMessages(Message* message, const std::string& path,
                   const std::function<void(Message* message, const std::string& path)>& visit) {
  visit(message, path);
  const Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string field_path = Join(path, field->name());
    if (!field->is_repeated()) {
      VisitMessages(reflection->MutableMessage(message, field), field_path, visit);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      VisitMessages(reflection->MutableRepeatedMessage(message, field, i),
                    ElementPath(field_path, *message, field, i), visit);
    }
  }
}

}  // namespace cavalry::spec
