#include "coordinator/spec/message_reader.h"

#include <algorithm>
#include <cstdlib>

#include "coordinator/spec/scalar.h"

namespace cavalry::spec {
namespace {

using google::protobuf::Reflection;
using Kind = YamlNode::Kind;

constexpr std::string_view kEnvironment = "env";

bool IsEnvironment(const YamlNode& node) {
  return node.kind == Kind::kMap && node.keys.size() == 1 && node.keys[0].text == kEnvironment;
}

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool HasKey(const Descriptor* message, const FieldDescriptor* key_field, const std::string& key) {
  const FieldDescriptor* field = message->FindFieldByName(key);
  return field != nullptr && field != key_field;
}

// A mapping that is no mapping of this message's fields, but one of its short form's fields:
// "random_int: { first: 1, last: 6 }".
bool IsNestedShortForm(const YamlNode& node, const Descriptor* message,
                       const FieldDescriptor* key_field, const Shorthand& shorthand) {
  if (shorthand.kind != Shorthand::Kind::kField || !IsMessage(shorthand.first) ||
      shorthand.first->is_repeated() || node.keys.empty()) {
    return false;
  }
  return std::all_of(node.keys.begin(), node.keys.end(), [&](const YamlKey& key) {
    return !HasKey(message, key_field, key.text) &&
           HasKey(shorthand.first->message_type(), nullptr, key.text);
  });
}

std::string WantsMapping(const Descriptor* message, const FieldDescriptor* key_field) {
  const std::vector<std::string> keys = KeysOf(message, key_field);
  if (keys.empty()) return "must be {}";
  return fmt::format("must be a mapping with keys of: {}", fmt::join(keys, ", "));
}

}  // namespace

void MessageReader::Fault(Position at, const std::string& path, std::string_view text) {
  faults_->Add(at, path == base_path_ ? std::string(text) : fmt::format("{}: {}", path, text));
}

void MessageReader::ReadMessage(const YamlNode& node, const std::string& path, Message* message,
                                const FieldDescriptor* key_field) {
  const Descriptor* type = message->GetDescriptor();
  const Shorthand shorthand = ShorthandOf(type, key_field);
  switch (node.kind) {
    case Kind::kNull:
      Fault(node.at, path, fmt::format("has no value; {}", WantsMapping(type, key_field)));
      return;
    case Kind::kScalar:
      ReadShortScalar(node, path, message, key_field);
      return;
    case Kind::kSequence:
      if (shorthand.kind == Shorthand::Kind::kField && shorthand.first->is_repeated()) {
        ReadField(node, Join(path, shorthand.first->name()), message, shorthand.first);
      } else {
        Fault(node.at, path, fmt::format("{}, not a list", WantsMapping(type, key_field)));
      }
      return;
    case Kind::kMap:
      break;
  }
  const bool takes_scalar = shorthand.kind == Shorthand::Kind::kField ||
                            shorthand.kind == Shorthand::Kind::kRange ||
                            !OneofMembers(type).empty();
  if (IsEnvironment(node) && takes_scalar && shorthand.kind != Shorthand::Kind::kKeyValue &&
      !HasKey(type, key_field, std::string(kEnvironment))) {
    const std::optional<YamlNode> scalar = ResolveEnvironment(node, path);
    if (scalar) ReadShortScalar(*scalar, path, message, key_field);
    return;
  }
  if (IsNestedShortForm(node, type, key_field, shorthand)) {
    ReadField(node, Join(path, shorthand.first->name()), message, shorthand.first);
    return;
  }
  ReadMapping(node, path, message, key_field);
}

void MessageReader::ReadMapping(const YamlNode& node, const std::string& path, Message* message,
                                const FieldDescriptor* key_field) {
  const Descriptor* type = message->GetDescriptor();
  const Shorthand shorthand = ShorthandOf(type, key_field);
  if (shorthand.kind == Shorthand::Kind::kKeyValue && node.keys.size() == 1 &&
      !HasKey(type, key_field, node.keys[0].text)) {
    YamlNode key = YamlNode::Scalar(node.keys[0].text, true);
    key.at = node.keys[0].at;
    ReadField(key, Join(path, shorthand.first->name()), message, shorthand.first);
    ReadField(node.items[0], Join(path, shorthand.second->name()), message, shorthand.second);
    return;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    ReadPair(node.keys[i], node.items[i], path, message, key_field);
  }
}

void MessageReader::ReadPair(const YamlKey& key, const YamlNode& value, const std::string& path,
                             Message* message, const FieldDescriptor* key_field) {
  const Descriptor* type = message->GetDescriptor();
  const Reflection* reflection = message->GetReflection();
  const FieldDescriptor* field = type->FindFieldByName(key.text);
  if (field == nullptr || field == key_field) {
    Fault(key.at, path,
          fmt::format("unknown key '{}'{}", key.text,
                      Suggestion(key.text, KeysOf(type, key_field), "keys here")));
    return;
  }
  if (const google::protobuf::OneofDescriptor* oneof = OneofOf(field)) {
    const FieldDescriptor* other = reflection->GetOneofFieldDescriptor(*message, oneof);
    if (other != nullptr) {
      Fault(key.at, path,
            fmt::format("'{}' and '{}' exclude each other; keep one of them", other->name(),
                        field->name()));
      return;
    }
  }
  const std::string field_path = Join(path, field->name());
  positions_->emplace(field_path, key.at);
  ReadField(value, field_path, message, field);
}

void MessageReader::ReadShortScalar(const YamlNode& node, const std::string& path, Message* message,
                                    const FieldDescriptor* key_field) {
  if (!node.quoted && ReadOneofWord(node, path, message)) return;
  const Descriptor* type = message->GetDescriptor();
  const Shorthand shorthand = ShorthandOf(type, key_field);
  switch (shorthand.kind) {
    case Shorthand::Kind::kField:
    case Shorthand::Kind::kKeyValue:
      ReadField(node, Join(path, shorthand.first->name()), message, shorthand.first);
      return;
    case Shorthand::Kind::kRange:
      ReadRange(node, path, message, shorthand);
      return;
    case Shorthand::Kind::kNone:
      break;
  }
  const std::vector<std::string> members = OneofMembers(type);
  if (members.empty()) {
    Fault(node.at, path, fmt::format("{}, not '{}'", WantsMapping(type, key_field), node.scalar));
    return;
  }
  Fault(node.at, path,
        fmt::format("'{}' is not one of {}{}", node.scalar, fmt::join(members, ", "),
                    Suggestion(node.scalar, members, "each may hold keys")));
}

bool MessageReader::ReadOneofWord(const YamlNode& node, const std::string& path, Message* message) {
  const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(node.scalar);
  if (field == nullptr || OneofOf(field) == nullptr) return false;
  if (!IsMessage(field)) {
    Fault(node.at, path,
          fmt::format("'{0}' needs a value: {{ {0}: ... }}; quote it if it is the text itself",
                      node.scalar));
    return true;
  }
  message->GetReflection()->MutableMessage(message, field);
  return true;
}

void MessageReader::ReadRange(const YamlNode& node, const std::string& path, Message* message,
                              const Shorthand& shorthand) {
  const std::string_view text = node.scalar;
  const std::size_t dots = text.find("..");
  const std::string_view first = text.substr(0, dots);
  const std::string_view last = dots == std::string_view::npos ? first : text.substr(dots + 2);
  for (const Status& status :
       {SetScalar(first, message, shorthand.first), SetScalar(last, message, shorthand.second)}) {
    if (status.ok()) continue;
    Fault(node.at, path,
          fmt::format("'{}' is not a range such as 1..1000, nor one number: {}", text,
                      StatusText(status)));
    return;
  }
}

void MessageReader::ReadField(const YamlNode& node, const std::string& path, Message* message,
                              const FieldDescriptor* field) {
  if (!field->is_repeated()) {
    ReadElement(node, path, message, field);
    return;
  }
  if (KeyFieldOf(field) != nullptr) {
    ReadKeyedList(node, path, message, field);
    return;
  }
  if (node.kind != Kind::kSequence) {
    positions_->emplace(fmt::format("{}[0]", path), node.at);
    ReadElement(node, path, message, field);
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string element_path = fmt::format("{}[{}]", path, i);
    positions_->emplace(element_path, node.items[i].at);
    ReadElement(node.items[i], element_path, message, field);
  }
}

void MessageReader::ReadKeyedList(const YamlNode& node, const std::string& path, Message* message,
                                  const FieldDescriptor* field) {
  const FieldDescriptor* key_field = KeyFieldOf(field);
  if (node.kind != Kind::kMap) {
    Fault(node.at, path,
          fmt::format("must be a mapping of {}s to their values, '{}: ...'", key_field->name(),
                      key_field->name()));
    return;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string element_path = Join(path, node.keys[i].text);
    positions_->emplace(element_path, node.keys[i].at);
    Message* element = message->GetReflection()->AddMessage(message, field);
    element->GetReflection()->SetString(element, key_field, node.keys[i].text);
    ReadMessage(node.items[i], element_path, element, key_field);
  }
}

void MessageReader::ReadElement(const YamlNode& node, const std::string& path, Message* message,
                                const FieldDescriptor* field) {
  const Reflection* reflection = message->GetReflection();
  if (!IsMessage(field)) {
    ReadScalar(node, path, message, field);
  } else if (field->is_repeated()) {
    ReadMessage(node, path, reflection->AddMessage(message, field));
  } else {
    ReadMessage(node, path, reflection->MutableMessage(message, field));
  }
}

void MessageReader::ReadScalar(const YamlNode& node, const std::string& path, Message* message,
                               const FieldDescriptor* field) {
  std::optional<YamlNode> scalar = node;
  if (IsEnvironment(node)) scalar = ResolveEnvironment(node, path);
  if (!scalar) return;
  // An axis of a sweep takes any value that its path takes, kept as text until then.
  const bool is_axis = field->containing_type()->full_name() == "cavalry.v1.SweepAxis";
  if (is_axis && (scalar->kind == Kind::kMap || scalar->kind == Kind::kSequence)) {
    *scalar = YamlNode::Scalar(FormatFlow(*scalar), true);
  }
  switch (scalar->kind) {
    case Kind::kNull:
      Fault(scalar->at, path, fmt::format("has no value; it must be {}", DescribeScalar(field)));
      return;
    case Kind::kSequence:
    case Kind::kMap:
      Fault(scalar->at, path,
            fmt::format("must be {}, not a {}", DescribeScalar(field),
                        scalar->kind == Kind::kMap ? "mapping" : "list"));
      return;
    case Kind::kScalar:
      break;
  }
  const Status status = SetScalar(scalar->scalar, message, field);
  if (!status.ok()) Fault(scalar->at, path, StatusText(status));
}

std::optional<YamlNode> MessageReader::ResolveEnvironment(const YamlNode& node,
                                                          const std::string& path) {
  const YamlNode& name = node.items[0];
  if (name.kind != Kind::kScalar || name.scalar.empty()) {
    Fault(name.at, path, "env needs the name of an environment variable");
    return std::nullopt;
  }
  const char* text = std::getenv(name.scalar.c_str());
  if (text == nullptr) {
    Fault(name.at, path, fmt::format("environment variable {} is not set", name.scalar));
    return std::nullopt;
  }
  YamlNode scalar = YamlNode::Scalar(text, false);
  scalar.at = name.at;
  return scalar;
}

}  // namespace cavalry::spec
