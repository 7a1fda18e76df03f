#include "core/wire/enum_word.h"

#include <cctype>

namespace cavalry::wire {

std::string EnumWord(const google::protobuf::EnumValueDescriptor& value) {
  // The prefix is the type's name in upper snake case: StepEnd -> STEP_END_.
  std::size_t prefix = 1;
  for (const char c : value.type()->name()) {
    prefix += std::isupper(static_cast<unsigned char>(c)) ? 2 : 1;
  }
  prefix -= 1;  // no underscore before the first letter
  const std::string name = value.name().substr(prefix);
  std::string word;
  for (const char c : name) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

}  // namespace cavalry::wire
