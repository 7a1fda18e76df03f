#include "coordinator/spec/message_writer.h"

#include <fmt/format.h>

#include <optional>

#include "coordinator/spec/scalar.h"

namespace cavalry::spec {
namespace {

using google::protobuf::Reflection;

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

YamlNode WriteScalar(const Message& message, const FieldDescriptor* field, int index) {
  std::string text = ScalarText(message, field, index);
  const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  return is_text ? YamlNode::Text(text) : YamlNode::Scalar(std::move(text), false);
}

YamlNode WriteField(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (!field->is_repeated()) {
    return IsMessage(field) ? WriteMessage(reflection->GetMessage(message, field))
                            : WriteScalar(message, field, 0);
  }
  const FieldDescriptor* key_field = KeyFieldOf(field);
  YamlNode list = key_field != nullptr ? YamlNode::Map() : YamlNode::Sequence();
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    if (!IsMessage(field)) {
      list.items.push_back(WriteScalar(message, field, i));
      continue;
    }
    const Message& element = reflection->GetRepeatedMessage(message, field, i);
    YamlNode value = WriteMessage(element, key_field);
    if (key_field == nullptr) {
      list.items.push_back(std::move(value));
    } else {
      list.AddPair(element.GetReflection()->GetString(element, key_field), std::move(value));
    }
  }
  return list;
}

// The short form, when the set fields `fields` allow one that reads back to the same.
std::optional<YamlNode> WriteShort(const Message& message, const FieldDescriptor* key_field,
                                   const std::vector<const FieldDescriptor*>& fields) {
  const Descriptor* type = message.GetDescriptor();
  const Shorthand shorthand = ShorthandOf(type, key_field);
  if (shorthand.kind == Shorthand::Kind::kRange) {
    return YamlNode::Scalar(fmt::format("{}..{}", ScalarText(message, shorthand.first),
                                        ScalarText(message, shorthand.second)),
                            false);
  }
  if (shorthand.kind == Shorthand::Kind::kKeyValue && fields.size() == 2) {
    const std::string key = ScalarText(message, shorthand.first);
    if (type->FindFieldByName(key) != nullptr) return std::nullopt;
    YamlNode pair = YamlNode::Map();
    pair.AddPair(key, WriteField(message, shorthand.second));
    return pair;
  }
  if (fields.size() != 1) return std::nullopt;
  const FieldDescriptor* only = fields[0];
  const bool is_short = shorthand.kind != Shorthand::Kind::kNone && only == shorthand.first;
  if (is_short) {
    YamlNode value = WriteField(message, only);
    // A mapping would be read as one of this message's own fields.
    if (value.kind == YamlNode::Kind::kMap) return std::nullopt;
    // A bare word that names a member would be read as that.
    const bool is_text = only->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (is_text && OneofOf(only) != nullptr) value.quoted = true;
    return value;
  }
  if (OneofOf(only) == nullptr || !IsMessage(only)) return std::nullopt;
  const Message& member = message.GetReflection()->GetMessage(message, only);
  if (member.ByteSizeLong() != 0) return std::nullopt;
  return YamlNode::Scalar(only->name(), false);
}

}  // namespace

YamlNode WriteMessage(const Message& message, const FieldDescriptor* key_field) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  std::erase(fields, key_field);
  std::optional<YamlNode> short_form = WriteShort(message, key_field, fields);
  if (short_form) return *std::move(short_form);
  YamlNode map = YamlNode::Map();
  for (const FieldDescriptor* field : fields)
    map.AddPair(field->name(), WriteField(message, field));
  return map;
}

}  // namespace cavalry::spec
