// A YAML tree into a message, by reflection and options.proto alone. Everything wrong is added to
// the fault list and left unset, so that one pass finds all. One thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "coordinator/spec/fault_list.h"
#include "coordinator/spec/schema.h"
#include "coordinator/spec/yaml_tree.h"

namespace cavalry::spec {

class MessageReader {
 public:
  using Positions = std::map<std::string, Position, std::less<>>;

  // Both must outlive the reader. `base_path`: what every fault is about anyway, and need not
  // repeat.
  MessageReader(FaultList* faults, Positions* positions, std::string base_path = "")
      : faults_(faults), positions_(positions), base_path_(std::move(base_path)) {}

  // Fills `message`, which stands at `path`, from `node`. `key_field`: already filled by the key.
  void ReadMessage(const YamlNode& node, const std::string& path, Message* message,
                   const FieldDescriptor* key_field = nullptr);

  // Fills one field, which stands at `path`; adds to it, if it is repeated.
  void ReadField(const YamlNode& node, const std::string& path, Message* message,
                 const FieldDescriptor* field);

 private:
  void ReadMapping(const YamlNode& node, const std::string& path, Message* message,
                   const FieldDescriptor* key_field);
  void ReadPair(const YamlKey& key, const YamlNode& value, const std::string& path,
                Message* message, const FieldDescriptor* key_field);
  void ReadShortScalar(const YamlNode& node, const std::string& path, Message* message,
                       const FieldDescriptor* key_field);
  // Whether the scalar names a member of a oneof; then it is set, or a fault added.
  bool ReadOneofWord(const YamlNode& node, const std::string& path, Message* message);
  void ReadRange(const YamlNode& node, const std::string& path, Message* message,
                 const Shorthand& shorthand);
  void ReadKeyedList(const YamlNode& node, const std::string& path, Message* message,
                     const FieldDescriptor* field);
  void ReadElement(const YamlNode& node, const std::string& path, Message* message,
                   const FieldDescriptor* field);
  void ReadScalar(const YamlNode& node, const std::string& path, Message* message,
                  const FieldDescriptor* field);
  // { env: NAME } as the scalar it stands for; null after a fault.
  std::optional<YamlNode> ResolveEnvironment(const YamlNode& node, const std::string& path);

  void Fault(Position at, const std::string& path, std::string_view text);

  FaultList* faults_;
  Positions* positions_;
  std::string base_path_;
};

}  // namespace cavalry::spec
