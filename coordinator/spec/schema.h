// What options.proto says of workload.proto's fields, and the names that YAML gives to both: the
// only place that reads descriptors' options. Pure; any thread.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cavalry/v1/options.pb.h"

namespace cavalry::spec {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The short form of a message (see options.proto).
struct Shorthand {
  enum class Kind { kNone, kField, kKeyValue, kRange };
  Kind kind = Kind::kNone;
  const FieldDescriptor* first = nullptr;   // the field, the key, or the first of the range
  const FieldDescriptor* second = nullptr;  // the value, or the last of the range
};

// `key_field`: the field that the mapping's key fills, null if none. A message with one other field
// has that as its short form ("set: { qty: new_version }").
Shorthand ShorthandOf(const Descriptor* message, const FieldDescriptor* key_field);

// The field that the keys of a repeated field's mapping fill; null if it is a sequence.
const FieldDescriptor* KeyFieldOf(const FieldDescriptor* field);

v1::Unit UnitOf(const FieldDescriptor* field);
bool IsSecret(const FieldDescriptor* field);
// Name of the top-level field whose keys the value must be one of; "" if none.
std::string RefersTo(const FieldDescriptor* field);

// A field that is a member of a oneof of two or more (not proto3's `optional`); null otherwise.
const google::protobuf::OneofDescriptor* OneofOf(const FieldDescriptor* field);

// Keys that the mapping of a message may have, in order.
std::vector<std::string> KeysOf(const Descriptor* message, const FieldDescriptor* key_field);

// Members of the message's oneofs, in order; empty if it has none.
std::vector<std::string> OneofMembers(const Descriptor* message);

// TRANSPORT_TCP of Transport -> "tcp".
std::string EnumWord(const EnumValueDescriptor* value);
// All words but that of _UNSPECIFIED.
std::vector<std::string> EnumWords(const EnumDescriptor* type);

// path + "." + name; name alone on the first level.
std::string Join(std::string_view path, std::string_view name);

// Path of element `index` of a repeated field at `path`: its key, or its index.
std::string ElementPath(std::string_view path, const Message& message, const FieldDescriptor* field,
                        int index);

// Visits every set field of `message` and of the messages in it, parents first.
using FieldVisitor = std::function<void(const Message& message, const FieldDescriptor* field,
                                        const std::string& path)>;
void VisitFields(const Message& message, const std::string& path, const FieldVisitor& visit);

// Visits `message` and every message in it, parents first, with the path of each.
void VisitMessages(Message* message, const std::string& path,
                   const std::function<void(Message* message, const std::string& path)>& visit);

}  // namespace cavalry::spec
