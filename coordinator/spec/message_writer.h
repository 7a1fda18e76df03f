// A message as the YAML tree that MessageReader reads back to an equal message, in short forms
// where they say the same. Pure; any thread.
#pragma once

#include "coordinator/spec/schema.h"
#include "coordinator/spec/yaml_tree.h"

namespace cavalry::spec {

// `key_field`: left out, since it is the key of the mapping that the message stands in.
YamlNode WriteMessage(const Message& message, const FieldDescriptor* key_field = nullptr);

}  // namespace cavalry::spec
